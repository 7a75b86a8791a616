"""Builds the mini-apps with each installed MPI library and runs them."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIBRARIES = ("openmpi", "mpich")
# gcc takes MPICH's MPI_STATUSES_IGNORE for an array of no statuses
CFLAGS = "-O2 -g -Werror -Wno-stringop-overflow"


@dataclasses.dataclass(frozen=True)
class Result:
    """How one run of a program ended."""

    exit_code: int
    output: str
    errors: str

    @property
    def verdict(self) -> str:
        return self._verification()[1]

    @property
    def value(self) -> str:
        """The verification value as printed."""
        return self._verification()[2]

    def _verification(self) -> re.Match[str]:
        found = re.findall(r"^verification: .*$", self.output, re.MULTILINE)
        assert len(found) == 1, f"{self.output}\n{self.errors}"
        match = re.fullmatch(r"verification: (PASSED|FAILED) value= ?(\S+)", found[0])
        assert match is not None, found
        return match


def job_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    return {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        **(extra or {}),
    }


def launcher_words(library: str, ranks: int) -> list[str]:
    oversubscribe = ["--oversubscribe"] if library == "openmpi" and ranks > 2 else []
    return [f"mpirun.{library}", *oversubscribe, "-n", str(ranks)]


@dataclasses.dataclass(frozen=True)
class Apps:
    """The mini-apps built with one library."""

    library: str
    folder: Path

    def line(self, ranks: int, *program: str) -> list[str]:
        """The launcher line that runs an app, its first word looked up in the build folder."""
        return [*launcher_words(self.library, ranks), str(self.folder / program[0]), *program[1:]]

    def run(self, ranks: int, *program: str) -> Result:
        return execute(self.line(ranks, *program))


def execute(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = 100.0,
) -> Result:
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=job_environment(environment),
        timeout=seconds,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture(name="execute", scope="session")
def execute_fixture() -> Callable[..., Result]:
    return execute


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def apps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Apps]:
    """The mini-apps of every library that is installed."""
    built = {}
    for library in LIBRARIES:
        if shutil.which(f"mpicc.{library}") is None:
            continue
        folder = tmp_path_factory.mktemp(f"apps-{library}")
        subprocess.run(
            [
                *("make", "-s", "-j2", "-C", str(ROOT / "apps")),
                *(f"MPICC=mpicc.{library}", f"MPIFC=mpifort.{library}"),
                *(f"BUILD={folder}", f"CFLAGS={CFLAGS}"),
            ],
            check=True,
        )
        built[library] = Apps(library, folder)
    if not built:
        pytest.skip("no MPI library is installed (mpicc.openmpi, mpicc.mpich)")
    return built
