"""What a model makes of regions, windows and sequences: one vector each."""
