"""What measuring costs whole programs: mini-apps bare and under `imbrex run`, in turns.

    python benchmarks/app_overhead.py [--rounds 20] [--library openmpi] [--apps cg,ssor]

Each round runs the app bare, measured, and bare again, in an order that changes from round to
round, and takes the time that the app itself reports (its solver, without start and end). The
overhead is the median over the rounds of measured / mean of the two bare runs; its interval is the
95 % confidence interval of a median from order statistics, which assumes nothing of the noise. The
same is done for bare / bare, whose true value is 1: that is the noise of the method.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMBREX = str(Path(sys.executable).with_name("imbrex"))  # of the same environment

# about a second each on two ranks
PROGRAMS = {
    "halo2d": "halo2d --n 512 --steps 4000 --variant late-wait",
    "halo3d": "halo3d --n 64 --steps 2500 --variant overlapped",
    "cg": "cg --n 300 --variant separate",
    "ssor": "ssor --n 48 --iterations 60",
    "mg": "mg --n 64 --cycles 100",
    "bucket": "bucket --log-keys 20 --iterations 150",
    "fft": "fft --n 64 --steps 40",
    "line": "line --n 32 --steps 48",
    "sweep": "sweep --n 48 --iterations 60",
}


def seconds(words: list[str]) -> float:
    """Run a program that verifies itself; the time that it says its solver took."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        words, env={**os.environ, **root}, capture_output=True, text=True, check=False
    )
    found = re.search(r"^time: ([0-9.]+) s", done.stdout, re.MULTILINE)
    if done.returncode != 0 or found is None:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return float(found.group(1))


def median_interval(values: list[float]) -> tuple[float, float, float]:
    """The median and its 95 % confidence interval from order statistics."""
    ordered, n = sorted(values), len(values)
    # the largest k with P(fewer than k of n fair coins show heads) <= 2.5 %
    k, tail = 0, 0.0
    while (tail := tail + math.comb(n, k) / 2**n) <= 0.025:
        k += 1
    low = max(k - 1, 0)
    return statistics.median(ordered), ordered[low], ordered[n - 1 - low]


def compare(bare: list[str], measured: list[str], rounds: int) -> tuple[list[float], list[float]]:
    """The ratios measured / bare and bare / bare of each round."""
    ratios, control = [], []
    for turn in range(rounds):
        times: dict[str, float] = {}
        kinds = ["bare", "measured", "again"]
        for kind in kinds[turn % 3 :] + kinds[: turn % 3]:
            times[kind] = seconds(measured if kind == "measured" else bare)
        ratios.append(times["measured"] / (0.5 * (times["bare"] + times["again"])))
        control.append(times["again"] / times["bare"])
    return ratios, control


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", action="append", choices=["openmpi", "mpich"])
    parser.add_argument("--apps", default=",".join(PROGRAMS), help="separated by commas")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    if options.rounds < 6:
        sys.exit("--rounds: at least 6, or there is no 95 % interval")
    print("| library | program | overhead | 95 % interval | bare against bare | 95 % interval |")
    print("|---|---|--:|--:|--:|--:|")
    for library in options.library or ["openmpi", "mpich"]:
        with tempfile.TemporaryDirectory(prefix="imbrex-overhead-") as scratch:
            folder = Path(scratch)
            subprocess.run(
                [
                    *("make", "-s", "-j2", "-C", str(ROOT / "apps"), f"MPICC=mpicc.{library}"),
                    *(f"MPIFC=mpifort.{library}", f"BUILD={folder}"),
                ],
                check=True,
            )
            for name in options.apps.split(","):
                program = PROGRAMS[name].split()
                bare = [f"mpirun.{library}", "-n", "2", str(folder / program[0]), *program[1:]]
                imbrex = [IMBREX, "run", "-q", "--force", "-o", str(folder / "run")]
                measured = [*imbrex, "--", *bare]
                seconds(measured)  # builds the runtime and calibrates, once
                columns = []
                for ratios in compare(bare, measured, options.rounds):
                    middle, low, high = (100.0 * (v - 1.0) for v in median_interval(ratios))
                    columns += [f"{middle:+.2f} %", f"{low:+.2f} to {high:+.2f} %"]
                row = " | ".join([library, f"`{PROGRAMS[name]}`", *columns])
                print(f"| {row} |", flush=True)


if __name__ == "__main__":
    main()
