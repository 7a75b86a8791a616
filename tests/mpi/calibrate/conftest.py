"""Launchers of the installed MPI libraries, and one quick profile per library and setting."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import forked

from imbrex.network import MachineProfile, load

Calibrate = Callable[..., MachineProfile]


@pytest.fixture(scope="session")
def job_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Root may run Open MPI here; profiles are kept in a folder of the tests' own."""
    return {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "IMBREX_CACHE": str(tmp_path_factory.mktemp("cache")),
    }


@pytest.fixture(scope="session")
def imbrex(job_environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line, as a user does."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return forked.imbrex(words, env=job_environment, timeout=120)

    return run


@pytest.fixture(scope="session")
def printed() -> dict[tuple[str, ...], str]:
    """What the calibration of each line printed: its profile as JSON."""
    return {}


@pytest.fixture(scope="session")
def calibrated(
    imbrex: Callable[..., subprocess.CompletedProcess[str]],
    printed: dict[tuple[str, ...], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Calibrate:
    """A quick profile for a launcher line; measured once per line."""
    made: dict[tuple[str, ...], MachineProfile] = {}

    def profile(*line: str) -> MachineProfile:
        if shutil.which(line[0]) is None:
            pytest.skip(f"{line[0]} is not installed")
        if line not in made:
            file: Path = tmp_path_factory.mktemp("profile") / "machine.json"
            done = imbrex("calibrate", "--quick", "--json", "-o", str(file), "--", *line)
            assert done.returncode == 0, done.stderr
            printed[line] = done.stdout
            made[line] = load(file)
        return made[line]

    return profile
