"""The float64 reference, how far a scheme is from it, and which kernel really ran."""
