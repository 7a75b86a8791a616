"""The clocks of a job brought together, against the counter that all ranks here really share."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[2] / "runtime"
SOURCES = ("base/clock.c", "core/clock_line.c", "job/clocks.c")

clocksource = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
needs_counter = pytest.mark.skipif(
    not clocksource.exists() or clocksource.read_text().strip() != "tsc",
    reason="the kernel does not keep time by the counter that would tell the truth",
)
pytestmark = [pytest.mark.untimed, needs_counter]


@dataclass(frozen=True)
class Clock:
    """What a rank printed: see clocks.c."""

    rank: int
    clocks: int
    error_ns: int
    largest_ns: float
    cost_us: float
    violations: int


@pytest.fixture
def clocks(mpi: Any, tmp_path: Path) -> Callable[..., list[Clock]]:
    program = tmp_path / "clocks"
    words = [mpi.mpicc, "-O1", "-w", "-D_GNU_SOURCE", f"-I{RUNTIME}", f"-I{HERE}", "-o"]
    words += [str(program), str(HERE / "clocks.c"), *(str(RUNTIME / name) for name in SOURCES)]
    subprocess.run(words, check=True)

    def run(*parts: tuple[int, list[str]], **environment: str) -> list[Clock]:
        """Run parts of (ranks, words before the program) as one job."""
        many = ["--oversubscribe"] if mpi.name == "openmpi" else []
        line = [mpi.mpirun, *many]
        for number, (ranks, before) in enumerate(parts):
            line += [":"] * (number > 0) + ["-n", str(ranks), *before, str(program), "300"]
        done = subprocess.run(
            line, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        rows = [row.split() for row in done.stdout.splitlines()]
        column_types = (int, int, int, float, float, int)
        found = [
            Clock(*(kind(x) for kind, x in zip(column_types, row, strict=True))) for row in rows
        ]
        return sorted(found, key=lambda clock: clock.rank)

    return run


def _holds(found: list[Clock], ranks: int) -> None:
    assert [clock.rank for clock in found] == list(range(ranks))
    for clock in found:
        # the line through rank 0's own samples is good to some tens of ns
        assert clock.largest_ns <= clock.error_ns + 200, found
        assert clock.violations == 0, found


def test_ranks_with_one_counter_share_it_exactly(clocks: Callable[..., list[Clock]]) -> None:
    found = clocks((4, []))
    _holds(found, 4)
    assert {(clock.clocks, clock.error_ns) for clock in found} == {(1, 0)}


def test_clocks_apart_by_seconds_and_in_rate(clocks: Callable[..., list[Clock]]) -> None:
    """Rank r is r times 7 s ahead and r times 50 ppm fast: in 0.3 s that is 15 us a rank."""
    found = clocks((6, []), IMBREX_TEST_CLOCK="7e9,50")
    _holds(found, 6)
    assert {clock.clocks for clock in found} == {6}
    assert all(clock.error_ns > 0 for clock in found[1:])


def test_the_check_sees_a_clock_that_was_not_brought_together(
    clocks: Callable[..., list[Clock]],
) -> None:
    """A tenth of a second in a run of 0.3 s is a jump: nothing is known of that clock."""
    found = clocks((2, []), IMBREX_TEST_CLOCK="0,300000")
    assert found[0].error_ns == 0
    assert found[1].error_ns >= 2**63 - 1
    assert found[1].largest_ns > 1e6


@pytest.mark.skipif(os.geteuid() != 0, reason="time namespaces need root")
@pytest.mark.skipif(not Path("/proc/self/ns/time").exists(), reason="no time namespaces here")
def test_time_namespaces_are_other_clocks(clocks: Callable[..., list[Clock]]) -> None:
    """CLOCK_MONOTONIC of two ranks differs by 5000 s and by 1 s from that of the others."""
    apart = ["unshare", "--time", "--fork", "--monotonic"]
    found = clocks((2, []), (1, [*apart, "5000"]), (1, [*apart, "1"]), IMBREX_CLOCK="monotonic")
    _holds(found, 4)
    assert {clock.clocks for clock in found} == {3}
    assert [clock.error_ns == 0 for clock in found] == [True, True, False, False]
