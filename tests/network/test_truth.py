"""Bounds over a real network against the packets of that network.

A capture at one host says when each packet of a message really left or arrived. The share of a
message's bytes that passed while a rank computed must lie within the bounds of that rank, as
theory.md reads them: between overlap_min and overlap_max over X_lo, and likewise what was exposed.
Which library makes progress when does not matter: that is what is tested.

The rate limit of this network saves credit while nothing moves: up to BURST_BYTES of a message then
pass at once, faster than any stream that was calibrated. Bytes and time differ by so much. And it
hands on segments of up to 64 KiB, each in the instant in which its credit suffices, 0.7 ms after
the one before: whether a segment counts for that instant, or bit by bit for the time in which its
credit grew, neither may break a bound.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.network.captured import capture

from imbrex.network import load
from imbrex.network.profile import Handshake
from imbrex.profile.run import Run, load_run

HERE = Path(__file__).resolve().parent
MESSAGES = int(os.environ.get("IMBREX_NETWORK_MESSAGES", "24"))
SEED = int(os.environ.get("IMBREX_NETWORK_SEED", "1"))
BURST_BYTES = 128 * 1024  # of two-hosts' token bucket
BYTES_PER_NS = 0.1  # of two-hosts' rate
LEAST_BYTES = 600  # smaller packets are the library's own
SLOP_NS = 30_000  # between a call's time-stamps here and in the runtime, and between the hosts

MORE = ("matched", "expected")  # evidence that needs both sides' calls

Interval = tuple[int, int]


@dataclass(frozen=True)
class Call:
    """A call as the program saw it: from when to when, and how long its rank was off its core.

    That may have been between the program's time-stamps and those of the runtime.
    """

    when: Interval
    away_ns: int

    def surely(self) -> Interval:
        """When the rank was in the call for certain; empty where begin is after end."""
        slop_ns = SLOP_NS + max(0, self.away_ns)
        return self.when[0] + slop_ns, self.when[1] - slop_ns

    def perhaps(self) -> Interval:
        """When the rank may have been in the call."""
        return self.when[0] - SLOP_NS, self.when[1] + SLOP_NS


def read_packets(file: Path) -> list[tuple[int, int]]:
    """(ns, bytes) of every packet with data; one message at a time, so no direction."""
    *lines, last = file.read_text().splitlines()
    assert last == "lost 0"
    packets = [line.split() for line in lines]
    return [(int(at), int(size)) for at, _, size, *_ in packets if int(size) >= LEAST_BYTES]


def read_messages(file: Path) -> list[tuple[int, int, Interval, list[Call]]]:
    """(bytes, sender, when, calls) of one rank's messages."""
    found: list[tuple[int, int, Interval, list[Call]]] = []
    calls: list[Call] = []
    for line in file.read_text().splitlines():
        kind, *rest = line.split()
        numbers = list(map(int, rest))
        if kind == "message":
            _, size, sender, begin = numbers
            calls = []
        elif kind == "call":
            calls.append(Call((numbers[0], numbers[1]), numbers[2]))
        else:
            found.append((size, sender, (begin, numbers[0]), calls))
    return found


def passed_within(packets: list[tuple[int, int]], spans: list[Interval]) -> tuple[float, float]:
    """Bytes of these packets within these spans of time: counted for the instant in which each was
    handed on, and for the time in which the credit for it grew."""
    spans = disjoint(spans)
    instant = grown = 0.0
    before = packets[0][0]
    for at, size in packets:
        instant += size * any(begin <= at <= end for begin, end in spans)
        since = min(at - 1, max(before, round(at - size / BYTES_PER_NS)))
        inside = sum(max(0, min(at, end) - max(since, begin)) for begin, end in spans)
        grown += size * inside / (at - since)
        before = at
    return instant, grown


def disjoint(spans: list[Interval]) -> list[Interval]:
    """The same moments, none in two spans."""
    found: list[Interval] = []
    for begin, end in sorted(span for span in spans if span[0] <= span[1]):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def test_bytes_within_spans_by_hand():
    """A segment of 64,000 bytes takes 640 us: half of its credit grew within the span."""
    packets = [(1_000_000, 1000), (1_640_000, 64_000)]
    assert passed_within(packets, [(1_320_000, 1_700_000)]) == (64_000, 32_000)
    assert passed_within(packets, [(1_320_000, 1_500_000), (1_400_000, 1_600_000)]) == (0, 28_000)
    assert passed_within(packets, [(2_000_000, 1_000_000)]) == (0, 0)


