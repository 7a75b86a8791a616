"""The simulated cluster: random programs linked with the runtime, and the network's own log."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path

import pytest

from imbrex.network.collective_bytes import moved_of_size

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[1] / "runtime"
EAGER = 65536
RANKS = 4
OPTIONS = [
    "smpi/simulate-computation:no",
    f"smpi/async-small-thresh:{EAGER}",
    f"smpi/send-is-detached-thresh:{EAGER}",
    "smpi/test:1e-6",
    "smpi/iprobe:1e-6",
    "network/model:CM02",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:0",
]


def checked(command: Sequence[object], **options: object) -> None:
    """Run a command that must succeed."""
    words = [str(argument) for argument in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{words}\n{(done.stdout + done.stderr)[-3000:]}"


@dataclass(frozen=True)
class Simulator:
    """SMPI with the runtime's static variant."""

    build: Path
    truth: Path

    def link(self, program: Path, sources: Sequence[Path], objects: Sequence[Path] = ()) -> Path:
        """Link a program with the runtime; definitions in `objects` come before the runtime's."""
        include = [RUNTIME, RUNTIME / "include", self.build]
        # SMPI declares MPI_* weak: a weak reference alone pulls nothing out of an archive.
        whole = ["-Wl,--whole-archive", self.build / "libimbrex.a", "-Wl,--no-whole-archive"]
        if objects:
            whole.insert(0, "-Wl,--allow-multiple-definition")
        checked(
            [
                "smpicc",
                "-std=gnu11",
                "-O2",
                "-g",
                *(f"-I{folder}" for folder in include),
                *sources,
                *objects,
                *whole,
                "-lm",
                "-o",
                program,
            ]
        )
        return program

    def run(
        self,
        program: Path,
        *arguments: object,
        platform: Path,
        hosts: Sequence[str],
        folder: Path,
        table: Path | None = None,
        options: Sequence[str] = OPTIONS,
    ) -> Path:
        """Run it, one rank per host; the network's log. The profile is in folder/run."""
        log, host_file = folder / "truth", folder / "hosts"
        host_file.write_text("".join(f"{host}\n" for host in hosts))
        command = [
            *("smpirun", "-np", len(hosts), "-platform", platform, "-hostfile", host_file),
            *(f"--cfg={option}" for option in options),
            *("--log=root.thres:warning", program, *arguments),
        ]
        environment = {**os.environ, "TRUTH_FILE": str(log), "LD_PRELOAD": str(self.truth)}
        environment |= {"IMBREX_DIR": str(folder / "run"), "IMBREX_TABLE": str(table or "")}
        checked(command, env=environment, cwd=folder)
        return log


@pytest.fixture(scope="session")
def simulator() -> Simulator:
    """The runtime built for SMPI, and the library that logs the network; kept in build/tests."""
    if not (shutil.which("smpicc") and shutil.which("smpirun")):
        pytest.skip("SimGrid is not installed (libsimgrid-dev)")
    folder = HERE.parents[1] / "build" / "tests" / "simgrid"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _built(folder / "runtime", folder / "truth.so")


def _built(build: Path, truth: Path) -> Simulator:
    checked(
        [
            "cmake",
            "-S",
            RUNTIME,
            "-B",
            build,
            f"-DMPI_C_COMPILER={shutil.which('smpicc')}",
            f"-DIMBREX_PYTHON={sys.executable}",
            "-DCMAKE_BUILD_TYPE=Debug",  # quick to build; its own time is not simulated
        ]
    )
    checked(["cmake", "--build", build, "--target", "imbrex_static", "-j2"])
    source = HERE / "truth.cpp"
    if not truth.exists() or truth.stat().st_mtime < source.stat().st_mtime:
        # Another worker's simulation may have it loaded.
        scratch = truth.with_suffix(f".{os.getpid()}")
        words = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", source, "-o", scratch]
        checked([*words, "-lsimgrid"])
        scratch.replace(truth)
    return Simulator(build, truth)


@pytest.fixture(scope="session")
def programs(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The random programs."""
    program = tmp_path_factory.mktemp("programs") / "programs"
    return simulator.link(program, sorted((HERE / "programs").glob("*.c")))


def table_of(
    calibration: Path, eager_slack: str = "-1 -1", classes: bool = False, waits_for: int = 0
) -> str:
    """The table that the runtime reads, from what the programs measured of the quiet network.

    Eager data leaves and comes whenever it likes; a rendezvous moves only while both sides are
    posted. X_lo is the wire's ns per byte, of a collective those of one partner's share. With
    `classes` it also says up to which size sends return before their match, and that data moves by
    itself. `waits_for`: who is claimed to have to be inside MPI (in SMPI nobody has).
    """
    lines = ["imbrex-table 1", "path inter-node"]
    collectives: dict[tuple[str, str], list[str]] = {}
    for line in calibration.read_text().splitlines():
        kind, *rest = line.split()
        if kind == "point":
            size, half = int(rest[0]), float(rest[1])
            slack = eager_slack if size < EAGER else "0 0"
            shortest = floor(half) - 2
            lines.append(f"point {size} {size} {ceil(half) + 2} {slack} {shortest}")
        elif kind == "collective":
            operation, role, size, longest = rest
            # No link is shared: the shares of the partners may move at once.
            share = floor(moved_of_size(operation, role, RANKS, int(size)) / (RANKS - 1))
            point = f"point {size} {share} {ceil(float(longest)) + 2} -1 -1"
            collectives.setdefault((operation, role), []).append(point)
    # SMPI moves what is one-sided as rendezvous messages.
    points = [f"{line.rsplit(' ', 3)[0]} 0 0" for line in lines if line.startswith("point")]
    if classes:
        always = " 1000 1000" * 4
        for size, returns in ((1, 1), (EAGER - 1, 1), (EAGER, 0), (1 << 40, 0)):
            lines.append(f"class {size} {returns}{always}")
        lines.append(f"handshake 1 {waits_for} 0 0")
    for operation in ("MPI_Put", "MPI_Get"):
        lines += [f"collective {operation} 2 any inter-node", *points]
    for (operation, role), points in collectives.items():
        lines += [f"collective {operation} 4 {role} inter-node", *points]
    return "\n".join([*lines, "end", ""])
