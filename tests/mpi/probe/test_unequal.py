"""Ranks of unequal speed, by a clock that runs twice as fast on one of them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

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
        const long long shown = first + 2 * (now - first);
        t->tv_sec = shown / 1000000000;
        t->tv_nsec = shown % 1000000000;
    }
    return failed;
}
"""
# What a launcher is given: `-n 2 PROGRAM ARGUMENTS`.
LAUNCHER = """#!/bin/sh
shift 2
exec mpirun.mpich -n 1 "$@" : -n 1 env LD_PRELOAD={clock} "$@"
"""


@pytest.fixture
def unequal(tmp_path: Path) -> str:
    """A launcher whose rank 1 takes twice as long for all it does, by its own clock."""
    source, clock = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(FAST_CLOCK)
    subprocess.run(
        ["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", str(clock), str(source)], check=True
    )
    file = tmp_path / "mpiexec.hydra"
    file.write_text(LAUNCHER.format(clock=clock))
    file.chmod(0o755)
    return str(file)


def test_unequal_ranks_are_told_of(imbrex: Run, unequal: str, tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    options = ("--quick", "--time-limit", "4", "--mpicc", "/usr/bin/mpicc.mpich")
    done = imbrex("probe", *options, "-o", str(answer), "--", unequal, "-n", "2")
    if done.returncode == 2 and "nothing was calibrated" in done.stderr:
        pytest.skip("the machine was so busy that nothing was measured within 4 s")
    assert done.returncode == 0, done.stderr
    notes = [n for n in json.loads(answer.read_text())["notes"] if n.startswith("unequal ranks")]
    assert len(notes) == 1
    times = re.search(r"takes (\S+) times as long on rank 1 as on rank 0", notes[0])
    assert times and 1.2 < float(times[1]) < 4
    assert f"note: {notes[0]}" in done.stdout
