"""Position schemes, one file a scheme; `base` is their interface, `registry` their names."""
