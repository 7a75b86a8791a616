"""Random message programs on a simulated cluster: what the simulator says about each transfer must
lie within the bounds that the engine gave from the calls alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "runtime" / "core"
RANKS = 4
PROGRAMS = int(os.environ.get("IMBREX_SIMULATED_PROGRAMS", "1000"))
FIRST = int(os.environ.get("IMBREX_SIMULATED_FIRST", "0"))
EAGER = 65536
ENVELOPE = 16  # bytes that SMPI adds to each message on the wire
OPTIONS = [
    "smpi/simulate-computation:no",
    f"smpi/async-small-thresh:{EAGER}",
    f"smpi/send-is-detached-thresh:{EAGER}",
    "smpi/test:1e-6",
    "network/model:CM02",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:0",
]
COUNT, TRANSFERS, BYTES, X_LO, X_HI, O_MIN, O_MAX, E_MIN, E_MAX, CALL, W_MIN, W_MAX = range(12)
CONTRADICTED, UNCALIBRATED, UNKNOWN_END = 13, 14, 15


@dataclass
class Program:
    """What one rank wrote about one seed."""

    start_ns: int
    compute: list[tuple[int, int]] = field(default_factory=list)
    messages: list[tuple[int, str]] = field(default_factory=list)
    rows: dict[tuple[str, int], list[int]] = field(default_factory=dict)


@dataclass
class Simulator:
    binary: Path
    truth: Path
    folder: Path

    def run(self, *arguments: str) -> list[tuple[int, float, float]]:
        """Run the interpreter; every network action as (bytes, start, end) in ns."""
        log = self.folder / "truth"
        hosts = self.folder / "hosts"
        hosts.write_text("".join(f"n{i}\n" for i in range(RANKS)))
        command = [
            "smpirun", "-np", str(RANKS), "-platform", str(HERE / "cluster.xml"),
            "-hostfile", str(hosts), *[f"--cfg={o}" for o in OPTIONS],
            "--log=root.thres:warning", str(self.binary), *arguments,
        ]  # fmt: skip
        environment = {**os.environ, "TRUTH_FILE": str(log), "LD_PRELOAD": str(self.truth)}
        result = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=self.folder, check=False
        )
        assert result.returncode == 0, (result.stdout + result.stderr)[-3000:]
        actions = [line.split() for line in log.read_text().splitlines()]
        return [(int(b), float(s) * 1e9, float(e) * 1e9) for b, s, e in actions]


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    if not (shutil.which("smpicc") and shutil.which("smpirun")):
        pytest.skip("SimGrid is not installed (libsimgrid-dev)")
    folder = tmp_path_factory.mktemp("simulated")
    sources = [str(HERE / "interpreter.c"), *map(str, sorted(CORE.glob("*.c")))]
    program = ["smpicc", "-std=gnu11", "-O2", f"-I{CORE}", *sources, "-o", "interpreter", "-lm"]
    truth = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", str(HERE / "truth.cpp"),
             "-o", "truth.so", "-lsimgrid"]  # fmt: skip
    for command in (program, truth):
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stderr
    return Simulator(folder / "interpreter", folder / "truth.so", folder)


@pytest.fixture(scope="module")
def table(simulator: Simulator) -> Path:
    """The calibration: half ping-pongs, and the wire's ns per byte as the gap. Eager data leaves
    and comes whenever it likes; a rendezvous moves only while both sides are posted."""
    simulator.run("calibrate", "calibration")
    lines = ["imbrex-table 1", "path inter-node"]
    for line in (simulator.folder / "calibration.0").read_text().splitlines():
        size, half = line.split()
        slack = "-1 -1" if int(size) < EAGER else "0 0"
        lines.append(f"point {size} {size} {ceil(float(half)) + 2} {slack}")
    file = simulator.folder / "table"
    file.write_text("\n".join([*lines, "end", ""]))
    return file


def read_programs(file: Path) -> dict[int, Program]:
    programs: dict[int, Program] = {}
    current: Program | None = None
    for line in file.read_text().splitlines():
        kind, *rest = line.split()
        if kind == "program":
            current = programs[int(rest[0])] = Program(int(rest[1]))
            continue
        assert current is not None
        if kind == "compute":
            current.compute.append((int(rest[0]), int(rest[1])))
        elif kind == "message":
            current.messages.append((int(rest[0]), rest[1]))
        else:
            current.rows[rest[0], int(rest[1])] = list(map(int, rest[2:]))
    return programs


def covered(intervals: list[tuple[float, float]], start: float, end: float) -> float:
    return sum(max(0.0, min(b, end) - max(a, start)) for a, b in intervals)


def union(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for a, b in sorted(intervals):
        if joined and a <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return joined


def test_the_truth_lies_within_the_bounds(simulator: Simulator, table: Path) -> None:
    actions = simulator.run(str(FIRST), str(PROGRAMS), str(table), "result")
    actions = sorted((a for a in actions if a[0] >= 2000), key=lambda a: a[1])
    starts = [a[1] for a in actions]
    checked = wide = 0
    widths: list[float] = []
    hidden_total = 0.0
    by_rank = [read_programs(simulator.folder / f"result.{r}") for r in range(RANKS)]
    for seed in range(FIRST, FIRST + PROGRAMS):
        start = by_rank[0][seed].start_ns
        following = by_rank[0].get(seed + 1)
        end = following.start_ns if following else float("inf")
        own = actions[bisect_left(starts, start - 1) : bisect_left(starts, end - 1)]
        when = {b - ENVELOPE: (s, e) for b, s, e in own}
        for rank in range(RANKS):
            program = by_rank[rank][seed]
            compute = [(float(a), float(b)) for a, b in program.compute]
            truth: dict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
            moving = []
            for size, operation in program.messages:
                begin, finish = when[size]
                moving.append((begin, finish))
                hidden = covered(compute, begin, finish)
                sums = truth[operation, size.bit_length() - 1]
                sums[0] += finish - begin
                sums[1] += hidden
                sums[2] += 1
            for key, (duration, hidden, count) in truth.items():
                row = program.rows[key]
                slop = 4 * count  # simulated times are rounded to ns
                where = (seed, rank, key, row, duration, hidden)
                assert row[TRANSFERS] == count, where
                assert row[CONTRADICTED] == row[UNCALIBRATED] == row[UNKNOWN_END] == 0, where
                assert row[X_LO] - slop <= duration <= row[X_HI] + slop, where
                assert row[O_MIN] - slop <= hidden <= row[O_MAX] + slop, where
                exposed = duration - hidden
                assert row[E_MIN] - slop <= exposed <= row[E_MAX] + slop, where
                widths.append((row[O_MAX] - row[O_MIN]) / row[X_HI])
                wide += row[O_MAX] - row[O_MIN] >= row[X_LO]
                hidden_total += hidden
                checked += 1
            # wait: call time in which nothing of this rank moved
            calls = [(a[1], b[0]) for a, b in pairwise(compute)]
            calls = [(a, b) for a, b in calls if b > a]
            waited = sum(b - a for a, b in calls) - sum(
                covered(calls, a, b) for a, b in union(moving)
            )
            slop = 4 * (len(calls) + len(moving))
            low = sum(r[W_MIN] for r in program.rows.values())
            high = sum(r[W_MAX] for r in program.rows.values())
            assert sum(r[CALL] for r in program.rows.values()) == sum(b - a for a, b in calls)
            assert low - slop <= waited <= high + slop, (seed, rank, low, waited, high)
    widths.sort()
    print(
        f"{PROGRAMS} programs, {checked} rows: median width {widths[len(widths) // 2]:.3f} of X, "
        f"{wide / checked:.0%} undetermined"
    )
    assert checked > PROGRAMS * RANKS
    assert hidden_total > 0
