"""`imbrex show`: its options, and where the answer goes."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from imbrex.cli.output import json_wanted
from imbrex.cli.parameters import COUNT, FILE, FOLDER
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import emit_json, output_console, warn
from imbrex.diagnosis.account import take_account
from imbrex.diagnosis.as_json import diagnosis_json
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.diagnosis.weaknesses import endings
from imbrex.errors import ImbrexError
from imbrex.profile.run import Run, load_run
from imbrex.profile.summary import GROUPINGS, By
from imbrex.profile.timeline.timeline import load_timeline
from imbrex.report.bounds import print_bounds
from imbrex.report.bounds_tables import print_bounds_table
from imbrex.report.site_text import print_site, rows_of
from imbrex.report.tables import print_table
from imbrex.report.timeline_text import print_timeline
from imbrex.report.verdict import print_verdict


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--by", type=click.Choice(GROUPINGS), help="What to sum by [the verdict, else site].")
@click.option("--bounds", is_flag=True, help="How the bounds of hidden time came about.")
@click.option("--timeline", is_flag=True, help="Draw a typical iteration: what each rank did when.")
@click.option("--site", help="Open this call site, as FILE:LINE; with --timeline: draw it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/reference/json.md).")
@click.option("-o", "--output", type=FILE, help="Write to a file: .txt or .json.")
@click.option("--limit", type=COUNT, default=40, show_default=True, help="Rows shown; 0 for all.")
@click.option("-q", "--quiet", is_flag=True, help="No lines about how ranks ended.")
def show(
    folder: Path,
    by: str | None,
    bounds: bool,
    timeline: bool,
    site: str | None,
    as_json: bool,
    output: Path | None,
    limit: int,
    quiet: bool,
) -> None:
    """Show a measured run: its verdict, or a table by site, operation, size, ..."""
    as_json = json_wanted(output, "imbrex show", as_json=as_json)
    if site is not None and (by is not None or bounds):
        raise ImbrexError("--site opens one call site: leave out --by and --bounds")
    if timeline and (as_json or bounds or by is not None):
        raise ImbrexError("--timeline is a drawing: leave out --by, --bounds and --json")
    with shown_steps(quiet=quiet):
        run = load_run(folder)
    if timeline:
        _draw(run, output, site)
        return
    grouping = cast(By, by or "site")
    if as_json:
        content = diagnosis_json(diagnose(run), grouping)
        if site is not None:
            wanted = {row.row.number for row in rows_of(take_account(run), site)}
            content["sites"] = [entry for entry in content["sites"] if entry["site"] in wanted]
        emit_json(content, output)
        return
    if site is not None:
        with output_console(output) as screen:
            print_site(diagnose(run), site, screen)
        return
    with output_console(output) as screen:
        if by is None:
            (print_bounds if bounds else print_verdict)(diagnose(run), screen)
        else:
            if bounds:
                print_bounds_table(run, grouping, screen, limit)
            else:
                print_table(take_account(run), grouping, screen, limit)
    if by is not None and not quiet:
        for line in endings(run):
            warn(line)


def _draw(run: Run, output: Path | None, site: str | None) -> None:
    found = load_timeline(run)
    if found is None:
        raise ImbrexError(
            f"{run.directory}: has no single calls to draw (no rank called anything that "
            "communicates, or it was measured with --log off or by an older version)"
        )
    with output_console(output) as screen:
        print_timeline(take_account(run), found, screen, site)
