"""Programs with one known fault each, on two hosts: the first sentence names exactly that.

The programs, and the same on one node: tests/mpi/test_first_sentence.py.
"""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parents[1] / "mpi" / "programs" / "constructed"
DATA = r"(?:[^,.]*, )?(?:stalled transfer|transfer or stalled|transfer)"
CASES = {
    "late_rank": r"late rank 1 at late_rank\.c:14 \(MPI_Allreduce\)",
    "late_receiver": r"late receiver \(rank 1\) at late_receiver\.c:21[,.]",
    "undriven": rf"{DATA}(?:, most)? at undriven\.c:26 "
    r"\(the partner computed and did not drive it\)",
    "saturated": rf"{DATA} at saturated\.c:25 \(the ranks of a host share its link\)",
}


SLOW_BITS_PER_S, BURST_BYTES = 100_000_000, 128 * 1024
"""Where the link is to be busy it is slow, so that no load of the cores is slower still."""


@contextmanager
def slow(network):
    """The network at this rate; then at its own again."""

    def limit(bits_per_s):
        for host in ("node1", "node2"):
            words = ["tc", "-n", f"{network.name}-{host}", "qdisc", "change", "dev", "eth0", "root"]
            words += ["tbf", "rate", str(bits_per_s), "burst", "128kb", "latency", "800ms"]
            subprocess.run(words, check=True)

    limit(SLOW_BITS_PER_S)
    try:
        yield
    finally:
        limit(800_000_000)


def slow_profile(machine, file):
    """The machine profile of that network, by its rate."""
    content = json.loads(machine.read_text())
    path = content["paths"]["inter-node"]
    s_per_byte = 8 / SLOW_BITS_PER_S
    path["gap_s_per_byte"] = 0.8 * s_per_byte
    for point in path["points"]:
        point["x_lo_s"] = max(0, point["size_bytes"] - BURST_BYTES) * s_per_byte
        most_s = 1.1 * point["size_bytes"] * s_per_byte + 0.002
        point["x_hi_s"] = point["tail_s"] = point["head_s"] = most_s
    file.write_text(json.dumps(content))
    return file


@pytest.mark.parametrize("case", CASES)
def test_the_first_sentence_names_the_fault(case, cluster, machine):
    network = cluster.network
    program = network.folder / f"{case}-{cluster.mpi}"
    build = [f"mpicc.{cluster.mpi}", "-g", "-O1", "-w", "-o", str(program)]
    subprocess.run([*build, str(PROGRAMS / f"{case}.c")], check=True)
    folder = network.folder / f"{case}-run-{cluster.mpi}"
    line, at_its_rate = cluster.line(), nullcontext()
    if case == "saturated":
        line = cluster.line(hosts="node1:2,node2:2", ranks=4)
        machine = slow_profile(machine, network.folder / "slow.json")
        at_its_rate = slow(network)
    words = ("-q", "--force", "-o", str(folder), "--machine", str(machine))
    with at_its_rate:
        done = network.imbrex("run", *words, "--", *line, str(program), "synchronous")
    assert done.returncode == 0, done.stderr
    shown = json.loads(network.imbrex("show", str(folder), "--json").stdout)
    sentence = shown["totals"]["sentence"]
    assert re.match(rf"MPI [\d.]+ %: [\d.]+(?: to [\d.]+)? % {CASES[case]}", sentence), sentence
