"""`python -m dnagoat_cli`, the form that torchrun and srun start."""

from dnagoat_cli.main import app

app()
