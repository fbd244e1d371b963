"""From a FASTA file to batches of windows: alphabet, token store, tiling, splits, order."""
