"""A part of benchmarks/replay_hosts.py: what a run on one host says of two hosts, and the other way
round, against runs there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SIZE_BYTES, WORK_MS, ITERATIONS = 4_000_000, 50, 10
ADDED_S = 0.04 * ITERATIONS
"""What the network takes for these messages at 800 Mbit/s, both ways at once."""


@dataclass(frozen=True)
class Predicted:
    """In s, without what lies around pauses: what a run took, what its replay says of it, and what
    it says of another machine."""

    measured: float
    itself: float
    there: float


@pytest.fixture
def one_host(cluster: Any) -> list[str]:
    """The launcher's words for two ranks of one host."""
    return cluster.line(hosts="node1:2" if cluster.mpi == "openmpi" else "node1")


@pytest.fixture
def one_machine(cluster: Any, one_host: list[str]) -> Path:
    file = cluster.network.folder / f"one-host-{cluster.mpi}.json"
    limits = ("--quick", "--time-limit", "90", "--max-bytes", "4M")
    done = cluster.network.imbrex("calibrate", *limits, "-o", str(file), "--", *one_host)
    assert done.returncode == 0, done.stderr
    return file


def predicted(cluster: Any, line: list[str], here: Path, there: Path) -> Predicted:
    """Of a run of this line, on machines of these profiles."""
    folder = cluster.network.folder / f"predicted-{cluster.mpi}"
    words = ("-q", "--force", "--keep-log", "--machine", str(here), "-o", str(folder))
    done = cluster.network.imbrex("run", *words, "--", *line)
    assert done.returncode == 0, done.stderr
    done = cluster.network.imbrex("predict", str(folder), "--network", str(there), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    paused_s = document["paused_s"]
    itself, other = (row["time_s"] - paused_s for row in document["networks"])
    return Predicted(document["measured_s"] - paused_s, itself, other)


def test_a_run_on_one_host_tells_what_it_takes_on_two(
    cluster: Any, exchange: str, machine: Path, one_host: list[str], one_machine: Path
) -> None:
    program = [exchange, "blocking", str(SIZE_BYTES), str(WORK_MS), str(ITERATIONS)]
    one = predicted(cluster, [*one_host, *program], one_machine, machine)
    two = predicted(cluster, [*cluster.line(), *program], machine, one_machine)
    print(one, two)
    # The network adds three quarters to the computation, which is not the same in two runs.
    assert two.measured > one.measured + 0.5 * ADDED_S
    assert one.itself == pytest.approx(one.measured, rel=0.08)
    assert two.itself == pytest.approx(two.measured, rel=0.08)
    assert one.there == pytest.approx(two.measured, rel=0.12)
    assert two.there == pytest.approx(one.measured, rel=0.12)
