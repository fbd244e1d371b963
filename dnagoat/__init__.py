"""dnagoat: nucleotide language models with learned attention priors, compared so that the verdict can be trusted.

The library never prints and never imports the command line; see the rooms `genome`, `attention`, `training`,
`generation`, `evaluation`, `measure` and `reporting`.
"""

__version__ = "0.1.0"
