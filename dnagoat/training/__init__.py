"""The training loop and what survives it: it yields steps and never prints."""
