"""How wide the bounds are with events from inside UCX, against those of the calls alone.

    python benchmarks/event_sources.py [--programs halo2d,lmp] [--rounds 3] [--insert PAGE]

Two ranks on one node, all messages over UCX's TCP transport: mini-apps over MPICH, and LAMMPS and
the HPC Challenge (where installed) over Open MPI with `pml ucx`; puts and gets in all kinds of
epochs (tests/mpi/ucx/programs/messages.c) over both. One machine profile per library,
measured here; then each program runs with both sources in turn. Widths are what is possible less
what is certain of the hidden time, over the upper bound of the transfer time; the median of the
rounds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from app_table import IMBREX, ROOT, build
from imbrex.profile.aggregate import total
from imbrex.profile.run import Run, load_run
from imbrex.profile.summary import Sums, make_sums
from page import insert

UCX_IN_OPENMPI = ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any"]
UCX_IN_OPENMPI += ["--mca", "pml_ucx_devices", "any", "--mca", "osc", "ucx"]
# name: library, words after `mpirun -n 2`; a name without / is a mini-app
PROGRAMS = {
    "halo2d": ("mpich", "halo2d --variant late-wait --n 1024 --steps 100"),
    "cg": ("mpich", "cg --variant blocking --n 200"),
    "bucket": ("mpich", "bucket --log-keys 18 --iterations 20"),
    "fft": ("mpich", "fft --n 32 --steps 20"),
    "lmp": ("openmpi", f"lmp -in {ROOT / 'apps' / 'real' / 'melt.lammps'} -log none"),
    "hpcc": ("openmpi", "hpcc"),
    "onesided": ("mpich", "messages onesided"),
    "onesided-openmpi": ("openmpi", "messages onesided"),
}
MESSAGES = ROOT / "tests" / "mpi" / "ucx" / "programs" / "messages.c"
KINDS = {
    "point to point": ("send", "recv", "start"),
    "one-sided": ("put", "get", "accumulate"),
    "collectives": ("",),
}


def environment() -> dict[str, str]:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **root, "UCX_TLS": "tcp,self"}


def launcher(library: str) -> list[str]:
    more = UCX_IN_OPENMPI if library == "openmpi" else []
    return [f"mpirun.{library}", *more, "-n", "2"]


def call(words: list[str], folder: Path) -> None:
    done = subprocess.run(
        words, env=environment(), cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def measure(name: str, events: str, machine: Path, folder: Path) -> Run:
    """One run in `folder`; ends the script if the program fails or the source is not used."""
    library, line = PROGRAMS[name]
    words = line.split()
    if (folder / words[0]).exists():
        words[0] = str(folder / words[0])
    if name == "hpcc":
        shutil.copy(ROOT / "apps" / "real" / "hpccinf.txt", folder)
    output = folder / "run"
    options = ["-q", "--force", "-o", str(output), "--machine", str(machine), "--events", events]
    call([IMBREX, "run", *options, "--", *launcher(library), *words], folder)
    run = load_run(output, resolve=False)
    if run.job.events.get("intra-node") != events:
        sys.exit(f"{name}: events {run.job.events}: {run.job.events_reason}")
    return run


def by_kind(run: Run) -> dict[str, Sums]:
    kinds: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for number, operation in enumerate(run.job.operations):
        plain = operation.removeprefix("MPI_").lower()
        kind = next(kind for kind, parts in KINDS.items() if any(p in plain for p in parts))
        kinds[kind].append(number)
    chosen = run.measures["operation"]
    path = run.measures["path"] == run.job.paths.index("intra-node")
    return {
        kind: make_sums(total(run.measures[path & sum(chosen == n for n in numbers).astype(bool)]))
        for kind, numbers in kinds.items()
    }


def width(sums: Sums) -> float:
    return (sums.overlap_max_s - sums.overlap_min_s) / sums.transfer_max_s


def table(wanted: list[str], rounds: int) -> list[str]:
    text = [
        "| program | library | operations | transfers, `call` | `ucx` | width, `call` | `ucx`"
        " | undetermined of it, `ucx` to `call` |",
        "|---|---|---|--:|--:|--:|--:|--:|",
    ]
    with tempfile.TemporaryDirectory(prefix="imbrex-events-") as scratch:
        machines: dict[str, Path] = {}
        for name in wanted:
            library, line = PROGRAMS[name]
            if shutil.which(line.split()[0]) is None and name in ("lmp", "hpcc"):
                print(f"{name} is not installed", file=sys.stderr)
                continue
            folder = Path(scratch) / library
            if library not in machines:
                build(library, folder)
                compiled = ["-O2", "-w", "-o", str(folder / "messages"), str(MESSAGES)]
                call([f"mpicc.{library}", *compiled, "-pthread"], folder)
                machines[library] = folder / "machine.json"
                words = [IMBREX, "calibrate", "-q", "--quick", "-o", str(machines[library])]
                call([*words, "--", *launcher(library)], folder)
            runs: dict[str, list[dict[str, Sums]]] = {"call": [], "ucx": []}
            for _ in range(rounds):
                for source, found in runs.items():
                    found.append(by_kind(measure(name, source, machines[library], folder)))
            for kind in KINDS:
                sides = {s: [f[kind] for f in found] for s, found in runs.items()}
                if any(not x.transfer_max_s for side in sides.values() for x in side):
                    continue
                widths = {s: statistics.median(map(width, side)) for s, side in sides.items()}
                open_s = {
                    s: statistics.median(x.overlap_max_s - x.overlap_min_s for x in side)
                    for s, side in sides.items()
                }
                text.append(
                    f"| {name} | {library} | {kind} | {sides['call'][0].transfers}"
                    f" | {sides['ucx'][0].transfers} | {100 * widths['call']:.0f} %"
                    f" | {100 * widths['ucx']:.0f} % | {open_s['ucx'] / open_s['call']:.2f} |"
                )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    text = "\n".join(table(options.programs.split(","), options.rounds))
    print(text)
    if options.insert:
        insert(options.insert, text, "event sources")


if __name__ == "__main__":
    main()
