"""Arms on the same data, and the verdict on them."""
