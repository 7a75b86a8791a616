"""What a multigrid with one-sided exchanges hides: blocking against nonblocking ARMCI calls.

    python benchmarks/armci_table.py [--library openmpi] [--ranks 2,4]
                                     [--insert docs/theory/event-sources.md]

Runs apps/armci (linked with Imbrex's wrappers) under `imbrex run` for several sizes and numbers of
ranks, checks that both variants give the same value, and prints a Markdown table: time of the
cycles, transfers of the puts, hidden and exposed as certain to possible shares of the upper bound
of the transfer time, waiting, and the ratio of the times of nonblocking to blocking (the median of
--rounds pairs). More ranks than cores say little about time, and are run with Open MPI alone, whose
ranks give their core away while they wait.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from apps import IMBREX, ROOT
from imbrex.profile.aggregate import total
from imbrex.profile.run import Run, load_run
from imbrex.profile.summary import make_sums
from page import insert

SIZES = {32: 60, 64: 20, 128: 4}  # cells along an edge: V-cycles
VARIANTS = ("blocking", "nonblocking")


@dataclass(frozen=True)
class Result:
    """One run: the program's own time and value, and the measurement."""

    seconds: float
    value: str
    run: Run


def environment() -> dict[str, str]:
    added = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **added, "OMPI_MCA_osc": "^rdma"}


def once(library: str, folder: Path, ranks: int, size: int, variant: str) -> Result:
    output = folder / "run"
    many = ["--oversubscribe"] if library == "openmpi" and ranks > 2 else []
    line = [f"mpirun.{library}", *many, "-n", str(ranks), str(folder / "mgarmci")]
    options = ["--n", str(size), "--cycles", str(SIZES[size]), "--variant", variant]
    done = subprocess.run(
        [IMBREX, "run", "-q", "--force", "-o", str(output), "--", *line, *options],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    value = re.search(r"verification: PASSED value=(\S+)", done.stdout)
    seconds = re.search(r"^time: (\S+) s", done.stdout, re.MULTILINE)
    if done.returncode or not value or not seconds:
        sys.exit(f"{' '.join(line)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return Result(float(seconds[1]), value[1], load_run(output, resolve=False))


def markdown(ranks: int, size: int, variant: str, seconds: float, run: Run, ratio: str) -> str:
    names = run.job.operations
    puts = {names.index(n) for n in ("ARMCI_PutS", "ARMCI_NbPutS")}
    chosen = run.measures[[row["operation"] in puts for row in run.measures]]
    sums, whole = make_sums(total(chosen)), make_sums(total(run.measures))
    most = sums.transfer_max_s or 1.0
    hidden = f"{100 * sums.overlap_min_s / most:.0f}-{100 * sums.overlap_max_s / most:.0f} %"
    exposed = f"{100 * sums.exposed_min_s / most:.0f}-{100 * sums.exposed_max_s / most:.0f} %"
    return (
        f"| {ranks} | {size} | {variant} | {seconds * 1e3:.1f} | {sums.transfers} "
        f"| {sums.bytes / 2**20:.1f} | {sums.transfer_min_s * 1e3:.2f}-{most * 1e3:.2f} "
        f"| {hidden} | {exposed} | {whole.call_s * 1e3:.1f} | {ratio} |"
    )


def table(library: str, ranks_wanted: list[int], rounds: int) -> list[str]:
    text: list[str] = []
    with tempfile.TemporaryDirectory(prefix="imbrex-armci-") as scratch:
        folder = Path(scratch)
        make = ["make", "-s", "-C", str(ROOT / "apps"), "mgarmci", f"MPICC=mpicc.{library}"]
        subprocess.run([*make, f"BUILD={folder}", f"ARMCI=-larmci-{library}"], check=True)
        for ranks in ranks_wanted:
            if library != "openmpi" and ranks > (os.cpu_count() or 1):
                continue
            for size in SIZES:
                pairs = [
                    [once(library, folder, ranks, size, v) for v in VARIANTS] for _ in range(rounds)
                ]
                if len({r.value for pair in pairs for r in pair}) != 1:
                    sys.exit(f"{library}, {ranks} ranks, {size}: the variants differ")
                if not text:
                    name = " ".join(pairs[0][0].run.job.library)
                    text = [
                        f"**{name}**, ranks on one node, {rounds} pairs",
                        "",
                        "| ranks | cells per edge | variant | time, ms | puts | MiB"
                        " | transfer time, ms | hidden | exposed | in calls, ms | time ratio |",
                        "|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
                    ]
                ratio = statistics.median(b.seconds / a.seconds for a, b in pairs)
                for i, variant in enumerate(VARIANTS):
                    seconds = statistics.median(pair[i].seconds for pair in pairs)
                    shown = f"{ratio:.2f}" if i else ""
                    text.append(markdown(ranks, size, variant, seconds, pairs[-1][i].run, shown))
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", action="append", choices=["openmpi", "mpich"])
    parser.add_argument("--ranks", default="2", help="numbers of ranks, separated by commas")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs")
    parser.add_argument("--insert", type=Path, help="the page that gets the tables")
    options = parser.parse_args()
    ranks = [int(number) for number in options.ranks.split(",")]
    text: list[str] = []
    for library in options.library or ["openmpi", "mpich"]:
        text += [*table(library, ranks, options.rounds), ""]
    print("\n".join(text))
    if options.insert:
        insert(options.insert, "\n".join(text).strip())


if __name__ == "__main__":
    main()
