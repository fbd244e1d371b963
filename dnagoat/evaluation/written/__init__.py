"""What generated DNA is like, beside true DNA and the nulls."""
