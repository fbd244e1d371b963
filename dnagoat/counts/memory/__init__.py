"""What the training split holds, for a model to look up while it reads: counts after words, and copies."""
