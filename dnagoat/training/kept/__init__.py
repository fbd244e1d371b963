"""What a run folder keeps: configuration, metrics, checkpoints, lock."""
