"""`imbrex export`: its options, and where the file goes."""

from __future__ import annotations

from pathlib import Path

import click

from imbrex.cli.parameters import FILE, FOLDER
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import warn
from imbrex.errors import ImbrexError
from imbrex.export.format import Format
from imbrex.export.registry import FORMATS
from imbrex.profile.run import load_run
from imbrex.steps import step


@click.command(epilog="Example: imbrex export imbrex-run --format csv -o sites.csv")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--format",
    "name",
    type=click.Choice(list(FORMATS)),
    help="Of "
    + "; ".join(f"{format_.name}: {format_.content}" for format_ in FORMATS.values())
    + " [by the suffix of -o].",
)
@click.option("-o", "--output", type=FILE, help="Where to write it [DIR with the suffix].")
@click.option("-q", "--quiet", is_flag=True, help="Do not say where it was written.")
def export(folder: Path, name: str | None, output: Path | None, quiet: bool) -> None:
    """Write a measured run for other tools."""
    format_ = FORMATS[name] if name is not None else _by_suffix(output)
    with shown_steps(quiet=quiet):
        run = load_run(folder)
    path = output or Path(folder.resolve().name + format_.suffix)
    if path.is_dir():
        raise ImbrexError(f"{path}: is there already: remove it, or name another with -o")
    with shown_steps(quiet=quiet), step(f"writing {path}") as tell:
        lacking = format_.write(run, path, tell)
    if not quiet:
        click.echo(f"{path}")
    if lacking is not None:
        warn(f"{path} {lacking}")


def _by_suffix(output: Path | None) -> Format:
    for format_ in FORMATS.values():
        if output is not None and output.name.endswith(format_.suffix):
            return format_
    raise ImbrexError(f"say which format: --format {'|'.join(FORMATS)}")
