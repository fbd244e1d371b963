"""Position schemes, kernels and normalisers: independent axes of one attention."""
