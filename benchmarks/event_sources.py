"""How wide the bounds are with events from inside UCX, against those of the calls alone.

    python benchmarks/event_sources.py [--programs halo2d,lmp] [--rounds 3] [--insert PAGE]

Two ranks on one node, all messages over UCX's TCP transport: mini-apps over MPICH, and LAMMPS and
the HPC Challenge (where installed) over Open MPI with `pml ucx`; puts and gets in all kinds of
epochs (tests/mpi/ucx/programs/messages.c) and of a halo exchange (onesided_halo.c) over both, and
over shared memory where UCX carries it. One machine profile per library and transport,
measured here; then each program runs with both sources in turn. Widths are what is possible less
what is certain of the hidden time, over the upper bound of the transfer time; the median of the
rounds. Two tables: messages and collectives (by size), and one-sided operations each for itself.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from apps import IMBREX, ROOT, build
from imbrex.profile.aggregate import total
from imbrex.profile.run import Run, load_run
from imbrex.profile.summary import Sums, make_sums
from page import insert

UCX_IN_OPENMPI = ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any"]
UCX_IN_OPENMPI += ["--mca", "pml_ucx_devices", "any", "--mca", "osc", "ucx"]
# With UCX's own limit Open MPI sends up to 256 KiB eagerly here, MPICH up to 8 KiB.
TCP, RENDEZVOUS, SHARED = "tcp", "tcp, rendezvous from 8 KiB", "shm"
SETTINGS = {
    TCP: {"UCX_TLS": "tcp,self"},
    RENDEZVOUS: {"UCX_TLS": "tcp,self", "UCX_RNDV_THRESH": "8192"},
    SHARED: {"UCX_TLS": "shm,self"},
}
REAL = ROOT / "apps" / "real"
# name: library, transport, words after `mpirun -n 2`; a name without / is a mini-app
PROGRAMS = {
    "halo2d": ("mpich", TCP, "halo2d --variant late-wait --n 1024 --steps 100"),
    "cg": ("mpich", TCP, "cg --variant blocking --n 200"),
    "bucket": ("mpich", TCP, "bucket --log-keys 18 --iterations 20"),
    "fft": ("mpich", TCP, "fft --n 32 --steps 20"),
    **{
        f"{name}; {transport}": ("openmpi", transport, words)
        for transport in (TCP, RENDEZVOUS)
        for name, words in (
            ("lmp, melt", f"lmp -in {REAL / 'melt.lammps'} -log none"),
            ("lmp, salt", f"lmp -in {REAL / 'salt.lammps'} -log none"),
            ("hpcc", "hpcc"),
        )
    },
}
HALO = ("fence", "flush", "polled", "request", "get")
ONE_SIDED = {
    f"{words} {library} {transport}": (library, transport, words)
    for library, transport in (("mpich", TCP), ("openmpi", TCP), ("openmpi", SHARED))
    for words in ("messages onesided", *(f"onesided_halo {variant}" for variant in HALO))
}
SOURCES = {
    "messages": ROOT / "tests" / "mpi" / "ucx" / "programs" / "messages.c",
    "onesided_halo": ROOT / "benchmarks" / "onesided_halo.c",
}
RMA = ("Put", "Rput", "Get", "Rget", "Accumulate")
HPCC_N = 2000  # large enough that its Fourier transform sends messages of all sizes
# Size classes from 4 KiB and from 64 KiB on. The calls count all blocks of an all-to-all, UCX each:
# what one has in one class and the other in the next is told, and in no row.
SMALL, LARGE = 12, 16
COLLECTIVES = {
    "below 4 KiB": range(-1, SMALL),
    "4 to 64 KiB": range(SMALL, LARGE),
    "64 KiB and more": range(LARGE, 64),
}
ALL_SIZES = "collectives, all sizes"
# Parts of the names, the first that fit; collectives are the rest.
PARTS = {
    "point to point": ("send", "recv", "start"),
    **{f"MPI_{name}": (f"={name.lower()}",) for name in RMA},
}
KINDS = (*PARTS, *(f"collectives, {size}" for size in COLLECTIVES), ALL_SIZES)


def environment(transport: str) -> dict[str, str]:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **root, **SETTINGS[transport]}


def launcher(library: str) -> list[str]:
    more = UCX_IN_OPENMPI if library == "openmpi" else []
    return [f"mpirun.{library}", *more, "-n", "2"]


def call(words: list[str], folder: Path, transport: str = TCP) -> None:
    done = subprocess.run(
        words, env=environment(transport), cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def measure(name: str, events: str, machine: Path, folder: Path) -> Run:
    """One run in `folder`; ends the script if the program fails or the source is not used."""
    library, transport, line = {**PROGRAMS, **ONE_SIDED}[name]
    words = line.split()
    if (folder / words[0]).exists():
        words[0] = str(folder / words[0])
    if words[0] == "hpcc":
        text = (REAL / "hpccinf.txt").read_text()
        (folder / "hpccinf.txt").write_text(text.replace("\n500 ", f"\n{HPCC_N} "))
    output = folder / "run"
    options = ["-q", "--force", "-o", str(output), "--machine", str(machine), "--events", events]
    call([IMBREX, "run", *options, "--", *launcher(library), *words], folder, transport)
    run = load_run(output, resolve=False)
    if run.job.events.get("intra-node") != events:
        sys.exit(f"{name}: events {run.job.events}: {run.job.events_reason}")
    return run


def kind_of(operation: str, size_class: int) -> str:
    plain = operation.removeprefix("MPI_").lower()
    for kind, parts in PARTS.items():
        if any(part in f"={plain}" for part in parts):
            return kind
    return next(f"collectives, {size}" for size, of in COLLECTIVES.items() if size_class in of)


def by_kind(run: Run) -> dict[str, Sums]:
    here = run.measures[run.measures["path"] == run.job.paths.index("intra-node")]
    row_kinds = np.array(
        [
            kind_of(run.job.operations[operation], size_class)
            for operation, size_class in here[["operation", "size_class"]].tolist()
        ]
    )
    sums = {kind: make_sums(total(here[row_kinds == kind])) for kind in KINDS}
    collectives = here[np.char.startswith(row_kinds, "collectives")]
    return {**sums, ALL_SIZES: make_sums(total(collectives))}


def width(sums: Sums) -> float:
    return (sums.overlap_max_s - sums.overlap_min_s) / sums.transfer_max_s


@dataclass
class Bench:
    """Programs and machine profiles in a folder, made on first use."""

    scratch: Path

    def folder(self, library: str, transport: str) -> tuple[Path, Path]:
        """Of a library, with its mini-apps and programs; and a profile over this transport."""
        folder = self.scratch / library
        if not folder.exists():
            build(library, folder)
            for name, source in SOURCES.items():
                compiled = ["-O2", "-w", "-o", str(folder / name), str(source), "-pthread"]
                call([f"mpicc.{library}", *compiled], folder)
        machine = folder / f"machine-{transport.replace(' ', '-')}.json"
        if not machine.exists():
            words = [IMBREX, "calibrate", "-q", "--quick", "-o", str(machine), "--"]
            call([*words, *launcher(library)], folder, transport)
        return folder, machine

    def lines(self, name: str, rounds: int) -> list[str]:
        """The rows of one program, by kind of operation."""
        library, transport, line = {**PROGRAMS, **ONE_SIDED}[name]
        folder, machine = self.folder(library, transport)
        runs: dict[str, list[dict[str, Sums]]] = {"call": [], "ucx": []}
        for _ in range(rounds):
            for source, found in runs.items():
                found.append(by_kind(measure(name, source, machine, folder)))
        text = []
        for kind in KINDS:
            sides = {s: [f[kind] for f in found] for s, found in runs.items()}
            if (name in ONE_SIDED) != (kind.removeprefix("MPI_") in RMA):
                continue
            seen_by = [s for s, side in sides.items() if all(x.transfer_max_s for x in side)]
            if len(seen_by) < len(sides):
                if seen_by:
                    print(f"{name}: {kind}: {seen_by[0]} alone has any", file=sys.stderr)
                continue
            widths = {s: statistics.median(map(width, side)) for s, side in sides.items()}
            open_s = {
                s: statistics.median(x.overlap_max_s - x.overlap_min_s for x in side)
                for s, side in sides.items()
            }
            left = open_s["ucx"] / open_s["call"] if open_s["call"] else 1.0
            text.append(
                f"| {' '.join(line.split()[:2]) if name in ONE_SIDED else name.split('; ')[0]}"
                f" | {library}, {transport} | {kind} | {sides['call'][0].transfers}"
                f" | {sides['ucx'][0].transfers} | {100 * widths['call']:.0f} %"
                f" | {100 * widths['ucx']:.0f} % | {left:.2f} |"
            )
            print(text[-1], file=sys.stderr, flush=True)
        return text


def table(bench: Bench, wanted: list[str], rounds: int) -> list[str]:
    text = [
        "| program | library | operations | transfers, `call` | `ucx` | width, `call` | `ucx`"
        " | undetermined of it, `ucx` to `call` |",
        "|---|---|---|--:|--:|--:|--:|--:|",
    ]
    for name in wanted:
        command = PROGRAMS[name][2].split()[0] if name in PROGRAMS else ""
        if command in ("lmp", "hpcc") and shutil.which(command) is None:
            print(f"{command} is not installed", file=sys.stderr)
            continue
        text += bench.lines(name, rounds)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = {**PROGRAMS, **ONE_SIDED}
    parser.add_argument("--programs", default=",".join(known), help="separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="a folder for programs and profiles, used again")
    parser.add_argument("--insert", type=Path, help="the page that gets the tables")
    options = parser.parse_args()
    chosen = [n for n in known if any(n.startswith(w) for w in options.programs.split(","))]
    with tempfile.TemporaryDirectory(prefix="imbrex-events-") as scratch:
        bench = Bench((options.keep or Path(scratch)).resolve())
        for mark, group in (("event sources", PROGRAMS), ("one-sided sources", ONE_SIDED)):
            names = [name for name in chosen if name in group]
            if not names:
                continue
            text = "\n".join(table(bench, names, options.rounds))
            print(text)
            if options.insert:
                insert(options.insert, text, mark)


if __name__ == "__main__":
    main()
