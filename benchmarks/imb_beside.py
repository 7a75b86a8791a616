"""IMB-MPI1, IMB-NBC and IMB-RMA beside Imbrex's probes, in turns, under Intel MPI.

    python benchmarks/imb_beside.py VENV [--rounds 5] [--insert docs/theory/probes.md]

VENV is a virtual environment with the wheels `impi-rt` (which carries IMB) and `impi-devel`. Each
round runs both on two ranks of this node, so that what else the machine does meets both. A line
tells the median over the rounds with the smallest and the largest; "agree" where these ranges meet,
else the ratio of the medians, ours to IMB's. With --insert the table replaces the one between the
markers of that page.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from page import insert

SIZES = (1, 1024, 16384, 32768, 65536, 1 << 20, 4 << 20)
COLLECTIVES = ("Ibcast", "Iallreduce", "Ialltoall")
# What is compared, its unit, and what each side calls it.
QUANTITIES = {
    "latency": ("us", "IMB-MPI1 PingPong: mean", "half a ping-pong, warm buffer: median"),
    "bandwidth": ("MB/s", "IMB-MPI1 Uniband", "64 messages in flight: the fastest batch"),
    **{
        f"MPI_{name}, hidden": ("%", "IMB-NBC: overlap", "share hidden while all compute")
        for name in COLLECTIVES
    },
    "MPI_Put": ("us", "IMB-RMA Unidir_put, non-aggregate", "put and flush, target in MPI: median"),
    "MPI_Get": ("us", "IMB-RMA Unidir_get, non-aggregate", "get and flush, target in MPI: median"),
    "MPI_Put, target computes": (
        "times",
        "IMB-RMA Truly_passive_put: t_ovrl / t_pure",
        "put and flush, target computing / in MPI: medians",
    ),
}
Key = tuple[str, int]


@dataclass
class Seen:
    """What each side measured, a value per round."""

    imb: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    ours: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))


def output(venv: Path, *words: str) -> str:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(venv / "lib")}
    command = [str(venv / "bin" / "mpiexec.hydra"), "-n", "2", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def tables(text: str) -> dict[str, list[list[float]]]:
    """The rows of each benchmark of IMB, those in aggregate mode left out."""
    found: dict[str, list[list[float]]] = {}
    name, wanted = "", True
    for line in text.splitlines():
        title = re.match(r"# Benchmarking (\S+)", line)
        if title:
            name, wanted = title[1], True
            found.setdefault(name, [])
        elif "MODE:" in line:
            wanted = "NON-AGGREGATE" in line
        elif name and wanted and re.match(r"\s*\d+\s+\d+(\s+[\d.]+)+\s*$", line):
            found[name].append([float(column) for column in line.split()])
    return found


def imb_round(venv: Path, lengths: Path, seen: Seen) -> None:
    binary = {name: str(venv / "bin" / f"IMB-{name}") for name in ("MPI1", "NBC", "RMA")}
    options = ("-msglen", str(lengths), "-time", "0.3")
    for name, rows in tables(output(venv, binary["MPI1"], *options, "PingPong", "Uniband")).items():
        for row in rows:
            if name == "PingPong":
                seen.imb["latency", int(row[0])].append(row[2])
            else:
                seen.imb["bandwidth", int(row[0])].append(row[2])
    for name, rows in tables(output(venv, binary["NBC"], *options, *COLLECTIVES)).items():
        for row in rows:
            seen.imb[f"MPI_{name}, hidden", int(row[0])].append(row[5])
    rma = ("Unidir_put", "Unidir_get", "Truly_passive_put")
    for name, rows in tables(output(venv, binary["RMA"], *options, *rma)).items():
        for row in rows:
            if name == "Truly_passive_put":
                ratio = row[3] / row[2]
                seen.imb["MPI_Put, target computes", int(row[0])].append(ratio)
            else:
                seen.imb[f"MPI_{name[-3:].title()}", int(row[0])].append(row[2])


def our_round(venv: Path, binary: Path, seen: Seen) -> None:
    experiments = "pingpong,streaming,nonblocking,onesided"
    text = output(venv, str(binary), "--quick", "--max-bytes", str(4 << 20), "--experiments",
                  experiments)  # fmt: skip
    hidden: dict[Key, list[float]] = defaultdict(list)
    puts: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    latency: dict[int, float] = {}
    for line in text.splitlines():
        w = line.split()
        if w[:1] == ["pingpong"] and w[5] == "warm":
            size = int(w[4])
            latency[size] = min(latency.get(size, float("inf")), float(w[9]) / 1e3)
        elif w[:1] == ["stream"] and int(w[5]) == 64:
            seen.ours["bandwidth", int(w[4])].append(64e3 * int(w[4]) / float(w[7]))
        elif w[:1] == ["nonblocking"] and w[5] == "0":
            share = min(1.0, max(0.0, 1 - float(w[9]) / float(w[6])))
            hidden[f"{w[1]}, hidden", int(w[4])].append(100 * share)
        elif w[:1] == ["onesided"] and w[4].endswith("flush"):
            name = w[4].split("/")[0]
            puts[name, int(w[5]), w[6]].append((float(w[12]) - float(w[9])) / 1e3)
    for size, time in latency.items():
        seen.ours["latency", size].append(time)
    for key, shares in hidden.items():
        seen.ours[key].append(statistics.median(shares))
    for (name, size, situation), times in puts.items():
        if situation == "none-compute":
            seen.ours[name, size].append(statistics.median(times))
        if (name, situation) == ("MPI_Put", "target-computes"):
            pure = statistics.median(puts[name, size, "none-compute"])
            seen.ours["MPI_Put, target computes", size].append(statistics.median(times) / pure)


def spread(values: list[float]) -> str:
    return f"{number(statistics.median(values))} ({number(min(values))} to {number(max(values))})"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def verdict(imb: list[float], ours: list[float]) -> str:
    if min(imb) <= max(ours) and min(ours) <= max(imb):
        return "agree"
    middle = statistics.median(imb)
    return f"{statistics.median(ours) / middle:.2f}" if middle > 0 else "differ"


def report(seen: Seen) -> str:
    lines = ["| quantity | bytes | IMB | Imbrex | |", "|---|---|---|---|---|"]
    for name, (unit, _, _) in QUANTITIES.items():
        for size in SIZES:
            imb, ours = seen.imb.get((name, size)), seen.ours.get((name, size))
            if imb and ours:
                lines.append(
                    f"| {name}, {unit} | {size:,} | {spread(imb)} | {spread(ours)} "
                    f"| {verdict(imb, ours)} |"
                )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("venv", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    venv = options.venv.absolute()
    line = parse_launcher_line([str(venv / "bin" / "mpiexec"), "-n", "2", "x"])
    binary = build("probes", library_of_launcher(line)) / "bin" / "imbrex-probes"
    seen = Seen()
    with tempfile.TemporaryDirectory() as folder:
        lengths = Path(folder) / "lengths"
        lengths.write_text("".join(f"{size}\n" for size in SIZES))
        for round_ in range(options.rounds):
            first, second = (imb_round, our_round) if round_ % 2 else (our_round, imb_round)
            for run in (first, second):
                run(venv, lengths if run is imb_round else binary, seen)
    text = report(seen)
    for name, (unit, imb, ours) in QUANTITIES.items():
        print(f"{name} ({unit}): {imb}; ours: {ours}")
    print(text)
    if options.insert:
        insert(options.insert, text, "imb")


if __name__ == "__main__":
    main()
