"""The language model: its transformer and what its weights start as."""
