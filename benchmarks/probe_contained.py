"""How often the bounds hold what the times of both sides show, on a quiet and on a busy machine.

    python benchmarks/probe_contained.py [--load 0 1 2] [--runs 2] [--misses] [-- mpirun -n 2]
    python benchmarks/probe_contained.py --two-hosts openmpi|mpich [...]    # as root

The second form takes a network of 800 Mbit/s between two hosts. Quick probes: calibration and the
grid of work, beside so many processes that only compute. Told are per load the transfers whose
bounds (of one side's calls, with the profile of the same run) miss the truth, also as the share of
all; with --misses every one of them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network import MachineProfile, transfer_time
from imbrex.network.assemble import assemble
from imbrex.network.columns import Measurement, read_columns
from imbrex.network.exchanges import Exchange, read_exchanges
from imbrex.network.experiments import calibration
from imbrex.network.measure import run_probes
from imbrex.probe import work_overlap
from network_table import launcher
from two_hosts import Network, two_hosts

LIMIT_S = 60


@contextlib.contextmanager
def spinning(count: int) -> Iterator[None]:
    """So many processes that only compute, meanwhile."""
    words = [sys.executable, "-c", "while True: pass"]
    beside = [subprocess.Popen(words) for _ in range(count)]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


def measure(line: list[str], network: Network | None) -> Measurement:
    parsed = parse_launcher_line([*line, "imbrex-probes"])
    binary = build("probes", library_of_launcher(parsed)) / "bin" / "imbrex-probes"
    names = [*calibration(), "grid"]
    argv = [str(binary), "--quick", "--time-limit", str(LIMIT_S), "--experiments", ",".join(names)]
    if network:
        return read_columns(network.run(parsed.with_program(argv)).splitlines())
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return run_probes(parsed.with_program(argv), {**os.environ, **root}, LIMIT_S + 20)


def misses(rows: list[Exchange], profile: MachineProfile) -> list[str]:
    """A line per transfer whose bounds miss the truth."""
    found = []
    without: dict[tuple[str, str, int, str], list[Exchange]] = {}
    for x in rows:
        if max(x.sender_work_ns, x.receiver_work_ns) == 0:
            label = x.label.removesuffix("-back")
            without.setdefault((x.path, label, x.size_bytes, x.flavour), []).append(x)
    for x in rows:
        label = x.label.removesuffix("-back")
        alone = without.get((x.path, label, x.size_bytes, x.flavour), [])
        if label not in work_overlap.GRID or x.path not in profile.paths or not alone:
            continue
        point = transfer_time(profile.paths[x.path].points, x.size_bytes)
        times = work_overlap.transfer_range_ns(alone)
        for side in work_overlap.SIDES[label]:
            of = x.sender if side == "sender" else x.receiver
            low, high = (
                min(1e9 * point.x_hi_s, work_overlap.hidden_ns(x, of, time)) for time in times
            )
            bounds = work_overlap.bounds_ns(x, side, profile)
            if work_overlap.outside((low, high), bounds, x):
                found.append(
                    f"{side} {x.label} {x.size_bytes} {x.flavour}: hidden {low:.0f} to {high:.0f}, "
                    f"bounds {bounds[0]:.0f} to {bounds[1]:.0f}; X {1e9 * point.x_lo_s:.0f} to "
                    f"{1e9 * point.x_hi_s:.0f}, tail {point.tail_s}, head {point.head_s}; "
                    f"alone {times[0]:.0f} to {times[1]:.0f}; work {x.sender_work_ns:.0f} "
                    f"{x.receiver_work_ns:.0f}; error {x.clock_error_ns:.0f}; {x.sender} "
                    f"{x.receiver}"
                )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--load", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--misses", action="store_true", help="print every one")
    parser.add_argument("--two-hosts", choices=("openmpi", "mpich"), help="and which library")
    parser.add_argument("launcher", nargs="*", default=["mpirun", "-n", "2"])
    options = parser.parse_args()
    with two_hosts() if options.two_hosts else contextlib.nullcontext() as network:
        line = options.launcher
        if network:
            line = launcher(options.two_hosts, network.folder)
        print(f"{options.two_hosts or ' '.join(line)}, {options.runs} runs per load")
        print("| processes beside | transfers | bounds miss the truth |")
        print("|---|---|---|")
        count(options, line, network)


def count(options: argparse.Namespace, line: list[str], network: Network | None) -> None:
    """A row per load."""
    for load in options.load:
        transfers = missed = 0
        told: list[str] = []
        for _ in range(options.runs):
            with spinning(load):
                m = measure(line, network)
            profile = assemble(m, {}, True)
            rows = read_exchanges(m.other.get("exchange", []))
            found = work_overlap.work_overlaps(rows, profile)
            transfers += sum(o.transfers for o in found)
            missed += sum(o.outside for o in found)
            if options.misses:
                told += misses(rows, profile)
        share = 100 * missed / max(1, transfers)
        print(f"| {load} | {transfers:,} | {missed:,} ({share:.2f} %) |", flush=True)
        for text in told:
            print("   ", text)


if __name__ == "__main__":
    main()
