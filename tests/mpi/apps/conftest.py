"""Builds the mini-apps with each installed MPI library and runs them."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests import forked

from imbrex.network.quality import cut_short
from imbrex.network.reading import load as load_profile
from imbrex.profile.format import Ended
from imbrex.profile.run import Run, load_run

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
    seconds: float = 200.0,  # the first run builds the runtime, while others compute
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
def apps() -> dict[str, Apps]:
    """The mini-apps of every library that is installed; make keeps them while nothing changes."""
    built = {}
    for library in LIBRARIES:
        if shutil.which(f"mpicc.{library}") is None:
            continue
        folder = ROOT / "build" / "tests" / library / "apps"
        folder.mkdir(parents=True, exist_ok=True)
        with folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
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


def busy_when_calibrated(run: Run) -> bool:
    file = run.directory / "machine.json"
    return not file.exists() or cut_short(load_profile(file)) is not None


def check_invariants(run: Run) -> None:
    """What holds for every row of every measured run, and that something was measured."""
    m = run.measures
    assert m["count"].sum() > 0
    assert m["transfers"].sum() > 0
    assert m["bytes"].sum() > 0
    for name in ("overlap", "exposed"):
        low, high = m[f"{name}_min_ns"], m[f"{name}_max_ns"]
        assert np.all(low >= 0), name
        assert np.all(low <= high), name
        assert np.all(high <= m["transfer_max_ns"]), name
    assert np.all(m["transfer_min_ns"] <= m["transfer_max_ns"])
    # what is hidden for certain and what is exposed for certain are parts of one transfer time
    assert np.all(m["overlap_min_ns"] + m["exposed_min_ns"] <= m["transfer_max_ns"])
    assert np.all(m["wait_min_ns"] <= m["wait_max_ns"])
    assert np.all(m["wait_max_ns"] <= m["call_ns"])
    # On a busy machine a calibration may come to its end before the program's collectives.
    assert m["transfer_max_ns"].sum() > 0 or busy_when_calibrated(run), "nothing was calibrated"

    ranks = run.ranks
    assert sorted(ranks["rank"]) == list(range(len(ranks)))
    assert np.all(ranks["ended"] == Ended.FINALIZED)
    assert np.all(ranks["compute_ns"] > 0)
    for rank in ranks:
        mine = m[m["rank"] == rank["rank"]]
        assert mine["call_ns"].sum() == rank["call_ns"]
        assert mine["count"].sum() == rank["calls"]
        if rank["threads"] == 1:
            assert rank["call_ns"] + rank["compute_ns"] <= rank["wall_ns"] * 1.01 + 1_000_000


@pytest.fixture
def imbrex_run(tmp_path: Path) -> Callable[..., tuple[Result, Run]]:
    """Runs a launcher line under `imbrex run`; returns how it ended and what was measured."""

    def run(
        argv: Sequence[str], *, options: Sequence[str] = (), cwd: Path | None = None
    ) -> tuple[Result, Run]:
        folder = tmp_path / f"run-{len(list(tmp_path.glob('run-*')))}"
        words = ["run", "-q", "-o", str(folder), *options, "--", *argv]
        # The first run builds the runtime, while others compute.
        done = forked.imbrex(words, cwd=cwd, env=job_environment(), timeout=200)
        result = Result(done.returncode, done.stdout, done.stderr)
        assert (folder / "measures.npy").exists(), result
        measured = load_run(folder)
        check_invariants(measured)
        return result, measured

    return run
