"""One module a kind of probe: what it says in a sentence, its tables and its figure."""
