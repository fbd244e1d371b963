"""The `dnagoat` command: one file a command; each parses, builds a config, calls the library and draws."""

from dnagoat_cli.main import app

__all__ = ["app"]
