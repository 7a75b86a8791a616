"""`imbrex man`: write the manual pages, which are made from the commands themselves."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from imbrex.cli.parameters import FOLDER
from imbrex.errors import ImbrexError


@click.command()
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    help="The folder to write them to [share/man/man1 of this Python environment].",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not say where they were written.")
def man(output: Path | None, quiet: bool) -> None:
    """Install the manual pages: imbrex(1), and imbrex-run(1) and so on for each command.

    `man` finds those of this Python environment by itself while its bin folder is on PATH.
    """
    from imbrex.cli import cli
    from imbrex.cli.roff import pages

    folder = output or Path(sys.prefix) / "share" / "man" / "man1"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages(cli).items():
            (folder / name).write_text(text, encoding="ascii")
    except OSError as error:
        raise ImbrexError(
            f"{folder}: cannot be written ({error.strerror}); name a folder with -o"
        ) from error
    if not quiet:
        click.echo(f"{folder}")
