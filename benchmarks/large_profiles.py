"""How long the profile of a large job takes to open and to show, and how much memory.

    python benchmarks/large_profiles.py [--rows N] [--ranks 1024 10000 100000]

Writes a synthetic run of so many ranks, with N rows (call sites and size classes) each, their
causes, their evidence and whom each rank waited for, and runs `imbrex show` and `imbrex report` on
it. Each figure is the best of three processes: wall time with Python's start (which `imbrex
--version` shows), and the largest resident memory, in which the system counts what it maps of the
files. Beside them the baseline: a process that does no more than read the same tables and sum each
column with NumPy, and how many times as long each command takes. The sums are compared with those
that were written.
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
from typing import Any

import numpy as np

from imbrex.profile.causes import CAUSES_DTYPE, PARTNERS_DTYPE, WAITS_DTYPE
from imbrex.profile.evidence import BOUNDS_NS, EVIDENCE_DTYPE
from imbrex.profile.format import MEASURES_DTYPE, RANKS_DTYPE, RUN_FORMAT, SCHEMA_VERSION

OPERATIONS = ["MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce"]
PIECE = 1000  # ranks written at a time
KEYS = ("rank", "site", "operation", "size_class", "path")
BASELINE = """
import pathlib, sys, numpy
for file in sorted(pathlib.Path(sys.argv[1]).glob("*.npy")):
    table = numpy.load(file, mmap_mode="r")
    for name in table.dtype.names:
        if table.dtype[name].kind in "iu":
            print(file.name, name, table[name].sum(dtype=numpy.int64))
"""


def write_run(folder: Path, ranks: int, rows: int) -> int:
    """Write a run of `rows` rows a rank; returns the call time of all in ns."""
    folder.mkdir()
    dtypes = {"measures": MEASURES_DTYPE, "causes": CAUSES_DTYPE, "evidence": EVIDENCE_DTYPE}
    tables = {
        name: np.lib.format.open_memmap(
            folder / f"{name}.npy", mode="w+", dtype=dtype, shape=(ranks * rows,)
        )
        for name, dtype in dtypes.items()
    }
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
        at = slice(first * rows, (first + count) * rows)
        tables["measures"][at] = piece.reshape(-1)
        tables["causes"][at] = causes_of(piece).reshape(-1)
        tables["evidence"][at] = evidence_of(piece).reshape(-1)
    for table in tables.values():
        table.flush()
    write_waits(folder, ranks, rows)
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


def causes_of(piece: Any) -> Any:
    """Half of each call's time a late sender, the rest transfer, stalled and the library."""
    causes = np.zeros(piece.shape, CAUSES_DTYPE)
    for name in ("rank", "site", "operation", "count", "call_ns"):
        causes[name] = piece[name]
    causes["logged"] = causes["count"]
    eighth = piece["call_ns"] // 8
    for name, least, most in (
        ("late_sender", 4, 4), ("transfer", 1, 2), ("stalled", 0, 1), ("gainable", 1, 3),
    ):  # fmt: skip
        causes[f"{name}_min_ns"], causes[f"{name}_max_ns"] = least * eighth, most * eighth
    left = piece["call_ns"] - 6 * eighth
    causes["library_min_ns"] = causes["library_max_ns"] = left
    return causes


def evidence_of(piece: Any) -> Any:
    """The other side's calls prove that half was exposed."""
    evidence = np.zeros(piece.shape, EVIDENCE_DTYPE)
    for name in (*KEYS, "transfers", "bytes", "transfer_min_ns", "transfer_max_ns"):
        evidence[name] = piece[name]
    evidence["matched"] = evidence["transfers"]
    for name in BOUNDS_NS:
        kind, bound = name.split("_", 1)
        half = kind != "call" and bound in ("overlap_max_ns", "exposed_min_ns")
        evidence[name] = piece["transfer_max_ns"] // 2 if half else piece[bound]
    return evidence


def write_waits(folder: Path, ranks: int, rows: int) -> None:
    """Each rank waited for both of its neighbours, at every second place."""
    partners = np.zeros((ranks, 2), PARTNERS_DTYPE)
    partners["rank"] = np.arange(ranks)[:, None]
    partners["peer"] = (np.arange(ranks)[:, None] + [-1, 1]) % ranks
    partners["messages"], partners["bytes"] = 100 * rows, 150_000 * rows
    partners["late_min_ns"] = partners["late_max_ns"] = 10**8
    np.save(folder / "partners.npy", partners.reshape(-1))
    waits = np.zeros((ranks, max(1, rows // 2)), WAITS_DTYPE)
    waits["rank"] = np.arange(ranks)[:, None]
    waits["site"] = waits["start_site"] = np.arange(waits.shape[1]) + 1
    waits["operation"], waits["count"] = 2, 100
    waits["late_min_ns"] = waits["late_max_ns"] = waits["moving_max_ns"] = 10**6
    np.save(folder / "waits.npy", waits.reshape(-1))


def measure(*command: str) -> tuple[float, float, str]:
    """Best wall time in s and largest memory in MiB of a command; its output."""
    best, most_kib, output = float("inf"), 0, ""
    for _ in range(3):
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        best = min(best, time.perf_counter() - start)
        most_kib = max(most_kib, used.ru_maxrss)
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
    return best, most_kib / 1024, output


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=50, help="rows a rank [50]")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1024, 10_000, 100_000])
    options = parser.parse_args()
    base, least_mib, _ = measure("-m", "imbrex.cli", "--version")
    print(f"{'ranks':>7} {'file MB':>8} {'command':<24} {'s':>7} {'times':>6} {'MiB':>6}")
    print(f"{'':>7} {'':>8} {'--version':<24} {base:7.2f} {'':>6} {least_mib:6.0f}")
    with tempfile.TemporaryDirectory() as scratch:
        for ranks in options.ranks:
            folder = Path(scratch) / f"run-{ranks}"
            call_ns = write_run(folder, ranks, options.rows)
            megabytes = sum(file.stat().st_size for file in folder.glob("*.npy")) / 1e6
            baseline_s, mib, _ = measure("-c", BASELINE, str(folder))
            name = "(NumPy, columns summed)"
            print(f"{ranks:7d} {megabytes:8.0f} {name:<24} {baseline_s:7.2f} {1:6.1f} {mib:6.0f}")
            report = str(Path(scratch) / "report.html")
            for name, words in {
                "show": ("show", str(folder)),
                "show --by site": ("show", str(folder), "--by", "site"),
                "show --by rank": ("show", str(folder), "--by", "rank"),
                "show --json": ("show", str(folder), "--json"),
                "report": ("report", "-q", str(folder), "-o", report),
            }.items():
                wall_s, mib, output = measure("-m", "imbrex.cli", *words)
                times = wall_s / baseline_s
                text = f"{ranks:7d} {megabytes:8.0f} {name:<24} {wall_s:7.2f}"
                print(f"{text} {times:6.1f} {mib:6.0f}")
                if name == "show --json":
                    shown_s = json.loads(output)["totals"]["call_s"]
                    if abs(shown_s - call_ns / 1e9) > 1e-6 * shown_s:
                        raise SystemExit(f"call time: {call_ns / 1e9} s written, {shown_s} shown")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"(writing took up to {peak:.0f} MiB)")


if __name__ == "__main__":
    main()
