"""Do embeddings know more than counts of k-mers? Two classes, and a linear reader of each."""
