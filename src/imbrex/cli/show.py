"""`imbrex show`, `imbrex report` and `imbrex compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from imbrex.cli.terminal import emit_json, output_console, warn
from imbrex.errors import ImbrexError
from imbrex.profile.run import RECORDING, Run, load_run
from imbrex.profile.summary import GROUPINGS, By, show_json
from imbrex.report.compare import compare_json, print_comparison
from imbrex.report.findings import endings
from imbrex.report.tables import print_table
from imbrex.report.verdict import judge, print_verdict

if TYPE_CHECKING:
    from imbrex.report.html import Chapter

FOLDER = click.Path(path_type=Path)
COUNT = click.IntRange(min=0)


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--by", type=click.Choice(GROUPINGS), help="What to sum by [the verdict, else site].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/show.md).")
@click.option("-o", "--output", type=FOLDER, help="Write to a file.")
@click.option("--limit", type=COUNT, default=40, show_default=True, help="Rows shown; 0 for all.")
@click.option("-q", "--quiet", is_flag=True, help="No lines about how ranks ended.")
def show(
    folder: Path, by: str | None, as_json: bool, output: Path | None, limit: int, quiet: bool
) -> None:
    """Show a measured run: its verdict, or a table by site, operation, size, ..."""
    run = load_run(folder)
    grouping = cast(By, by or "site")
    if as_json:
        emit_json(show_json(run, grouping), output)
        return
    with output_console(output) as screen:
        if by is None:
            print_verdict(judge(run), screen)
        else:
            print_table(run, grouping, screen, limit)
    if by is not None and not quiet:
        for line in endings(run):
            warn(line)


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "-o", "--output", type=FOLDER, default=Path("report.html"), show_default=True, help="The file."
)
@click.option("-q", "--quiet", is_flag=True, help="Do not say where it was written.")
def report(folder: Path, output: Path, quiet: bool) -> None:
    """Write a run as one HTML file: verdict, sortable tables, plots. It opens offline."""
    from imbrex.report.html import write_report  # matplotlib takes a second to import

    run = load_run(folder)
    write_report(run, output, _chapters(run))
    if not quiet:
        click.echo(f"{output}")


def _chapters(run: Run) -> list[Chapter]:
    """What a recorded run could overlap; what is wrong with a recording costs its chapter only."""
    from imbrex.report.html import Chapter

    if not (run.directory / RECORDING).exists():
        return []
    from imbrex.potential.run_report import drawings, words

    try:
        text, prediction = words(run.directory)
    except ImbrexError as error:
        warn(str(error))
        return []
    return [Chapter("How much could be hidden", text, tuple(drawings(prediction)))]


@click.command()
@click.argument("before", metavar="BEFORE", type=FOLDER)
@click.argument("after", metavar="AFTER", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/compare.md).")
@click.option("-o", "--output", type=FOLDER, help="Write to a file.")
@click.option(
    "--limit", type=COUNT, default=10, show_default=True, help="Call sites shown; 0 for all."
)
def compare(before: Path, after: Path, as_json: bool, output: Path | None, limit: int) -> None:
    """Compare two runs, in seconds and percent, in total and by call site."""
    first, second = load_run(before), load_run(after)
    if as_json:
        emit_json(compare_json(first, second), output)
        return
    with output_console(output) as screen:
        print_comparison(first, second, screen, limit)
