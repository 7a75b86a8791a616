"""How long the profile of a large job takes to open and to show, and how much memory.

    python benchmarks/large_profiles.py [--rows N] [--ranks 1024 10000 100000] [--keep DIR]

Writes a synthetic run of so many ranks, with N rows (call sites and size classes) each, and runs
`imbrex show` and `imbrex report` on it. Each figure is the best of three processes: wall time with
Python's start (which `imbrex --version` shows), and the largest resident memory, in which the
system counts what it maps of the file. The sums are compared with those that were written.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from imbrex.profile.format import MEASURES_DTYPE, RANKS_DTYPE, RUN_FORMAT, SCHEMA_VERSION

OPERATIONS = ["MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce"]
PIECE = 1000  # ranks written at a time


def write_run(folder: Path, ranks: int, rows: int) -> int:
    """Write a run of `rows` rows a rank; returns the call time of all in ns."""
    folder.mkdir()
    measures = np.lib.format.open_memmap(
        folder / "measures.npy", mode="w+", dtype=MEASURES_DTYPE, shape=(ranks * rows,)
    )
    place = np.arange(rows)
    call_ns = 0
    random = np.random.default_rng(1)
    for first in range(0, ranks, PIECE):
        count = min(PIECE, ranks - first)
        piece = np.zeros((count, rows), MEASURES_DTYPE)
        piece["rank"] = np.arange(first, first + count)[:, None]
        piece["site"] = place // 2 + 1
        piece["operation"] = place % len(OPERATIONS)
        piece["size_class"] = 10 + place % 3
        piece["path"] = 2 + place % 2
        piece["count"] = piece["transfers"] = 100
        piece["bytes"] = 100 * 1500
        piece["transfer_min_ns"] = 80_000
        piece["transfer_max_ns"] = piece["overlap_max_ns"] = piece["exposed_max_ns"] = 100_000
        piece["exposed_min_ns"] = 20_000
        piece["call_ns"] = piece["wait_max_ns"] = random.integers(1000, 10**8, (count, rows))
        call_ns += int(piece["call_ns"].sum())
        measures[first * rows : (first + count) * rows] = piece.reshape(-1)
    measures.flush()
    ranks_table = np.zeros(ranks, RANKS_DTYPE)
    ranks_table["rank"] = np.arange(ranks)
    ranks_table["host"] = [f"node{rank // 64:05d}".encode() for rank in range(ranks)]
    ranks_table["wall_ns"] = 10**10
    ranks_table["compute_ns"] = 8 * 10**9
    ranks_table["call_ns"] = 2 * 10**9
    ranks_table["calls"] = 100 * rows
    np.save(folder / "ranks.npy", ranks_table)
    sites = [
        {"id": n, "image": "/app", "offset": hex(n), "file": "/app.c", "line": n, "function": "f"}
        for n in range(1, rows // 2 + 2)
    ]
    content = {"schema_version": SCHEMA_VERSION, "sites": sites}
    (folder / "sites.json").write_text(json.dumps(content))
    job = {"schema_version": SCHEMA_VERSION, "format": RUN_FORMAT, "ranks": ranks}
    job |= {"command": ["srun", "./app"], "operations": OPERATIONS, "sections": [""]}
    job |= {"hosts": [f"node{n:05d}" for n in range((ranks + 63) // 64)]}
    (folder / "run.json").write_text(json.dumps(job))
    return call_ns


def measure(*words: str) -> tuple[float, float, str]:
    """Best wall time in s and largest memory in MiB of `imbrex` with these words; its output."""
    best, most_kib, output = float("inf"), 0, ""
    for _ in range(3):
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "imbrex.cli", *words], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        best = min(best, time.perf_counter() - start)
        most_kib = max(most_kib, used.ru_maxrss)
        if status:
            raise SystemExit(f"imbrex {' '.join(words)} failed")
    return best, most_kib / 1024, output


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=50, help="rows a rank [50]")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1024, 10_000, 100_000])
    options = parser.parse_args()
    base, least_mib, _ = measure("--version")
    print(f"{'ranks':>7} {'file MB':>8} {'command':<24} {'s':>7} {'MiB':>6}")
    print(f"{'':>7} {'':>8} {'--version':<24} {base:7.2f} {least_mib:6.0f}")
    with tempfile.TemporaryDirectory() as scratch:
        for ranks in options.ranks:
            folder = Path(scratch) / f"run-{ranks}"
            call_ns = write_run(folder, ranks, options.rows)
            megabytes = (folder / "measures.npy").stat().st_size / 1e6
            report = str(Path(scratch) / "report.html")
            for name, words in {
                "show": ("show", str(folder)),
                "show --by site": ("show", str(folder), "--by", "site"),
                "show --by rank": ("show", str(folder), "--by", "rank"),
                "show --json": ("show", str(folder), "--json"),
                "report": ("report", "-q", str(folder), "-o", report),
            }.items():
                wall_s, mib, output = measure(*words)
                print(f"{ranks:7d} {megabytes:8.0f} {name:<24} {wall_s:7.2f} {mib:6.0f}")
                if name == "show --json":
                    shown_s = json.loads(output)["totals"]["call_s"]
                    if abs(shown_s - call_ns / 1e9) > 1e-6 * shown_s:
                        raise SystemExit(f"call time: {call_ns / 1e9} s written, {shown_s} shown")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"(writing took up to {peak:.0f} MiB)")


if __name__ == "__main__":
    main()
