"""From a prompt to new DNA: prompts, sampling, cached decoding, files."""
