"""Commands to copy: with the paths and the launcher line of this run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from imbrex.diagnosis.account import Account
from imbrex.profile.sites import Site, plain

_SOURCES = frozenset([".c", ".cc", ".cpp", ".cxx", ".C", ".f", ".for", ".F", ".f90", ".F90"]) | {
    ".f95",
    ".f03",
    ".f08",
}

_RANKS = ("-n", "-np", "--np", "--n", "--ntasks")
"""The options of launchers that say how many ranks there are."""


def line(words: Iterable[str]) -> str:
    """A command for a shell, in one line that does nothing to a terminal."""
    return plain(shlex.join(words))


def show(account: Account, *options: str) -> str:
    """`imbrex show` of this run."""
    return line(["imbrex", "show", str(account.run.directory), *options])


def transform(account: Account, site: Site | None) -> str:
    """What a rewrite of the program would do: of the site's file alone where what was measured is
    no longer there to name all; the table of sites where no file is known, or is not here."""
    if site is None or site.file is None or Path(site.file).suffix not in _SOURCES:
        return show(account, "--by", "site")
    if not Path(site.file).is_file():
        return show(account, "--by", "site")
    words = ["imbrex", "transform", "--run", str(account.run.directory)]
    if site.image is None or not Path(site.image).is_file():
        words.append(short_path(site.file))
    return line(words)


def short_path(file: str) -> str:
    """Relative where it lies below the working directory."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


def measure_again(account: Account, *options: str) -> str:
    """`imbrex run` of the same line."""
    return line(["imbrex", "run", *options, "--", *account.run.job.command])


def with_ranks(account: Account, ranks: int) -> str:
    """`imbrex run` of the same line with so many ranks; a table of ranks where no one word of the
    line says how many there are."""
    words, job = list(account.run.job.command), account.run.job
    said = [
        at
        for at, (option, value) in enumerate(pairwise(words), 1)
        if option in _RANKS and value == str(job.ranks)
    ]
    if len(said) != 1:
        return show(account, "--by", "rank")
    words[said[0]] = str(ranks)
    return line(["imbrex", "run", "--", *words])


def probe(account: Account) -> str:
    """`imbrex probe` where this program ran; its profile is found again by the next run."""
    launcher = account.knowledge.launcher or ("mpirun", "-n", "2")
    return line(["imbrex", "probe", "--", *launcher])


def try_settings(account: Account) -> str:
    """`imbrex probe` with settings that are known to change overlap."""
    launcher = account.knowledge.launcher or ("mpirun", "-n", "2")
    return line(["imbrex", "probe", "--try-settings", "--", *launcher])


def calibrate(account: Account) -> str:
    """`imbrex calibrate` where this program ran."""
    launcher = account.knowledge.launcher or ("mpirun", "-n", "2")
    return line(["imbrex", "calibrate", "-o", "machine.json", "--", *launcher])
