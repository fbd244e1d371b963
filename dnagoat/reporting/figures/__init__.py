"""Figures of a report; each module draws one subject and returns a `Figure`, or None where it has no data."""
