"""The runtime in jobs of many ranks, simulated on this machine: time, memory, and what show takes.

    python benchmarks/simulated_ranks.py [--ranks 64 1024]

The mini-apps halo2d and wavefront run under SimGrid's SMPI with the runtime linked in, and bare.
Prints wall time and the largest resident memory of both (all ranks are threads of one process, so
that the difference over the ranks is what one costs), the ranks that ended, and the time of
`imbrex show` on the profile, with Python's start (`imbrex --version`) beside it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from apps import IMBREX, ROOT
from imbrex.profile.aggregate import total
from imbrex.profile.format import Ended
from imbrex.profile.run import load_run
from imbrex.profile.summary import make_sums

APPS = {
    "halo2d": ([*sorted((ROOT / "apps/halo").glob("halo2d*.c"))], "--n {side} --steps 5"),
    "wavefront": ([ROOT / "apps/wavefront/wavefront.c"], "--n 64 --nz 4 --planes 2 --sweeps 1"),
}
OPTIONS = (
    "smpi/simulate-computation:no",
    "smpi/async-small-thresh:65536",
    "smpi/send-is-detached-thresh:65536",
    "smpi/test:1e-6",
    "smpi/iprobe:1e-6",
    "smpi/coll-selector:ompi",  # the default ones take the cube of the ranks
    "network/model:CM02",
    "network/crosstraffic:0",
)
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
"""


def checked(words: list[object]) -> None:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{(done.stdout + done.stderr)[-3000:]}")


def build(folder: Path, apps: dict[str, list[Path]]) -> None:
    """Link each app, whose sources are given, with and without the runtime."""
    smpicc = shutil.which("smpicc") or sys.exit("SimGrid is not installed (libsimgrid-dev)")
    tree = folder / "runtime"
    python = f"-DIMBREX_PYTHON={sys.executable}"
    checked(["cmake", "-S", ROOT / "runtime", "-B", tree, f"-DMPI_C_COMPILER={smpicc}", python])
    checked(["cmake", "--build", tree, "--target", "imbrex_static", "-j2"])
    whole = ["-Wl,--whole-archive", tree / "libimbrex.a", "-Wl,--no-whole-archive"]
    for app, sources in apps.items():
        for name, archive in ((f"{app}-bare", []), (app, whole)):
            flags = ["-std=gnu11", "-O2", "-w", "-o", folder / name]
            checked([smpicc, *flags, *sources, *archive, "-lm"])


class Took(NamedTuple):
    """What a command needed: wall time, processor time, and the largest resident memory."""

    wall_s: float
    processor_s: float
    mib: float


def timed(words: list[object], environment: dict[str, str], folder: Path) -> Took:
    start = time.monotonic()
    process = subprocess.Popen(
        [str(w) for w in words],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        sys.exit(f"{' '.join(map(str, words))}: {status}\n{output[-3000:]}")
    processor_s = usage.ru_utime + usage.ru_stime
    return Took(time.monotonic() - start, processor_s, usage.ru_maxrss / 1024)


def simulate(folder: Path, program: str, words: str, ranks: int, run: Path) -> Took:
    platform, hosts = folder / "cluster.xml", folder / "hosts"
    platform.write_text(PLATFORM.format(last=ranks - 1))
    hosts.write_text("".join(f"n{i}\n" for i in range(ranks)))
    command: list[object] = ["smpirun", "-np", ranks, "-platform", platform, "-hostfile", hosts]
    command += [f"--cfg={option}" for option in OPTIONS]
    command += ["--log=root.thres:warning", folder / program, *words.split()]
    return timed(command, {**os.environ, "IMBREX_DIR": str(run)}, folder)


def best(words: list[object], folder: Path) -> Took:
    return min(timed(words, dict(os.environ), folder) for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 1024])
    parser.add_argument("--apps", default=",".join(APPS))
    options = parser.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    print(
        "| app | ranks | bare, s | measured, s | MiB a rank | ended | calls | show, s | start, s |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="imbrex-simulated-") as scratch:
        folder = Path(scratch)
        build(folder, {app: sources for app, (sources, _) in APPS.items()})
        for ranks in options.ranks:
            for app in options.apps.split(","):
                words = APPS[app][1].format(side=32 * round(ranks**0.5))
                run = folder / f"run-{app}-{ranks}"
                bare = simulate(folder, f"{app}-bare", words, ranks, run)
                measured = simulate(folder, app, words, ranks, run)
                profile = load_run(run, resolve=False)
                ended = int((profile.ranks["ended"] == Ended.FINALIZED).sum())
                calls = make_sums(total(profile.measures)).count
                show_s = best([IMBREX, "show", run], folder).wall_s
                start_s = best([IMBREX, "--version"], folder).wall_s
                print(
                    f"| {app} | {ranks} | {bare.wall_s:.1f} | {measured.wall_s:.1f}"
                    f" | {(measured.mib - bare.mib) / ranks:.2f} | {ended} | {calls}"
                    f" | {show_s:.2f} | {start_s:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
