"""Time of MPI_Finalize, bare against merging the ranks' profiles, and the memory of a rank.

    python benchmarks/finalize_merge.py [--pairs N] [--ranks 2 4 ...] [--times N]
                                        [--build FOLDER] [openmpi mpich ...]

Runs a program with 64 call sites on 2 to 64 ranks of this node, alternately without and with the
runtime, and prints the median time that rank 0 spent in MPI_Finalize, the difference, the ratio,
and the bytes that the runtime held in a rank. More ranks than cores wait for each other: the
figures are then an upper limit of what a cluster would show.

--times: each site is called that often, around a ring, so that there are calls to keep; and in
turns with these also without what is kept for the time line (timeline.npy, overview.npy: a runtime
with keeps_no_calls.c in it), without the call log, and with the whole log kept (--keep-log). The
ratio is that of "all" to each of them, the median over the turns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from preloaded import ROOT, build_runtime

Kind = tuple[Path | None, dict[str, str]]
"""A runtime and its settings; None: bare."""


def build_program(mpicc: str, folder: Path) -> Path:
    program = folder / "finalize_merge"
    source = ROOT / "benchmarks" / "finalize_merge.c"
    subprocess.run([mpicc, "-O2", "-w", "-o", str(program), str(source)], check=True)
    return program


def build_without_kept_calls(mpicc: str, folder: Path) -> Path:
    """A runtime that keeps no single calls."""
    checkout = folder / "checkout"
    shutil.copytree(ROOT / "runtime", checkout / "runtime", dirs_exist_ok=True)
    stub = ROOT / "benchmarks" / "keeps_no_calls.c"
    shutil.copy2(stub, checkout / "runtime" / "job" / "kept_calls.c")
    return build_runtime(mpicc, folder, checkout)


def run(launcher: list[str], words: list[str], kind: Kind) -> tuple[float, int]:
    """Seconds of rank 0 in MPI_Finalize, and the largest memory of a rank in bytes (0: bare)."""
    runtime, more = kind
    with tempfile.TemporaryDirectory() as folder:
        command = [*launcher, *words]
        if runtime is not None:
            settings = [f"LD_PRELOAD={runtime}", f"IMBREX_DIR={folder}"]
            settings += [f"{name}={value}" for name, value in more.items()]
            command = [*launcher, "env", *settings, *words]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1"}
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        done = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True, timeout=120
        )
        if runtime is None:
            return float(done.stdout), 0
        return float(done.stdout), int(np.load(Path(folder) / "ranks.npy")["memory_bytes"].max())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("libraries", nargs="*", default=["openmpi", "mpich"])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--times", type=int, default=0)
    parser.add_argument("--build", type=Path, help="build here and keep it")
    options = parser.parse_args()
    print(
        f"{'library':<8} {'ranks':>5} {'runtime':<14} {'bare ms':>8} {'measured':>8} {'ratio':>6} "
        f"{'added ms':>8}"
    )
    for library in options.libraries:
        mpicc = shutil.which(f"mpicc.{library}")
        if mpicc is None:
            print(f"{library:<8} not installed")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) if options.build is None else options.build / library
            folder.mkdir(parents=True, exist_ok=True)
            program = build_program(mpicc, folder)
            runtime = build_runtime(mpicc, folder)
            variants: dict[str, Kind] = {"bare": (None, {}), "all": (runtime, {})}
            if options.times:
                variants |= {
                    "no kept calls": (build_without_kept_calls(mpicc, folder / "without"), {}),
                    "no log": (runtime, {"IMBREX_LOG": "off"}),
                    "whole log kept": (runtime, {"IMBREX_KEEP_LOG": "1"}),
                }
            for ranks in options.ranks:
                launcher = [f"mpirun.{library}", "-n", str(ranks)]
                launcher += ["--oversubscribe"] if library == "openmpi" else []
                words = [str(program), *([str(options.times)] if options.times else [])]
                turns = [
                    {name: run(launcher, words, kind) for name, kind in variants.items()}
                    for _ in range(options.pairs)
                ]
                ms = {n: 1e3 * statistics.median(turn[n][0] for turn in turns) for n in variants}
                for name in list(variants)[1:]:
                    of = "bare" if name == "all" else name
                    ratio = statistics.median(turn["all"][0] / turn[of][0] for turn in turns)
                    memory_mb = max(turn[name][1] for turn in turns) / 1e6
                    print(
                        f"{library:<8} {ranks:5d} {name:<14} {ms['bare']:8.1f} {ms[name]:8.1f} "
                        f"{ratio:6.2f} {ms[name] - ms['bare']:8.1f}  "
                        f"{memory_mb:.2f} MB a rank",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
