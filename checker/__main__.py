"""`python -m checker` is the command `paichecker`."""

from checker.cli import main

main()
