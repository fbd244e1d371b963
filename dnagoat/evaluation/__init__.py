"""Measures of a trained model, with baselines and intervals; each result is one JSON file."""
