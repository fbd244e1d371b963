"""What counting the training split knows: the baselines that every model is held against."""
