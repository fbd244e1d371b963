"""Which bases are scored, what they cost, and how sure that is."""
