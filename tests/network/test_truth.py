"""Bounds over a real network against the packets of that network.

A capture at one host says when each packet of a message really left or arrived. The share of a
message's bytes that passed while a rank computed must lie within the bounds of that rank, as
theory.md reads them: between overlap_min and overlap_max over X_lo, and likewise what was exposed.
Which library makes progress when does not matter: that is what is tested.

The rate limit of this network saves credit while nothing moves: up to BURST_BYTES of a message then
pass at once, faster than any stream that was calibrated. Bytes and time differ by so much.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from imbrex.profile.run import load_run

HERE = Path(__file__).resolve().parent
MESSAGES = int(os.environ.get("IMBREX_NETWORK_MESSAGES", "24"))
SEED = int(os.environ.get("IMBREX_NETWORK_SEED", "1"))
BURST_BYTES = 128 * 1024  # of two-hosts' token bucket
LEAST_BYTES = 600  # smaller packets are the library's own
SLOP_NS = 30_000  # between a call's time-stamps here and in the runtime, and between the hosts

Interval = tuple[int, int]


@contextmanager
def capture(network, file: Path) -> Iterator[None]:
    """Write the packets of node1 to a file meanwhile."""
    program = network.folder / "capture"
    subprocess.run(["gcc", "-O2", "-o", str(program), str(HERE / "capture.c")], check=True)
    command = ["ip", "netns", "exec", f"{network.name}-node1", str(program), "eth0", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0


def read_packets(file: Path) -> list[tuple[int, int]]:
    """(ns, bytes) of every packet with data; one message at a time, so no direction."""
    *lines, last = file.read_text().splitlines()
    assert last == "lost 0"
    packets = [line.split() for line in lines]
    return [(int(at), int(size)) for at, _, size in packets if int(size) >= LEAST_BYTES]


def read_messages(file: Path) -> list[tuple[int, int, Interval, list[Interval]]]:
    """(bytes, sender, when, calls) of one rank's messages."""
    found: list[tuple[int, int, Interval, list[Interval]]] = []
    calls: list[Interval] = []
    for line in file.read_text().splitlines():
        kind, *rest = line.split()
        numbers = list(map(int, rest))
        if kind == "message":
            _, size, sender, begin = numbers
            calls = []
        elif kind == "call":
            calls.append((numbers[0], numbers[1]))
        else:
            found.append((size, sender, (begin, numbers[0]), calls))
    return found


@pytest.mark.parametrize("events", ["call", "ucx"])
def test_packets_pass_within_the_bounds(cluster, machine, events):
    if events == "ucx" and cluster.mpi != "mpich":
        pytest.skip("this library's messages do not go over UCX here")
    network = cluster.network
    program = network.folder / f"truth-{cluster.mpi}"
    include = f"-I{HERE.parents[1] / 'runtime' / 'include'}"
    source = str(HERE / "truth.c")
    subprocess.run(
        [f"mpicc.{cluster.mpi}", "-O1", "-w", include, source, "-o", str(program)], check=True
    )
    packet_file, out = network.folder / "packets", network.folder / "messages"
    folder = network.folder / f"truth-run-{cluster.mpi}-{events}"
    words = ("run", "-q", "--force", "-o", str(folder), "--machine", str(machine))
    command = [str(program), str(SEED), str(MESSAGES), str(out)]
    with capture(network, packet_file):
        done = network.imbrex(*words, "--events", events, "--", *cluster.line(), *command)
    assert done.returncode == 0, done.stderr
    packets = read_packets(packet_file)
    run = load_run(folder)
    assert run.job.events["inter-node"] == events
    checked = 0
    widths = []
    for rank in range(2):
        for number, (size, _, (begin, end), calls) in enumerate(
            read_messages(out.with_name(f"messages.{rank}"))
        ):
            own = [(at, b) for at, b in packets if begin <= at <= end]
            moved = sum(b for _, b in own)
            # less by small packets that look like control, more by headers and what was sent again
            assert 0.9 * size <= moved <= 1.1 * size + 4000, (number, size, moved)
            section = run.job.sections.index(f"m{number}")
            rows = run.measures[(run.measures["rank"] == rank)]
            rows = rows[(rows["section"] == section) & (rows["transfers"] > 0)]
            assert int(rows["transfers"].sum()) == 1, (number, rank)
            row = rows[0]
            surely = sum(
                b for at, b in own if any(a + SLOP_NS <= at <= z - SLOP_NS for a, z in calls)
            )
            perhaps = sum(
                b for at, b in own if any(a - SLOP_NS <= at <= z + SLOP_NS for a, z in calls)
            )
            hidden = (1 - perhaps / moved, 1 - surely / moved)
            exposed = (surely / moved, perhaps / moved)
            x_lo = int(row["transfer_min_ns"])
            where = (number, rank, size, row, hidden, exposed)
            credit = BURST_BYTES / size
            assert hidden[1] + credit >= int(row["overlap_min_ns"]) / x_lo, where
            assert hidden[0] - credit <= int(row["overlap_max_ns"]) / x_lo, where
            assert exposed[1] + credit >= int(row["exposed_min_ns"]) / x_lo, where
            assert exposed[0] - credit <= int(row["exposed_max_ns"]) / x_lo, where
            checked += 1
            width = int(row["overlap_max_ns"]) - int(row["overlap_min_ns"])
            widths.append(width / int(row["transfer_max_ns"]))
    assert checked == 2 * MESSAGES
    widths.sort()
    print(
        f"\n{cluster.mpi} {events}: {checked} transfers, median width {widths[MESSAGES]:.2f} of X"
    )
