"""Let SimGrid judge replays of plain runs: predicted against simulated run time.

    python benchmarks/replay_judge.py [--apps halo,cg,...] [--ranks 16,64,256]
        [--latencies 1,8] [--bandwidths 100,1000,5000] [--insert docs/theory/predict.md]

Each app runs once in the simulator, plainly, on a network of 2 us and 1 GB/s, and leaves its call
log. From that log alone come the predictions on all networks, with EEL, G and g as a ping-pong and
a stream on each measure them. Then the app is simulated on every network. All ranks go on at the
same time behind MPI_Init, and again behind MPI_Cart_create: how far apart these let them go depends
on the network, no log says how, and programs that do nothing but communicate may remember it to
their end. Run time is from the last rank's first call thereafter to MPI_Finalize. Apps of which
SMPI is told no work only communicate. --insert puts the rows into the page's table; its other rows
stand as they are. Needs libsimgrid-dev, and gfortran for the apps in Fortran.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import predict_judge
from imbrex.profile.run import load_run
from imbrex.replay.arrays import Algorithm
from imbrex.replay.collective_messages import as_messages
from imbrex.replay.collectives import Choice, Collectives
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.farm_schedule import as_served, serves_as_it_did
from imbrex.replay.from_log import LogSchedule, schedule_from_log
from imbrex.replay.run_log import read_run_log
from page import insert, merged, standing

CALLS = Path(__file__).with_name("fortran_calls.c")
EXSCAN = Path(__file__).with_name("exscan_chain.c")
WINDOWS = str(Path(__file__).resolve().with_name("windows.c"))
FARM = str(Path(__file__).resolve().with_name("task_farm.c"))
F08 = str(Path(__file__).resolve().with_name("simulated_mpi_f08.f90"))
# With 8 or 16 ranks SMPI's MPI_Ibarrier ends on some ranks and not on others, so that the runtime
# would match calls for ever. The replay matches them itself.
UNMATCHED = "int ix_sparse_exchange(void) { return -1; }\n"
LOG_BYTES = 256 << 20
TABLE = "plain judge"
TREES = Collectives(
    {
        # As predict_judge.OPTIONS tells SMPI.
        "MPI_Allreduce": Choice(Algorithm.TREE_UP_DOWN, Algorithm.TREE_UP_DOWN),
        "MPI_Barrier": Choice(Algorithm.TREE_UP_DOWN, Algorithm.TREE_UP_DOWN),
        "MPI_Bcast": Choice(Algorithm.BINOMIAL_FROM_ROOT, Algorithm.BINOMIAL_FROM_ROOT),
        "MPI_Alltoall": Choice(Algorithm.PAIRWISE, Algorithm.PAIRWISE),
        "MPI_Exscan": Choice(Algorithm.CHAIN_SCAN, Algorithm.CHAIN_SCAN),
    }
)
OPTIONS = [
    "smpi/coll-selector:ompi",
    *(option for option in predict_judge.OPTIONS if not option.startswith("smpi/wtime")),
    "smpi/alltoall:pair",
    "smpi/alltoallv:pair",
    # The runtime waits by probing.
    "smpi/test:1e-6",
]


@dataclass(frozen=True)
class App:
    """Sources, ns per point of work, arguments by ranks, and what a look for a message takes in
    the simulator, which a program that looks for each of its messages would wait for."""

    sources: tuple[str, ...]
    arguments: dict[int, str]
    point_ns: int = 10
    look_s: float = 1e-6


def _plain(name: str) -> App:
    app = predict_judge.CATALOGUE[name]
    variant = next(iter(app.variants))
    arguments = {n: f"{words} --variant {variant}" for n, words in app.arguments.items()}
    return App(app.sources, arguments, app.point_ns)


APPS = {
    **{name: _plain(name) for name in ("halo", "cg", "wavefront")},
    "halo3d": App(
        predict_judge.CATALOGUE["halo3d"].sources,
        {n: f"--n {16 * round(n ** (1 / 3) + 0.4)} --steps 5" for n in (4, 16, 64, 256)},
        point_ns=0,
    ),
    # MPI_Alltoall, and MPI_Allreduce, MPI_Alltoall and MPI_Alltoallv in turns.
    "fft": App(
        ("fft/fft.c", "fft/fft1d.c"),
        {**dict.fromkeys((4, 16, 64), "--n 64 --steps 2"), 256: "--n 256 --steps 1"},
    ),
    "bucket": App(
        ("bucket/bucket.c",), dict.fromkeys((4, 16, 64, 256), "--log-keys 18 --iterations 3")
    ),
    "front": App(
        ("front/front.c",),
        {n: f"--planes {4 * n} --cells 2000 --steps 5" for n in (4, 16, 64, 256)},
    ),
    "ssor": App(
        ("ssor/ssor.f", "ssor/sweeps.f", "ssor/exchange.f"),
        {n: f"--n {min(12 * round(n**0.5), 96)} --nz 16 --iterations 60" for n in (4, 16, 64, 256)},
    ),
    "mg": App(
        ("common/options.f90", "mg/grids.f90", "mg/mg.f90"),
        {n: f"--n 64 --coarsest {16 if n == 256 else 8}" for n in (4, 16, 64, 256)},
    ),
    "line": App(
        ("common/options.f90", "line/blocks.f90", "line/line.f90"),
        dict.fromkeys((4, 16, 64, 256), "--n 48 --chunk 32"),
    ),
    "sweep": App(
        ("common/options.f90", F08, "sweep/sweep.f90"),
        dict.fromkeys((4, 16, 64, 256), "--n 48 --iterations 3"),
    ),
    "bossworker": App(
        ("boss/bossworker.c",),
        {n: f"--cells {round(8 * n**0.5)} --width 1e-2" for n in (4, 16, 64, 256)},
        look_s=2e-8,
    ),
    "farm": App((FARM,), {n: str(64 * n) for n in (4, 16, 64, 256)}),
    "windows": App((WINDOWS,), dict.fromkeys((4, 16, 64, 256), "post 1000 10")),
}
FORTRAN = {".f": "smpiff", ".f90": "smpif90"}
"""Compilers by suffix; with others a source is of C."""


@dataclass(frozen=True)
class Row:
    """One point: run times in s."""

    app: str
    ranks: int
    latency_us: float
    bandwidth_mb_per_s: float
    predicted_s: float
    simulated_s: float

    @property
    def error(self) -> float:
        return self.predicted_s / self.simulated_s - 1.0


def build(name: str, folder: Path, runtime: Path) -> Path:
    """The app with the runtime in it, as `imbrex run` would load it."""
    app, program = APPS[name], folder / name
    sources = [str(predict_judge.APPS / source) for source in app.sources]
    unmatched = folder / "unmatched.c"
    unmatched.write_text(UNMATCHED)
    of_fortran = any(Path(source).suffix in FORTRAN for source in sources)
    compiler = "smpif90" if of_fortran else "smpicc"
    sources += [str(unmatched), str(EXSCAN), *([str(CALLS)] if of_fortran else [])]
    words = ["-std=gnu11", "-w", f"-DAPPS_POINT_NS={app.point_ns}", *predict_judge.BEGINS]
    objects = [str(predict_judge.begins(folder))]
    for source in map(Path, sources):
        objects.append(str(folder / f"{name}-{source.stem}.o"))
        fortran = FORTRAN.get(source.suffix)
        command = [fortran, f"-I{source.parent}"] if fortran else ["smpicc", *words]
        command += ["-O2", "-g", "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, cwd=folder, check=True)
    whole = f"-Wl,--allow-multiple-definition,--whole-archive,{runtime},--no-whole-archive"
    command = [compiler, *objects, "-o", str(program), whole, "-lm", "-ldl"]
    subprocess.run(command, check=True)
    return program


def simulate(
    program: Path, arguments: list[str], ranks: int, network: tuple[float, float], run: Path
) -> None:
    """One simulated run that leaves its directory with the call log."""
    environment = os.environ | {
        "IMBREX_DIR": str(run),
        "IMBREX_KEEP_LOG": "1",
        "IMBREX_LOG": str(LOG_BYTES if ranks < 64 else LOG_BYTES // 16),
    }
    platform = predict_judge.platform(program.parent, ranks, network)
    command = ["smpirun", "-np", str(ranks), "-platform", str(platform)]
    options = [*OPTIONS, f"smpi/iprobe:{APPS[program.name].look_s}"]
    command += [
        *(f"--cfg={option}" for option in options),
        "--log=root.thres:warning",
        str(program),
    ]
    command += arguments
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=program.parent, check=False
    )
    if "verification: PASSED" not in done.stdout + done.stderr:
        sys.exit(
            f"{program.name} {arguments} on {ranks} ranks: {(done.stdout + done.stderr)[-2000:]}"
        )


def begin_ns(run: Path) -> float:
    """When the last rank makes its first call that sets nothing up, on the schedule's clock."""
    log = read_run_log(load_run(run, resolve=False))
    rest = np.flatnonzero(~log.named(frozenset(["MPI_Cart_create", "MPI_Win_create"])))
    first = rest[np.unique(log.stream[rest], return_index=True)[1]]
    return float((log.start_ns + log.records["enter_ns"][first]).max())


