"""Let SimGrid judge predictions: predicted against simulated normalized run time.

    python benchmarks/predict_judge.py [--apps halo,halo3d,cg,wavefront] [--ranks 16,64,256]
        [--latencies 1,2,4,8] [--bandwidths 100,500,1000,5000] [--json FILE]
        [--insert docs/theory/predict.md]

Per app and number of ranks the plain variant is recorded once, in the simulator too, on a network
of 2 us and 1 GB/s. From that recording alone come the predictions of the plain variant, and of the
variants that overlap by hand, on all networks, with EEL, G and g as a ping-pong and a stream on
each measure them. Then every variant is simulated on every network. Computation takes simulated
time by the points computed (WORK in apps/common/work.h), so that the truth repeats exactly. All
ranks go on at the same time behind MPI_Init, and again behind MPI_Cart_create: how far apart these
let them go depends on the network, and nothing recorded says how. Run times are from there on, over
those on a network without latency and of endless bandwidth. Needs libsimgrid-dev.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from imbrex.network.points import NetworkPoints
from imbrex.profile.recording import load_recording
from imbrex.recorder.record import write_recording
from imbrex.replay.modes import AS_WRITTEN, BOUNDARY_FIRST, BOUNDARY_LAST
from imbrex.replay.replay import replay_s
from imbrex.replay.schedule import Schedule, make_schedule

APPS = Path(__file__).resolve().parents[1] / "apps"
RUNTIME = APPS.parent / "runtime"
FLAGS = ["-std=gnu11", "-O2", "-g", "-w", "-fsanitize=thread"]
FLAGS += [f"-fno-builtin-{name}" for name in ("memcpy", "memmove", "memset")]
EAGER = 65536
OPTIONS = [
    "smpi/simulate-computation:no",
    "smpi/wtime:0",
    f"smpi/async-small-thresh:{EAGER}",
    f"smpi/send-is-detached-thresh:{EAGER}",
    "smpi/display-timing:yes",
    # A tree in, a tree out: 2 log2(N) latencies, as the model has it.
    "smpi/allreduce:redbcast",
    "smpi/reduce:binomial",
    "smpi/bcast:binomial_tree",
    "smpi/barrier:ompi_tree",
    # No app calls these, but the runtime does at start and end: others take N^3 steps to simulate.
    "smpi/allgather:rdb",
    "smpi/gather:ompi_binomial",
    "smpi/scatter:ompi_binomial",
    "network/model:CM02",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:0",
    # With "Lazy", the default, version 3.32 leaves links above what they can carry: a message keeps
    # its rate when another begins at its receiver together with a third at that one's sender.
    "network/optim:Full",
    # Acknowledgements of TCP, a twentieth of what comes, are on no path of LogGP.
    "network/crosstraffic:no",
    # It ends events together that are less than a nanosecond apart, unless told otherwise.
    "surf/precision:1e-12",
]
RECORDED_ON = (2e-6, 1e9)
PING_PONG = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static char data[32768];
    int rank, sizes[3] = {0, 1024, 32768};
    double took[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 3; k++) {
        double start = MPI_Wtime();
        for (int i = 0; i < 20; i++)
            for (int turn = 0; turn < 2; turn++)
                if (turn == rank)
                    MPI_Send(data, sizes[k], MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
                else
                    MPI_Recv(data, sizes[k], MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        took[k] = (MPI_Wtime() - start) / 40;
    }
    double start = MPI_Wtime();
    if (rank == 0)
        MPI_Send(data, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(data, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i <= 100; i++)
        if (rank == 0)
            MPI_Recv(data, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(data, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    double stream = MPI_Wtime() - start;
    if (rank == 0)
        printf("half %.12e %.12e %.12e\n", took[0],
               (took[2] - took[1]) / (sizes[2] - sizes[1]), (stream - 2 * took[0]) / 100);
    MPI_Finalize();
    return 0;
}
"""
IDEAL = (1e-12, 1e15)
STUB = r"""
#include <mpi.h>
#include <simgrid/engine.h>
#include <stdio.h>
static void wait_until(double at_s)
{
    smpi_execute_flops(1e9 * (at_s - simgrid_get_clock()));
}
int init(int *argc, char ***argv)
{
    int result = MPI_Init(argc, argv);
    wait_until(1);
    return result;
}
int create(MPI_Comm comm, int n, const int *dims, const int *periods, int reorder, MPI_Comm *made)
{
    int result = MPI_Cart_create(comm, n, dims, periods, reorder, made);
    wait_until(2);
    return result;
}
int said_when_over(void)
{
    fprintf(stderr, "ended: %.12f\n", simgrid_get_clock());
    return MPI_Finalize();
}
"""
BEGINS = ("-DMPI_Init=init", "-DMPI_Cart_create=create", "-DMPI_Finalize=said_when_over")
_WAITED_S = 0.5
"""What an app computes without a call is less, what it waits there is more."""


