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
from imbrex.profile.run import load_run
from imbrex.profile.summary import GROUPINGS, By
from imbrex.report.bounds import print_bounds
from imbrex.report.bounds_tables import print_bounds_table
from imbrex.report.tables import print_table
from imbrex.report.verdict import print_verdict


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--by", type=click.Choice(GROUPINGS), help="What to sum by [the verdict, else site].")
@click.option("--bounds", is_flag=True, help="How the bounds of hidden time came about.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/guide/show.md).")
@click.option("-o", "--output", type=FILE, help="Write to a file: .txt or .json.")
@click.option("--limit", type=COUNT, default=40, show_default=True, help="Rows shown; 0 for all.")
@click.option("-q", "--quiet", is_flag=True, help="No lines about how ranks ended.")
def show(
    folder: Path,
    by: str | None,
    bounds: bool,
    as_json: bool,
    output: Path | None,
    limit: int,
    quiet: bool,
) -> None:
    """Show a measured run: its verdict, or a table by site, operation, size, ..."""
    as_json = json_wanted(output, "imbrex show", as_json=as_json)
    with shown_steps(quiet=quiet):
        run = load_run(folder)
    grouping = cast(By, by or "site")
    if as_json:
        emit_json(diagnosis_json(diagnose(run), grouping), output)
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
