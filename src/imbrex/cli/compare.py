"""`imbrex compare`: its options, and where the answer goes."""

from __future__ import annotations

from pathlib import Path

import click

from imbrex.cli.output import json_wanted
from imbrex.cli.parameters import COUNT, FILE, FOLDER
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import emit_json, output_console
from imbrex.diagnosis.account import take_account
from imbrex.diagnosis.difference import Difference
from imbrex.profile.run import load_run
from imbrex.profile.site_map import NAME as SITE_MAP_NAME
from imbrex.profile.site_map import load_site_map
from imbrex.report.compare import compare_json, print_comparison


@click.command()
@click.argument("before", metavar="BEFORE", type=FOLDER)
@click.argument("after", metavar="AFTER", type=FOLDER)
@click.option(
    "--map",
    "rewrites",
    type=FILE,
    help="Which calls a rewrite made of which [AFTER/imbrex-sites.json, if there].",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/guide/compare.md).")
@click.option("-o", "--output", type=FILE, help="Write to a file: .txt or .json.")
@click.option(
    "--limit", type=COUNT, default=10, show_default=True, help="Call sites shown; 0 for all."
)
def compare(
    before: Path,
    after: Path,
    rewrites: Path | None,
    as_json: bool,
    output: Path | None,
    limit: int,
) -> None:
    """Compare two runs: what changed, why, at which call sites, and what one run cannot tell."""
    as_json = json_wanted(output, "imbrex compare", as_json=as_json)
    with shown_steps():
        first, second = load_run(before), load_run(after)
    beside = second.directory / SITE_MAP_NAME
    file = rewrites or (beside if beside.exists() else None)
    difference = Difference(
        take_account(first), take_account(second), load_site_map(file) if file else None
    )
    if as_json:
        emit_json(compare_json(difference), output)
        return
    with output_console(output) as screen:
        print_comparison(difference, screen, limit)
