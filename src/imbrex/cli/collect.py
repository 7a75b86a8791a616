"""`imbrex collect`: complete what ranks left without `imbrex run`."""

from __future__ import annotations

from pathlib import Path

import click

from imbrex.cli.parameters import FOLDER
from imbrex.cli.terminal import console
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.launch.collect import complete
from imbrex.profile.run import load_run
from imbrex.report.verdict import print_verdict


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
def collect(folder: Path) -> None:
    """Complete a run directory that imbrex-exec alone has written.

    Merges what crashed ranks left, names the call sites, and prints the verdict.
    """
    load_run(folder, resolve=False)  # refuses what is no run before anything is written
    print_verdict(diagnose(complete(folder, {})), console())
