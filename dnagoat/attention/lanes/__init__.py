"""Head dimensions that hold positions: exact pieces, waves, recency, and how a head is put together."""
