"""`imbrex report`: its options, and where the page goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from imbrex.cli.output import Kind, kind_of
from imbrex.cli.parameters import FILE, FOLDER
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import warn
from imbrex.errors import ImbrexError
from imbrex.profile.run import RECORDING, Run, load_run
from imbrex.steps import step
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
    from imbrex.report.html import check_place, write_report  # matplotlib takes a second to import
    from imbrex.tune.report_chapter import chapter, is_search

    found: list[Chapter] = []
    if is_search(folder):
        found.append(chapter(folder))
        folder = folder / MEASURED
    run = load_run(folder)
    check_place(output)
    with shown_steps(quiet=quiet):
        found += _chapters(run)
    write_report(run, output, found)
    if not quiet:
        click.echo(f"{output}")


def _chapters(run: Run) -> list[Chapter]:
    """What a recorded run could overlap, and run time elsewhere of a run that kept its log of
    calls; what is wrong with either costs its chapter only."""
    from imbrex.replay.report_chapter import chapter_text, drawings, elsewhere
    from imbrex.report.html import Chapter

    found: list[Chapter] = []
    if (run.directory / RECORDING).exists():
        try:
            text, prediction = chapter_text(run.directory)
            found.append(Chapter("How much could be hidden", text, tuple(drawings(prediction))))
        except ImbrexError as error:
            warn(str(error))
    try:
        with step("replaying the log of calls on other networks"):
            replayed = elsewhere(run)
        if replayed is not None:
            found.append(Chapter("Run time on other networks", *replayed))
    except ImbrexError as error:
        warn(str(error))
    return found
