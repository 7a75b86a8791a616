"""How often the bounds hold over a real network, and how wide they are, per source of events.

    sudo python benchmarks/truth_table.py [--messages 24] [--seeds 1,2] [--mpi mpich]
        [--kept FILE] [--insert PAGE]

Runs tests/network/test_truth.py, which makes two hosts in network namespaces and takes the kernel's
time-stamp of each packet, once for each seed, and puts together what it prints. Messages and
one-sided operations each for itself. Half a minute for each seed and library, and a calibration.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from page import insert

ROOT = Path(__file__).resolve().parents[1]
LINE = re.compile(
    r"^(\w+) (truth\w*) (\w+): (\d+) transfers, (\d+) broken,"
    r" median width ([\d.]+), (\d+) with nothing known$"
)
OPERATION = re.compile(r"^    (MPI_\w+): (\d+), median width ([\d.]+)$")
LIBRARIES = {"mpich": "MPICH 4.0 (UCX over TCP)", "openmpi": "Open MPI 4.1 (btl tcp)"}
PROGRAMS = {"truth": "messages", "truth_onesided": "puts and gets"}


@dataclass
class Found:
    """One library, program and source, over all seeds."""

    transfers: int = 0
    broken: int = 0
    unknown: int = 0
    widths: list[float] = field(default_factory=list)
    operations: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def read(output: str, found: dict[tuple[str, str, str], Found]) -> None:
    """Add what one run of the tests printed."""
    last = None
    for line in output.splitlines():
        if match := LINE.match(line):
            library, program, source, transfers, broken, width, unknown = match.groups()
            last = found[library, program, source]
            last.transfers += int(transfers)
            last.broken += int(broken)
            last.unknown += int(unknown)
            last.widths.append(float(width))
        elif last and (match := OPERATION.match(line)):
            last.operations[match[1]].append(float(match[3]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=24)
    parser.add_argument("--seeds", default="1,2,3", help="separated by commas")
    parser.add_argument("--mpi", default="", help="mpich or openmpi; both unless given")
    parser.add_argument("--kept", type=Path, help="a file: what earlier runs with it found counts")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    output = options.kept.read_text() if options.kept and options.kept.exists() else ""
    for seed in filter(None, options.seeds.split(",")):
        environment = {"IMBREX_NETWORK_MESSAGES": str(options.messages)}
        command = [sys.executable, "-m", "pytest", "-q", "-s", "tests/network/test_truth.py"]
        done = subprocess.run(
            [*command, *(["-k", options.mpi] if options.mpi else [])],
            cwd=ROOT,
            env={**os.environ, **environment, "IMBREX_NETWORK_SEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        if " transfers, " not in done.stdout:
            sys.exit(done.stdout + done.stderr)
        output += done.stdout
    if options.kept:
        options.kept.write_text(output)
    found: dict[tuple[str, str, str], Found] = defaultdict(Found)
    read(output, found)
    text = [
        "| library | program | source | transfers | outside their bounds | median width"
        " | nothing known | median width by operation |",
        "|---|---|---|--:|--:|--:|--:|---|",
    ]
    for (library, program, source), f in sorted(found.items()):
        operations = ", ".join(
            f"{name.removeprefix('MPI_')} {statistics.median(widths):.2f}"
            for name, widths in sorted(f.operations.items())
        )
        text.append(
            f"| {LIBRARIES[library]} | {PROGRAMS[program]} | `{source}` | {f.transfers}"
            f" | {f.broken} | {statistics.median(f.widths):.2f} | {f.unknown} | {operations} |"
        )
    print("\n".join(text))
    if options.insert:
        insert(options.insert, "\n".join(text), "network truth")


if __name__ == "__main__":
    main()
