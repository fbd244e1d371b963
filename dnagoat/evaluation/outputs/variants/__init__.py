"""How much likelier a variant's allele makes its surroundings: files of variants in, scored ones out."""
