"""`python -m imbrex.cli`: the imbrex command."""

from imbrex.cli import main

main()
