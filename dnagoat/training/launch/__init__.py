"""Processes, devices and signals."""
