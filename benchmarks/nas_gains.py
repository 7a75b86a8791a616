"""What `imbrex transform` brings kernels in the style of NAS LU, IS and MG, of class A and B.

    sudo python benchmarks/nas_gains.py [--kernels lu,is,mg] [--classes A,B] [--nodes 2,4,16]
                                        [--hosts] [--pairs 3]
                                        [--insert docs/theory/transform-gains.md]

The kernels are those in benchmarks/nas. Each is simulated by SimGrid's SMPI as it is, rewritten,
and as it is on a network that costs nothing, which is the most that any overlap could gain; the
programs run in turns, computation is measured while it runs. --hosts: also with both MPI libraries
on two network namespaces, one rank on each (TCP, 800 Mbit/s), with progress calls too. Outputs must
be the same but for the times.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from network_table import launcher
from page import insert
from transform_gains import FREE, Times, in_turns, simulate
from two_hosts import two_hosts

NAS = Path(__file__).with_name("nas")
PROGRESS_S = 200e-6  # between progress calls, where there are any
LIBRARIES = ("openmpi", "mpich")


@dataclass(frozen=True)
class Cluster:
    """Nodes of one core; the latency and bandwidth are those of each of a message's two links."""

    name: str
    slower: float  # than this machine computes
    latency: str
    bandwidth: str


CLUSTERS = (
    Cluster("InfiniBand of 2005, processors 4 times as slow", 4.0, "2us", "7Gbps"),
    Cluster("InfiniBand-like (2 us, 10 Gbit/s)", 1.0, "1us", "10Gbps"),
    Cluster("GigE-like (50 us, 1 Gbit/s)", 1.0, "25us", "1Gbps"),
)


@dataclass(frozen=True)
class Kernel:
    source: str
    paper: str
    points: dict[str, int]  # of one edge of the grid, or keys, by class


KERNELS = {
    "lu": Kernel("lu.f", "10-17 % (A), 5-17 % (B)", {"A": 64, "B": 104}),
    "is": Kernel("is.c", "11-39 % (A), 17-22 % (B)", {"A": 1 << 23, "B": 1 << 25}),
    "mg": Kernel("mg.f90", "5-8 %", {"A": 256, "B": 256}),
}
CYCLES = {"A": 4, "B": 20}  # of MG, whose classes A and B have the same grid


def sized(name: str, size: str, ranks: int, folder: Path) -> list[str]:
    """Put the kernel's files of this size there; the words with which a compiler takes them."""
    folder.mkdir(parents=True)
    kernel = KERNELS[name]
    for file in NAS.glob(f"{name}.*"):
        (folder / file.name).write_bytes(file.read_bytes())
    points = kernel.points[size]
    if name == "is":
        return [f"-DTOTAL_KEYS={points}", f"-DMAX_KEY={points >> 4}", f"-DMIN_PROCS={ranks}"]
    if name == "mg":
        parts = {2: (2, 1, 1), 4: (2, 2, 1), 8: (2, 2, 2), 16: (4, 2, 2)}[ranks]
        values = dict(zip(("px", "py", "pz"), parts, strict=True))
        values |= {"n": points, "steps": CYCLES[size]}
        listed = ", ".join(f"{key} = {value}" for key, value in values.items())
        (folder / "sizes.inc").write_text(f"      parameter ({listed})\n")
        return []
    rows = {2: 2, 4: 2, 8: 4, 16: 4}[ranks]
    columns = ranks // rows
    parts = f"nx = {points // rows}, ny = {points // columns}, nz = {points}"
    text = f"      parameter ({parts})\n      parameter (px = {rows}, py = {columns}, steps = 3)\n"
    (folder / "sizes.inc").write_text(text)
    return []


def versions(
    name: str, size: str, ranks: int, folder: Path, progress: bool
) -> tuple[dict[str, Path], list[str], str]:
    """The sources by side, the words for the compiler, and how many sites are rewritten."""
    words: list[str] = []
    sides: dict[str, Path] = {}
    share = ""
    for side in ("before", "after", *(["driven"] if progress else [])):
        words = sized(name, size, ranks, folder / side)
        source = folder / side / KERNELS[name].source
        if side != "before":
            interval_s = PROGRESS_S if side == "driven" else None
            outcome = transform([source], Options(flags=words, progress_interval_s=interval_s))
            source.write_bytes(outcome.after[str(source)])
        if side == "after":
            done = sum(decision.decision == "rewritten" for decision in outcome.decisions)
            share = f"{done} of {len(outcome.decisions)}"
        sides[side] = source
    return sides, words, share