@dataclass(frozen=True)
class App:
    """One mini-app: sources, ns per point, arguments by ranks, and which mode predicts a variant
    from the recording of the first."""

    sources: tuple[str, ...]
    point_ns: int
    arguments: dict[int, str]
    variants: dict[str, str]


HALO = ("", "_blocking", "_late_wait", "_overlapped", "_boundary_first")
HALO3D = ("", "_blocking", "_faces", "_late_wait", "_overlapped")
CATALOGUE = {
    "halo": App(
        tuple(f"halo/halo2d{part}.c" for part in HALO),
        10,
        {n: f"--n {96 * round(n**0.5)} --steps 10" for n in (4, 16, 64, 256)},
        {"blocking": AS_WRITTEN, "overlapped": BOUNDARY_LAST, "boundary-first": BOUNDARY_FIRST},
    ),
    "halo3d": App(
        tuple(f"halo/halo3d{part}.c" for part in HALO3D),
        10,
        {n: f"--n {size} --steps 10" for n, size in ((4, 32), (16, 48), (64, 80), (256, 128))},
        {
            "blocking": AS_WRITTEN,
            "overlapped": BOUNDARY_LAST,
        },
    ),
    "cg": App(
        ("cg/cg.c", "cg/mesh.c"),
        200,
        {
            n: f"--n {size} --tolerance 0.02"
            for n, size in ((4, 48), (16, 96), (64, 128), (256, 160))
        },
        {"separate": AS_WRITTEN, "overlapped": "independent"},
    ),
    "wavefront": App(
        ("wavefront/wavefront.c",),
        10,
        {n: f"--n {24 * round(n**0.5)} --nz 64 --planes 8 --sweeps 3" for n in (4, 16, 64, 256)},
        {"blocking": AS_WRITTEN, "overlapped": "independent"},
    ),
}


@dataclass(frozen=True)
class Row:
    """One point: normalized run times."""

    app: str
    ranks: int
    variant: str
    mode: str
    latency_us: float
    bandwidth_mb_per_s: float
    predicted: float
    simulated: float

    @property
    def error(self) -> float:
        return self.predicted / self.simulated - 1.0


def build_runtime(folder: Path) -> Path:
    """The runtime for SMPI, to be linked into programs: libimbrex.a."""
    tree = folder / "runtime"
    configure = ["cmake", "-S", str(RUNTIME), "-B", str(tree)]
    configure += [f"-DMPI_C_COMPILER={shutil.which('smpicc')}", f"-DIMBREX_PYTHON={sys.executable}"]
    build = ["cmake", "--build", str(tree), "--target", "imbrex_static", "-j2"]
    for command in (configure, build):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return tree / "libimbrex.a"


def begins(folder: Path) -> Path:
    """The object that BEGINS calls: ranks go on together behind what sets them up."""
    source, target = folder / "begins.c", folder / "begins.o"
    source.write_text(STUB)
    subprocess.run(["smpicc", "-w", "-c", str(source), "-o", str(target)], check=True)
    return target


def build(name: str, folder: Path, runtime: Path) -> Path:
    """One instrumented program with the recorder in it: it serves the simulations too."""
    app = CATALOGUE[name]
    hooks = folder / "hooks.o"
    words = ["-std=c11", "-O2", "-fPIC", "-D_GNU_SOURCE", f"-I{RUNTIME}"]
    source = RUNTIME / "access" / "hooks.c"
    subprocess.run(["gcc", *words, "-c", str(source), "-o", str(hooks)], check=True)
    objects = [str(hooks), str(begins(folder))]
    for source in app.sources:
        target = folder / (Path(source).stem + ".o")
        words = [*FLAGS, *BEGINS, f"-DAPPS_POINT_NS={app.point_ns}", "-c", str(APPS / source)]
        subprocess.run(["smpicc", *words, "-o", str(target)], check=True)
        objects.append(str(target))
    program = folder / name
    wraps = "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset"
    whole = f"-Wl,--whole-archive,{runtime},--no-whole-archive"
    command = ["smpicc", *objects, "-o", str(program), wraps, whole, "-lm", "-ldl"]
    subprocess.run(command, check=True)
    return program


