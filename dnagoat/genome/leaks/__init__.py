"""How much of the held-out data has a near-copy in training."""