def compiled(source: Path, compilers: tuple[str, str], words: list[str]) -> Path:
    """The program of this source, by the compiler for C or that for Fortran."""
    program = source.with_suffix(".x")
    more = [*words] if source.suffix == ".c" else ["-fallow-argument-mismatch", "-w"]
    compiler = compilers[source.suffix != ".c"]
    command = [compiler, "-O2", *more, source.name, "-o", str(program)]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{source.name} does not build:\n{done.stderr}")
    return program


def simulated(ranks: int, cluster: Cluster, free: bool, file: Path) -> list[str]:
    """The beginning of the line that runs a program on such a cluster."""
    latency, bandwidth = FREE if free else (cluster.latency, cluster.bandwidth)
    file.write_text(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
        '"https://simgrid.org/simgrid.dtd">\n<platform version="4.1"><zone id="z" routing="Full">'
        f'<cluster id="c" prefix="n" suffix="" radical="0-{ranks - 1}" speed="1Gf" '
        f'bw="{bandwidth}" lat="{latency}"/></zone></platform>\n'
    )
    begin = ["smpirun", "-np", str(ranks), "-platform", str(file), "--log=root.thres:critical"]
    begin += [f"--cfg=smpi/host-speed:{1e9 * cluster.slower:.0f}"]
    # Eager messages leave before their receive is posted, as in real libraries.
    return [*begin, "--cfg=smpi/async-small-thresh:65536"]


def row(first: list[str], times: Times, paper: str) -> str:
    cells = [*first, times.seconds("before"), times.cell("after")]
    cells += [times.cell("driven")] if "driven" in times.median else []
    cells += [f"{times.gain('free'):.0f} %"] if "free" in times.median else []
    return f"| {' | '.join([*cells, paper])} |"


def on_clusters(arguments: argparse.Namespace) -> list[str]:
    lines = [
        "| kernel | sites rewritten | class | network | nodes | before | after | at most | paper |",
        "|---|---|---|---|--:|---|---|--:|---|",
    ]
    for name in arguments.kernels.split(","):
        for size in arguments.classes.split(","):
            for ranks in map(int, arguments.nodes.split(",")):
                with tempfile.TemporaryDirectory() as scratch:
                    folder = Path(scratch)
                    sides, words, share = versions(name, size, ranks, folder, False)
                    built = {
                        side: str(compiled(source, ("smpicc", "smpif90"), words))
                        for side, source in sides.items()
                    }
                    for cluster in CLUSTERS:
                        begin = simulated(ranks, cluster, False, folder / "cluster.xml")
                        free = simulated(ranks, cluster, True, folder / "free.xml")
                        runs = {side: [*begin, program] for side, program in built.items()}
                        runs["free"] = [*free, built["before"]]
                        times = in_turns(runs, arguments.pairs, simulate)
                        first = [name.upper(), share, size, cluster.name, str(ranks)]
                        lines.append(row(first, times, KERNELS[name].paper))
                        print(lines[-1], flush=True)
    return lines


def on_hosts(arguments: argparse.Namespace) -> list[str]:
    lines = [
        "| kernel | class | library | before | after | with progress calls | paper |",
        "|---|---|---|---|---|---|---|",
    ]
    with two_hosts() as network:
        for name in arguments.kernels.split(","):
            for size in arguments.classes.split(","):
                for library in LIBRARIES:
                    folder = network.folder / f"{name}.{size}.{library}"
                    sides, words, _ = versions(name, size, 2, folder, True)
                    compilers = (f"mpicc.{library}", f"mpifort.{library}")
                    begin = launcher(library, network.folder)
                    runs = {
                        side: [*begin, str(compiled(source, compilers, words))]
                        for side, source in sides.items()
                    }
                    times = in_turns(runs, arguments.pairs, network.run)
                    lines.append(row([name.upper(), size, library], times, KERNELS[name].paper))
                    print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--classes", default="A,B")
    parser.add_argument("--nodes", default="2,4,16")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--hosts", action="store_true")
    parser.add_argument("--insert", type=Path)
    arguments = parser.parse_args()
    tables = {"nas": on_clusters(arguments)} if arguments.nodes else {}
    if arguments.hosts:
        tables["nas-hosts"] = on_hosts(arguments)
    for name, lines in tables.items():
        if arguments.insert:
            insert(arguments.insert, "\n".join(lines), name)


if __name__ == "__main__":
    main()
