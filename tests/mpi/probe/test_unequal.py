"""Ranks of unequal speed, by a clock that runs four times as fast on one of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network.assemble import assemble
from imbrex.network.measure import run_probes
from imbrex.probe.answer import answer

FAST_CLOCK = """
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    static long long first;
    const int failed = (int)syscall(SYS_clock_gettime, clock, t);
    if (!failed && clock == CLOCK_MONOTONIC) {
        const long long now = t->tv_sec * 1000000000LL + t->tv_nsec;
        if (!first)
            first = now;
        const long long shown = first + 4 * (now - first);
        t->tv_sec = shown / 1000000000;
        t->tv_nsec = shown % 1000000000;
    }
    return failed;
}
"""


@pytest.fixture
def fast_clock(tmp_path: Path) -> Path:
    """To be preloaded: by its own clock such a rank takes four times as long for all it does."""
    source, clock = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(FAST_CLOCK)
    subprocess.run(
        ["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", str(clock), str(source)], check=True
    )
    return clock


def test_unequal_ranks_are_told_of(fast_clock: Path) -> None:
    if shutil.which("mpirun.mpich") is None:
        pytest.skip("mpirun.mpich is not installed")
    library = library_of_launcher(parse_launcher_line(["mpirun.mpich", "-n", "2", "x"]))
    probes = str(build("probes", library) / "bin" / "imbrex-probes")
    rank = [probes, "--quick", "--experiments", "self", "--max-bytes", "4096"]
    slow = ["env", f"LD_PRELOAD={fast_clock}", *rank]
    line = ["mpirun.mpich", "-n", "1", *rank, ":", "-n", "1", *slow]
    m = run_probes(line, os.environ, 60)
    (note,) = answer(m, assemble(m, {}, True), []).notes
    times = re.search(r"^unequal ranks: .* (\S+) times as long on rank 1 as on rank 0", note)
    # The shortest of five on each; noise only lengthens.
    assert times and 1.2 < float(times[1]) < 12
