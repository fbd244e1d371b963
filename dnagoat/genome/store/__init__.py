"""The files of a dataset: bases, windows, and the folder that holds them."""