def platform(folder: Path, ranks: int, network: tuple[float, float]) -> Path:
    """Hosts with a link of their own each way into a switch that is never full."""
    latency, bandwidth = network
    file = folder / f"{ranks}-{latency}-{bandwidth}.xml"
    file.write_text(
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-{ranks - 1}" '
        f'speed="1Gf" bw="{bandwidth}Bps" lat="{latency / 2}s" sharing_policy="SPLITDUPLEX"/>'
        "</platform>\n"
    )
    return file


def simulate(
    program: Path,
    arguments: list[str],
    ranks: int,
    network: tuple[float, float],
    recording: tuple[str, Path] | None = None,
) -> float:
    """Simulated run time in s from where all ranks go on; `recording` is the recorder's mode and
    directory."""
    environment = dict(os.environ)
    if recording is not None:
        environment |= {"IMBREX_ACCESS": recording[0], "IMBREX_ACCESS_DIR": str(recording[1])}
        environment["IMBREX_DIR"] = str(recording[1].parent / "run")
        # A watchpoint's trap has the machine's time, which means nothing to a simulation: taken off
        # what an interval takes in the simulator's, it would leave another rest each time.
        environment["IMBREX_ACCESS_WATCH"] = "off"
    command = ["smpirun", "-np", str(ranks), "-platform"]
    command += [str(platform(program.parent, ranks, network)), *(f"--cfg={o}" for o in OPTIONS)]
    done = subprocess.run(
        [*command, str(program), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=program.parent,
        check=False,
    )
    text = done.stdout + done.stderr
    if "verification: PASSED" not in text:
        sys.exit(f"{program.name} {' '.join(arguments)} on {ranks} ranks: {text[-2000:]}")
    # Of what the simulator says of its own time there are six digits.
    time_s = max(map(float, re.findall(r"^ended: ([0-9.]+)$", text, re.MULTILINE)))
    return time_s - int(time_s)


def measured_network(network: tuple[float, float], folder: Path) -> tuple[float, ...]:
    """EEL (s) and G (s per byte) as half a ping-pong measures them, envelopes and all, and g (s) of
    a stream of empty messages."""
    program = folder / "ping-pong"
    if not program.exists():
        source = folder / "ping-pong.c"
        source.write_text(PING_PONG)
        subprocess.run(["smpicc", "-O1", "-w", str(source), "-o", str(program)], check=True)
    command = ["smpirun", "-np", "2", "-platform", str(platform(folder, 2, network))]
    done = subprocess.run(
        [*command, *(f"--cfg={o}" for o in OPTIONS), str(program)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    )
    return tuple(map(float, done.stdout.split("half")[1].split()[:3]))


def recorded_schedule(name: str, ranks: int, program: Path) -> Schedule:
    """The plain variant of an app, recorded in the simulator."""
    app = CATALOGUE[name]
    arguments = [*app.arguments[ranks].split(), "--variant", next(iter(app.variants))]
    recorded = program.parent / f"{name}-{ranks}"
    (recorded / "raw").mkdir(parents=True)
    for mode in ("clean", "record"):
        simulate(program, arguments, ranks, RECORDED_ON, (mode, recorded / "raw"))
    write_recording(recorded)
    return _begun_together(make_schedule(load_recording(recorded)))


def _begun_together(schedule: Schedule) -> Schedule:
    """Without what ranks waited behind what sets them up."""
    operations = {
        rank: [replace(op, ns=0.0) if op.ns > _WAITED_S * 1e9 else op for op in own]
        for rank, own in schedule.operations.items()
    }
    return replace(schedule, operations=operations)


def judge(
    name: str,
    ranks: int,
    latencies: list[float],
    bandwidths: list[float],
    folder: Path,
    runtime: Path,
    known: list[Row] | None = None,
) -> list[Row]:
    """All rows of one app and number of ranks; `known` ones are not simulated again."""
    app = CATALOGUE[name]
    program = folder / name if (folder / name).exists() else build(name, folder, runtime)
    arguments = app.arguments[ranks].split()
    plain = next(iter(app.variants))
    schedule = recorded_schedule(name, ranks, program)
    nothing = float(replay_s(schedule, NetworkPoints(0.0, 0.0), AS_WRITTEN)[0])
    points = [(x * 1e-6, y * 1e6) for x in latencies for y in bandwidths]
    measured = np.array([measured_network(point, folder) for point in points])
    network = NetworkPoints(measured[:, 0], measured[:, 1], message_gap_s=measured[:, 2])
    rows = []
    truths = {
        (row.variant, row.latency_us, row.bandwidth_mb_per_s): row.simulated
        for row in known or []
        if (row.app, row.ranks) == (name, ranks)
    }
    wanted = {(variant, x, y) for variant in app.variants for x in latencies for y in bandwidths}
    base = 1.0
    if not wanted <= truths.keys():
        base = simulate(program, [*arguments, "--variant", plain], ranks, IDEAL)
    for variant, mode in app.variants.items():
        # SMPI gives each message a flow of its own.
        predicted = replay_s(schedule, network, mode, in_order=False) / nothing
        for point, value in zip(points, predicted.tolist(), strict=True):
            truth = truths.get((variant, round(point[0] * 1e6, 9), round(point[1] / 1e6, 9)))
            if truth is None:
                took = simulate(program, [*arguments, "--variant", variant], ranks, point)
                truth = took / base
            row = Row(name, ranks, variant, mode, point[0] * 1e6, point[1] / 1e6, value, truth)
            rows.append(row)
            print(
                f"{name:<10} {ranks:>4} {variant:<15} {row.latency_us:>4g} us "
                f"{row.bandwidth_mb_per_s:>6g} MB/s predicted {value:8.4f} "
                f"simulated {truth:8.4f} {row.error:+7.2%}",
                flush=True,
            )
    return rows


def table(rows: list[Row]) -> str:
    """Errors by app, ranks and variant, as Markdown."""
    lines = [
        "| app | ranks | variant | predicted as | points | simulated | median error | worst |",
        "|---|--:|---|---|--:|--:|--:|--:|",
    ]
    keys = dict.fromkeys((r.app, r.ranks, r.variant, r.mode) for r in rows)
    for key in keys:
        own = [r for r in rows if (r.app, r.ranks, r.variant, r.mode) == key]
        errors = np.array([r.error for r in own])
        worst = errors[np.argmax(np.abs(errors))]
        truth = [r.simulated for r in own]
        lines.append(
            f"| {key[0]} | {key[1]} | {key[2]} | {key[3]} | {len(own)} | "
            f"{min(truth):.2f} to {max(truth):.2f} | {np.median(np.abs(errors)):.1%} | "
            f"{worst:+.1%} |"
        )
    every = np.abs([r.error for r in rows])
    lines += [
        "",
        f"All {every.size} points: median error {np.median(every):.1%}, "
        f"{(every <= 0.1).mean():.0%} within 10 %, worst {every.max():.1%}.",
    ]
    return "\n".join(lines)


def insert(file: Path, text: str) -> None:
    """Put the table between its marks in a page."""
    page = file.read_text(encoding="utf-8")
    begin, end = "<!-- judge: begin -->", "<!-- judge: end -->"
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    file.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def main() -> None:
    """Run, print, and write what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--apps", default="halo,halo3d,cg,wavefront")
    parser.add_argument("--ranks", default="16,64,256")
    parser.add_argument("--latencies", default="1,2,4,8", help="us")
    parser.add_argument("--bandwidths", default="100,500,1000,5000", help="MB/s")
    parser.add_argument("--cfg", default="", help="more options of the simulator, by comma")
    parser.add_argument("--runtime", type=Path, help="libimbrex.a as built for SMPI [built here]")
    parser.add_argument("--json", type=Path, help="add the rows to those in this file")
    parser.add_argument(
        "--again",
        action="store_true",
        help="predict again, do not simulate what --json's rows have",
    )
    parser.add_argument("--insert", type=Path, help="write the table of --json's rows into a page")
    options = parser.parse_args()
    if not (shutil.which("smpicc") and shutil.which("smpirun")):
        sys.exit("SimGrid is not installed (libsimgrid-dev)")
    OPTIONS.extend(filter(None, options.cfg.split(",")))
    rows: list[Row] = []
    if options.json and options.json.exists():
        rows = [Row(**row) for row in json.loads(options.json.read_text())]
    latencies = [float(x) for x in options.latencies.split(",")]
    bandwidths = [float(x) for x in options.bandwidths.split(",")]
    with tempfile.TemporaryDirectory(prefix="imbrex-judge-") as scratch:
        apps = list(filter(None, options.apps.split(",")))
        runtime = options.runtime
        if apps and runtime is None:
            runtime = build_runtime(Path(scratch))
        for name in apps:
            for ranks in map(int, options.ranks.split(",")):
                new = judge(
                    name,
                    ranks,
                    latencies,
                    bandwidths,
                    Path(scratch),
                    runtime,
                    rows if options.again else None,
                )
                rows = [r for r in rows if (r.app, r.ranks) != (name, ranks)] + new
                if options.json:
                    options.json.write_text(json.dumps([vars(r) for r in rows], indent=1))
    print(table(rows))
    if options.insert:
        insert(options.insert, table(rows))


if __name__ == "__main__":
    main()