def either(one: Interval, other: Interval) -> Interval:
    """From when the first rank was in a message until the last had left it.

    A rank that shares its core may come out of the barrier milliseconds after the other, which has
    sent the whole message by then.
    """
    return min(one[0], other[0]), max(one[1], other[1])


@dataclass
class Checked:
    """What became of the comparisons: of each transfer its operation and (max - min)/X_hi, and
    what does not hold."""

    widths: list[tuple[str, float]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def report(self, title: str) -> None:
        """One line, which benchmarks/truth_table.py reads, and one for each operation."""
        widths = sorted(width for _, width in self.widths)
        unknown = sum(width > 0.995 for width in widths)
        print(f"\n{title}: {len(widths)} transfers, {len(self.broken)} broken, ", end="")
        print(f"median width {statistics.median(widths):.2f}, {unknown} with nothing known")
        for name in sorted({name for name, _ in self.widths}):
            own = [width for operation, width in self.widths if operation == name]
            print(f"    {name}: {len(own)}, median width {statistics.median(own):.2f}")


def run_program(cluster: Any, machine: Path, name: str, events: str) -> tuple[Run, list[Any], Path]:
    """One measured run of a program of this folder: its profile, the packets, what it wrote."""
    network = cluster.network
    program = network.folder / f"{name}-{cluster.mpi}"
    include = f"-I{HERE.parents[1] / 'runtime' / 'include'}"
    build = [f"mpicc.{cluster.mpi}", "-O1", "-w", include, str(HERE / f"{name}.c")]
    subprocess.run([*build, "-o", str(program)], check=True)
    packet_file, out = network.folder / "packets", network.folder / "messages"
    folder = network.folder / f"{name}-run-{cluster.mpi}-{events}"
    words = ("run", "-q", "--force", "-o", str(folder), "--machine", str(machine))
    command = [str(program), str(SEED), str(MESSAGES), str(out)]
    with capture(network, packet_file):
        done = network.imbrex(*words, "--events", events, "--", *cluster.line(), *command)
    assert done.returncode == 0, done.stderr
    run = load_run(folder)
    assert run.job.events["inter-node"] == events
    return run, read_packets(packet_file), out


def check_message(
    row: Any, own: list[tuple[int, int]], calls: list[Call], size: int, evidence: str = ""
) -> list[str]:
    """The packets of one message against its row, of measures.npy or, `matched_` or `expected_`, of
    evidence.npy: what does not hold."""
    moved = sum(b for _, b in own)
    # less by small packets that look like control, more by headers and what was sent again
    assert 0.9 * size <= moved <= 1.1 * size + 4000, (size, moved)
    surely = min(passed_within(own, [call.surely() for call in calls]))
    perhaps = max(passed_within(own, [call.perhaps() for call in calls]))
    x_lo = int(row["transfer_min_ns"])
    credit = BURST_BYTES / size
    broken = []
    for kind, least, most in (
        ("overlap", 1 - perhaps / moved, 1 - surely / moved),
        ("exposed", surely / moved, perhaps / moved),
    ):
        low, high = (int(row[f"{evidence}{kind}_{end}_ns"]) / x_lo for end in ("min", "max"))
        if most + credit < low or least - credit > high:
            broken.append(f"{kind} {least:.2f} to {most:.2f}, claimed {low:.2f} to {high:.2f}")
    return broken


def evidence_of(run: Run, rank: int, section: int) -> Any:
    """The one row of a message in evidence.npy."""
    assert run.evidence is not None
    chosen = (run.evidence["rank"] == rank) & (run.evidence["section"] == section)
    (row,) = run.evidence[chosen]
    return row


LARGE_BYTES = 150_000
"""Messages of so many bytes wait for a handshake of both sides in both libraries over TCP."""


def waiting(machine: Path, latency_s: float, folder: Path) -> Path:
    """The profile with large messages waiting for both sides: what a quick calibration beside other
    load may not have been able to tell."""
    profile = load(machine)
    path = profile.paths["inter-node"]
    shake = Handshake(LARGE_BYTES, True, True, before_s=30e-6, latency_s=latency_s)
    paths = {**profile.paths, "inter-node": dataclasses.replace(path, handshakes=(shake,))}
    file = folder / "waiting.json"
    dataclasses.replace(profile, paths=paths).save(file)
    return file


def test_packets_of_messages_that_wait_for_a_handshake(cluster, machine, tmp_path):
    file = waiting(machine, 2e-6, tmp_path)
    run, packets, out = run_program(cluster, file, "truth", "call")
    checked = check_expected(run, packets, out)
    checked.report(f"{cluster.mpi} truth expected, handshake given")
    assert not checked.broken
    assert run.evidence is not None
    large = run.evidence[run.evidence["bytes"] >= LARGE_BYTES]
    assert not int(large["contradicted"].sum())
    # Of most of them it is known that they cannot have moved for a part of the time.
    assert int(large["expected"].sum()) > MESSAGES / 2


def test_packets_break_the_bounds_of_a_handshake_that_takes_too_long(cluster, machine, tmp_path):
    """The test above is able to fail: no word takes 30 ms to the other side."""
    file = waiting(machine, 30e-3, tmp_path)
    run, packets, out = run_program(cluster, file, "truth", "call")
    assert run.evidence is not None
    # Where the message does not fit behind the end of such a handshake nothing is concluded.
    contradicted = int(run.evidence["contradicted"].sum())
    assert check_expected(run, packets, out).broken or contradicted


def check_expected(run: Run, packets: list[tuple[int, int]], out: Path) -> Checked:
    """What the packets say of the `expected` bounds of both sides' messages."""
    checked = Checked()
    written = [read_messages(out.with_name(f"messages.{rank}")) for rank in range(2)]
    for rank, messages in enumerate(written):
        for number, (size, _, when, calls) in enumerate(messages):
            row = evidence_of(run, rank, run.job.sections.index(f"m{number}"))
            begin, end = either(when, written[1 - rank][number][2])
            own = [(at, b) for at, b in packets if begin <= at <= end]
            for violation in check_message(row, own, calls, size, "expected_"):
                checked.broken.append(
                    f"message {number}, rank {rank}, {size} B: {violation}; {row}"
                )
            width = int(row["expected_overlap_max_ns"] - row["expected_overlap_min_ns"])
            operation = run.job.operations[row["operation"]]
            checked.widths.append((operation, width / int(row["transfer_max_ns"])))
    return checked


@pytest.mark.parametrize("name", ["truth", "truth_onesided"])
@pytest.mark.parametrize("events", ["call", "ucx"])
def test_packets_pass_within_the_bounds(cluster, machine, events, name):
    if events == "ucx" and cluster.mpi != "mpich":
        pytest.skip("this library's messages do not go over UCX here")
    if name == "truth_onesided" and cluster.mpi != "mpich":
        pytest.skip("Debian's Open MPI makes no windows between these hosts (MPI_ERR_WIN)")
    run, packets, out = run_program(cluster, machine, name, events)
    checked = {kind: Checked() for kind in (events, *(MORE if events == "call" else ()))}
    written = [read_messages(out.with_name(f"messages.{rank}")) for rank in range(2)]
    assert [len(messages) for messages in written] == [MESSAGES] * 2
    for rank, messages in enumerate(written):
        for number, (size, sender, when, calls) in enumerate(messages):
            section = run.job.sections.index(f"m{number}")
            rows = run.measures[(run.measures["rank"] == rank)]
            rows = rows[(rows["section"] == section) & (rows["transfers"] > 0)]
            takes_part = name == "truth" or rank == sender
            assert int(rows["transfers"].sum()) == takes_part, (number, rank)
            if not takes_part:
                continue
            begin, end = either(when, written[1 - rank][number][2])
            own = [(at, b) for at, b in packets if begin <= at <= end]
            row = rows[0]
            for kind, found in checked.items():
                evidence = f"{kind}_" if kind in MORE else ""
                if evidence:
                    row = evidence_of(run, rank, section)
                for violation in check_message(row, own, calls, size, evidence):
                    found.broken.append(
                        f"message {number}, rank {rank}, {size} B: {violation}; {row}"
                    )
                width = int(row[f"{evidence}overlap_max_ns"] - row[f"{evidence}overlap_min_ns"])
                operation = run.job.operations[row["operation"]]
                found.widths.append((operation, width / int(row["transfer_max_ns"])))
    for kind, found in checked.items():
        found.report(f"{cluster.mpi} {name} {kind}")
    assert not [violation for found in checked.values() for violation in found.broken]
