"""Memory and speed, a fresh process a measurement."""
