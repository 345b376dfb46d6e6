"""The `raas` command: parsing and printing only, one file per command."""

from raas_sdk.cli.app import main

__all__ = ["main"]
