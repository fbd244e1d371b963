"""Readers: FASTA, 2bit, intervals, whatever the compression."""
