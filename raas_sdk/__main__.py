"""`python -m raas_sdk` is the `raas` command."""

from raas_sdk.cli import main

if __name__ == "__main__":
    main(prog_name="raas")
