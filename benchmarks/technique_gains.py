"""What recording the plain halo app predicts for its rewritten variants, beside what they gain.

    sudo python benchmarks/technique_gains.py [--mpi mpich] [--sizes 1024,2048] [--insert FILE]

Two ranks on two network namespaces (TCP, 800 Mbit/s). `imbrex run --record` of the variant that
blocks, with a machine profile of this network, predicts the time that loop distribution (the rim
behind the wait) and loop indexing on the producer's side (the rim first) would save on a step. The
variants that do so by hand then run in turns with the plain one. What counts is the median step of
a run (step_times.c), and of the runs of a variant their median: on two cores, which also move the
messages, ranks are taken from theirs now and then for milliseconds, which is many steps.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

from network_table import launcher
from page import insert
from two_hosts import Network, two_hosts

ROOT = Path(__file__).resolve().parents[1]
VARIANTS = {
    "overlapped": ("loop distribution", "boundary last"),
    "boundary-first": ("loop indexing", "boundary first"),
}
_STEPS = re.compile(r"steps: \d+, median ([0-9.]+) s, mean ([0-9.]+) s")


def build(network: Network, mpi: str) -> None:
    """halo2d and halo2d.plain in the network's folder, and what takes the times of steps."""
    sources = [str(file) for file in sorted((ROOT / "apps" / "halo").glob("halo2d*.c"))]
    command = [sys.executable, "-m", "imbrex.cli", "cc", f"--compiler=mpicc.{mpi}", "-std=c11"]
    command += ["-D_GNU_SOURCE", "-O2", "-g", "-w", *sources, "-lm", "-o", "halo2d"]
    subprocess.run(command, check=True, cwd=network.folder)
    source = Path(__file__).with_name("step_times.c")
    words = ["-O2", "-w", "-fPIC", "-shared", str(source), "-o", "step_times.so"]
    subprocess.run([f"mpicc.{mpi}", *words], check=True, cwd=network.folder)


def predicted_s(network: Network, mpi: str, size: int, steps: int) -> dict[str, float]:
    """By replay mode, what a step would take, from one recorded run of the plain variant."""
    name = f"run-{size}"
    line = [*launcher(mpi, network.folder), "./halo2d", "--n", str(size), "--steps", str(steps)]
    network.imbrex("run", "--record", "-q", "--machine", "machine.json", "-o", name, "--", *line)
    document = json.loads(network.imbrex("predict", name, "--json"))
    if document["replayed"] is not True:
        raise SystemExit(f"the recording cannot be replayed: {document['replayed']}")
    row = document["networks"][0]
    if not row["network"]["name"].startswith("as measured"):
        raise SystemExit("the machine profile holds no network")
    return {mode: time / steps for mode, time in row["time_s"].items()}


def measured_s(
    network: Network, mpi: str, size: int, steps: int, rounds: int
) -> dict[str, tuple[float, float]]:
    """By variant, over runs that take turns: the median of the median step, and of the mean."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ("blocking", *VARIANTS)}
    preload = f"LD_PRELOAD={network.folder / 'step_times.so'}"
    for _ in range(rounds):
        for variant, times in found.items():
            words = ["env", preload, "./halo2d.plain", "--n", str(size), "--steps", str(steps)]
            output = network.ranks(mpi, [*words, "--variant", variant])
            match = _STEPS.search(output)
            if match is None or "PASSED" not in output:
                raise SystemExit(output)
            times.append((float(match[1]), float(match[2])))
    return {
        variant: (statistics.median(t[0] for t in times), statistics.median(t[1] for t in times))
        for variant, times in found.items()
    }


def table(network: Network, mpi: str, sizes: list[int], rounds: int, work_s: float) -> list[str]:
    """The rows: a step's time as it is, and by technique the predicted and the real saving."""
    lines = [
        "| points | bytes a message | step as written, median | mean | technique "
        "| predicted to save | saves |",
        "|--:|--:|--:|--:|---|--:|--:|",
    ]
    for size in sizes:
        # About as long for every size; a point takes about a nanosecond.
        steps = max(40, min(2000, int(work_s / (size * size / 2 * 1.5e-9 + 5e-4))))
        predicted = predicted_s(network, mpi, size, steps)
        measured = measured_s(network, mpi, size, steps, rounds)
        plain, mean = measured["blocking"]
        for variant, (technique, mode) in VARIANTS.items():
            gain = predicted["as written"] - predicted[mode]
            real = plain - measured[variant][0]
            lines.append(
                f"| {size} x {size} | {8 * size} | {1e6 * plain:.0f} us | {1e6 * mean:.0f} us "
                f"| {technique} "
                f"| {1e6 * gain:.0f} us ({100 * gain / plain:.0f} %) "
                f"| {1e6 * real:.0f} us ({100 * real / plain:.0f} %) |"
            )
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", default="mpich", choices=("openmpi", "mpich"))
    parser.add_argument("--sizes", default="256,1024,2048,4096")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a run, about")
    parser.add_argument("--machine", type=Path, help="a profile of this network, made before")
    parser.add_argument("--insert", type=Path, help="the page that has the table")
    options = parser.parse_args()
    with two_hosts() as network:
        build(network, options.mpi)
        line = launcher(options.mpi, network.folder)
        if options.machine and options.machine.exists():
            (network.folder / "machine.json").write_bytes(options.machine.read_bytes())
        else:
            limit = ("--quick", "--time-limit", "90")
            network.imbrex("calibrate", *limit, "-o", "machine.json", "--", *line)
            if options.machine:
                options.machine.write_bytes((network.folder / "machine.json").read_bytes())
        sizes = [int(size) for size in options.sizes.split(",")]
        lines = table(network, options.mpi, sizes, options.rounds, options.seconds)
    if options.insert:
        insert(options.insert, "\n".join(lines), f"techniques {options.mpi}")


if __name__ == "__main__":
    main()
