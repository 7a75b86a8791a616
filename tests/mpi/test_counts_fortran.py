"""A scripted program counts what it does, per source line; the runtime must have counted the same.

The same statements (counts/counts_body.inc) are compiled with mpif.h in fixed form, with `use mpi`
and with `use mpi_f08`."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.profile.format import Ended
from imbrex.profile.part import read_part
from imbrex.profile.run import load_run

pytestmark = pytest.mark.untimed

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "counts"
MODULE = HERE.parents[1] / "runtime" / "include" / "imbrex" / "imbrex.f90"

FIXED = ["-ffixed-line-length-132"]
INTERFACES = {
    "mpifh": ("counts_mpifh.F", FIXED),
    "usempi": ("counts_usempi.F90", []),
    "f08": ("counts_f08.F90", []),
}
PROBES = {"mpifh": "include 'mpif.h'", "usempi": "use mpi", "f08": "use mpi_f08"}

Counts = dict[tuple[str, int, str], list[int]]


def compiler_for(mpi: Any, interface: str, folder: Path) -> str:
    """mpif90 of this MPI, or a skip that says what is missing."""
    compiler = shutil.which(f"mpif90.{mpi.name}")
    if compiler is None:
        pytest.skip(f"mpif90.{mpi.name} is not installed")
    probe = folder / "probe.f90"
    probe.write_text(f"program probe\n{PROBES[interface]}\nend program probe\n")
    command = [compiler, "-c", "-o", str(folder / "probe.o"), str(probe)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if result.returncode != 0:
        pytest.skip(f"{mpi.name} has no `{PROBES[interface]}`: {result.stderr.splitlines()[-1]}")
    return compiler


def build(command: list[str], folder: Path) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert result.returncode == 0, result.stderr


@pytest.fixture
def scripted(mpi: Any, tmp_path: Path) -> Callable[[str], Path]:
    def make(interface: str) -> Path:
        folder = tmp_path / "program"
        folder.mkdir()
        compiler = compiler_for(mpi, interface, folder)
        source, flags = INTERFACES[interface]
        for part in (MODULE, SOURCES / "counts_notes.f90"):
            build(["gfortran", "-g", "-c", str(part)], folder)
        command = [compiler, "-g", "-O0", "-fallow-argument-mismatch", "-w", *flags]
        command += [str(SOURCES / source), "counts_notes.o", "imbrex.o", "-o", "scripted"]
        build(command, folder)
        return folder / "scripted"

    return make


def own_account(folder: Path, rank: int) -> Counts:
    """What the program says: (file, line, operation) -> calls, transfers, bytes."""
    account: Counts = {}
    for line in (folder / f"account.{rank}").read_text().splitlines():
        number, operation, *values = line.split()
        account["counts_body.inc", int(number), operation] = [int(v) for v in values]
    return account


def measured_account(folder: Path) -> dict[int, Counts]:
    """The same by rank, as the runtime has it, with call sites resolved."""
    run = load_run(folder)
    sites = {site.id: site for site in run.sites}
    accounts: dict[int, Counts] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))
    for row in run.measures:
        site = sites[int(row["site"])]
        key = (Path(site.file or "?").name, site.line or 0)
        entry = accounts[int(row["rank"])][(*key, run.job.operations[row["operation"]])]
        for i, quantity in enumerate(("count", "transfers", "bytes")):
            entry[i] += int(row[quantity])
    return accounts


def check_sections(run: Any) -> None:
    """They nest, blanks at the end of a name do not count, and mistakes are counted."""
    loaded = load_run(run.folder, resolve=False)
    names = loaded.job.sections
    assert set(names) == {"", "outer/inner", "open", "outer"}
    inside = loaded.measures[loaded.measures["section"] == names.index("outer/inner")]
    assert inside["count"].sum() == 2
    assert inside["bytes"].sum() == 2 * 44
    # 'outer' is ended twice, 'open' never: two mistakes a rank.
    assert run.ranks["section_errors"].tolist() == [2, 2]


@pytest.mark.parametrize("interface", list(INTERFACES))
def test_every_call_is_counted_once_at_its_line(
    interface: str, scripted: Callable[[str], Path], measured: Callable[..., Any]
) -> None:
    run = measured(scripted(interface))
    accounts = measured_account(run.folder)
    assert sorted(accounts) == [0, 1]
    for rank, account in accounts.items():
        own = own_account(run.folder, rank)
        assert len(own) > 140
        wrong = [
            f"rank {rank} {key}: measured {account.get(key)}, done {own.get(key)}"
            for key in sorted(set(account) | set(own))
            if account.get(key) != own.get(key)
        ]
        assert not wrong, "\n".join(wrong)
    check_sections(run)


def test_an_abort_from_fortran_keeps_what_was_measured(
    mpi: Any, measured: Callable[..., Any], tmp_path: Path
) -> None:
    compiler = compiler_for(mpi, "mpifh", tmp_path)
    build([compiler, "-g", "-o", "aborts", str(SOURCES / "aborts.f")], tmp_path)
    run = measured(tmp_path / "aborts", ranks=1, check=False)
    assert run.process.returncode != 0
    part = read_part(run.folder / "parts" / "rank-0.part")
    assert part.rank["ended"] == Ended.ABORTED
    assert part.rank["calls"] == 1
