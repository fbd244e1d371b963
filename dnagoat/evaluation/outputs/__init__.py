"""Scores of a user's own sequences, and tracks along the genome."""