def measured_s(run: Path) -> float:
    """From the last rank's first call to the last rank's MPI_Finalize."""
    log = read_run_log(load_run(run, resolve=False))
    return float((log.start_ns + log.end_ns).max() - begin_ns(run)) * 1e-9


def network_of(folder: Path, point: tuple[float, float]) -> Network:
    latency_s, byte_s, gap_s = predict_judge.measured_network(point, folder)
    route = Route(
        latency_ns=latency_s * 1e9,
        byte_ns=byte_s * 1e9,
        gap_ns=gap_s * 1e9,
        eager_bytes=predict_judge.EAGER - 1,
    )
    # SMPI gives each message a flow of its own.
    # Its receives from any source take what was sent first.
    return Network(route, route, in_order=False, found_when_sent=True)


def schedule_of(run: Path) -> LogSchedule:
    return schedule_from_log(read_run_log(load_run(run, resolve=False)), TREES)


def judge(
    name: str, ranks: int, points: list[tuple[float, float]], folder: Path, runtime: Path
) -> list[Row]:
    """All networks of one app and number of ranks: latency in us, bandwidth in MB/s."""
    program = folder / name if (folder / name).exists() else build(name, folder, runtime)
    arguments = APPS[name].arguments[ranks].split()
    plain = folder / f"{name}-{ranks}-run"
    simulate(program, arguments, ranks, predict_judge.RECORDED_ON, plain)
    made = schedule_of(plain)
    replayer = Replayer(as_messages(made.schedule))
    begin = begin_ns(plain)
    recorded_on = network_of(folder, predict_judge.RECORDED_ON)
    as_it_did = serves_as_it_did(made.schedule, made.farms, recorded_on, made.measured_ns)
    farms = made.farms if as_it_did else ()
    rows = []
    for latency_us, megabytes in points:
        point = latency_us * 1e-6, megabytes * 1e6
        network = network_of(folder, point)
        served = as_served(made.schedule, farms, network)
        here = Replayer(as_messages(served)) if served else replayer
        predicted = here.run(network).run_ns - begin
        with tempfile.TemporaryDirectory(dir=folder) as there:
            simulate(program, arguments, ranks, point, Path(there) / "run")
            truth = measured_s(Path(there) / "run")
        row = Row(name, ranks, latency_us, megabytes, predicted * 1e-9, truth)
        rows.append(row)
        print(
            f"{name:<10} {ranks:>4} {latency_us:>4g} us {megabytes:>6g} MB/s predicted "
            f"{row.predicted_s:.6f} s simulated {row.simulated_s:.6f} s {row.error:+7.2%}",
            flush=True,
        )
    return rows


