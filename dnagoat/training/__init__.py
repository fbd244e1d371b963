"""How weights are found: presets, the loop, checkpoints, several processes, and what a run will cost."""
