"""Programs with one known fault each: the first sentence names exactly that.

The faults are 100 ms long, against which nothing else in the programs takes any time. On two hosts:
tests/network/test_first_sentence.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import polling

PROGRAMS = Path(__file__).resolve().parent / "programs" / "constructed"
TCP_ALONE = {
    "openmpi": ("--mca", "btl", "tcp,self"),
    "mpich": ("-genv", "UCX_TLS", "tcp,self", "-genv", "MPIR_CVAR_NOLOCAL", "1"),
}
"""Within a node the receiver copies by itself; over TCP both sides have to drive a rendezvous."""
CASES = {
    "late_rank": (4, r"late rank 1 at late_rank\.c:14 \(MPI_Allreduce\)"),
    "late_receiver": (2, r"late receiver \(rank 1\) at late_receiver\.c:21[,.]"),
    "late_root": (4, r"a late root \(rank 0\) at late_root\.c:17 \(MPI_Bcast\)"),
    "undriven": (
        2,
        r"(?:stalled transfer|transfer or stalled) at undriven\.c:26 "
        r"\(the partner computed and did not drive it\)",
    ),
}
FORTRAN = r"late sender \(rank 1\) at late_rank\.f90:23[,.]"


def first_sentence(
    mpi: Any, imbrex: Callable[..., Any], program: Path, ranks: int, *options: str
) -> str:
    """What `imbrex run` says first, on one line."""
    many = ["--oversubscribe"] if mpi.name == "openmpi" else []
    line = [mpi.mpirun, *many, *options, "-n", str(ranks), str(program)]
    # The calibration's ranks are more than the cores too.
    environment = {**os.environ, "LD_PRELOAD": str(polling.library())} if ranks > 2 else None
    done = imbrex("run", "--force", "-o", "run", "--", *line, env=environment)
    assert done.returncode == 0, done.stderr
    shown = imbrex("show", "run", "--json")
    assert shown.returncode == 0, shown.stderr
    (sentence,) = re.findall(r'"sentence": "(.*)"', shown.stdout)
    return str(sentence)


def check(sentence: str, expected: str) -> None:
    """The first cause is the expected one, and has most of the time in MPI."""
    found = re.match(rf"MPI ([\d.]+) %: ([\d.]+)(?: to ([\d.]+))? % {expected}", sentence)
    assert found, sentence
    whole, low, high = (float(x) if x else 0.0 for x in found.groups())
    assert (low + (high or low)) / 2 >= 0.6 * whole, sentence


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case == "undriven" else pytest.mark.untimed) for case in CASES],
)
def test_the_first_sentence_names_the_fault(
    case: str, mpi: Any, compiled: Callable[..., Path], imbrex: Callable[..., Any]
) -> None:
    ranks, expected = CASES[case]
    options = TCP_ALONE[mpi.name] if case == "undriven" else ()
    program = compiled(f"constructed/{case}")
    check(first_sentence(mpi, imbrex, program, ranks, *options), expected)


@pytest.mark.untimed
def test_and_in_fortran(mpi: Any, imbrex: Callable[..., Any], tmp_path: Path) -> None:
    compiler = shutil.which(f"mpif90.{mpi.name}")
    if compiler is None:
        pytest.skip(f"mpif90.{mpi.name} is not installed")
    program = tmp_path / "late_rank"
    words = [compiler, "-g", "-O1", "-w", "-o", str(program), str(PROGRAMS / "late_rank.f90")]
    subprocess.run(words, check=True, cwd=tmp_path)
    check(first_sentence(mpi, imbrex, program, 2), FORTRAN)
