"""Genomes that are known by name, and their checked download."""