def table(rows: list[Row]) -> list[str]:
    """Errors by app and ranks, as the lines of a table in Markdown."""
    lines = ["| app | ranks | networks | median error | worst |", "|---|--:|--:|--:|--:|"]
    for key in dict.fromkeys((r.app, r.ranks) for r in rows):
        errors = np.array([r.error for r in rows if (r.app, r.ranks) == key])
        worst = errors[np.argmax(np.abs(errors))]
        median = float(np.median(np.abs(errors)))
        lines.append(f"| {key[0]} | {key[1]} | {len(errors)} | {median:.2%} | {worst:+.2%} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--apps", default=",".join(APPS))
    parser.add_argument("--ranks", default="16,64,256")
    parser.add_argument("--latencies", default="1,8")
    parser.add_argument("--bandwidths", default="100,1000,5000")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--insert", type=Path, help="put the rows into a page's table")
    given = parser.parse_args()
    points = [
        (float(x), float(y))
        for x in given.latencies.split(",")
        for y in given.bandwidths.split(",")
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        archive = folder / "runtime" / "libimbrex.a"
        runtime = archive if archive.exists() else predict_judge.build_runtime(folder)
        rows = [
            row
            for ranks in map(int, given.ranks.split(","))
            for name in given.apps.split(",")
            if ranks in APPS[name].arguments
            for row in judge(name, ranks, points, folder, runtime)
        ]
    print("\n".join(table(rows)))
    if given.insert:
        insert(given.insert, "\n".join(merged(standing(given.insert, TABLE), table(rows))), TABLE)


if __name__ == "__main__":
    main()
