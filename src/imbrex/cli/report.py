"""`imbrex report`: its options, and where the page goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from imbrex.cli.output import Kind, kind_of
from imbrex.cli.parameters import FILE, FOLDER
from imbrex.cli.terminal import warn
from imbrex.errors import ImbrexError
from imbrex.profile.run import RECORDING, Run, load_run
from imbrex.tune.answer import MEASURED

if TYPE_CHECKING:
    from imbrex.report.html import Chapter


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "-o", "--output", type=FILE, default=Path("report.html"), show_default=True, help="The file."
)
@click.option("-q", "--quiet", is_flag=True, help="Do not say where it was written.")
def report(folder: Path, output: Path, quiet: bool) -> None:
    """Write a run as one HTML file: verdict, sortable tables, plots. It opens offline.

    DIR is a run, or the folder of imbrex tune: the page then begins with what it found.
    """
    kind_of(output, "imbrex report", (Kind.HTML,))
    from imbrex.report.html import write_report  # matplotlib takes a second to import
    from imbrex.tune.report_chapter import chapter, is_search

    found: list[Chapter] = []
    if is_search(folder):
        found.append(chapter(folder))
        folder = folder / MEASURED
    run = load_run(folder)
    write_report(run, output, [*found, *_chapters(run)])
    if not quiet:
        click.echo(f"{output}")


def _chapters(run: Run) -> list[Chapter]:
    """What a recorded run could overlap; what is wrong with a recording costs its chapter only."""
    from imbrex.report.html import Chapter

    if not (run.directory / RECORDING).exists():
        return []
    from imbrex.replay.report_chapter import chapter_text, drawings

    try:
        text, prediction = chapter_text(run.directory)
    except ImbrexError as error:
        warn(str(error))
        return []
    return [Chapter("How much could be hidden", text, tuple(drawings(prediction)))]
