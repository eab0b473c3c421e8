"""`python -m checker` is the command `paichecker`."""

from checker.cli import main

# Processes that an audit starts load this module once more, under another name.
if __name__ == "__main__":
    main()
