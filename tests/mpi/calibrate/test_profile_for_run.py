"""A machine profile offered to `imbrex run`: refused for another library, told for settings."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.complaints import complaints

from imbrex.network import MachineProfile

Calibrate = Callable[..., MachineProfile]
Imbrex = Callable[..., subprocess.CompletedProcess[str]]

OPEN_MPI = ("mpirun.openmpi", "-n", "2")
TRUE = shutil.which("true") or "true"


@pytest.fixture
def profile(calibrated: Calibrate, tmp_path: Path) -> str:
    file = tmp_path / "openmpi.json"
    calibrated(*OPEN_MPI).save(file)
    return str(file)


def test_profile_of_another_library_is_refused(
    imbrex: Imbrex, profile: str, tmp_path: Path
) -> None:
    if shutil.which("mpirun.mpich") is None:
        pytest.skip("mpirun.mpich is not installed")
    run = str(tmp_path / "run")
    done = imbrex("run", "-o", run, "--machine", profile, "--", "mpirun.mpich", "-n", "2", TRUE)
    assert done.returncode == 2
    assert len(complaints(done.stderr)) == 1
    assert "measured with Open MPI" in done.stderr and "the program uses MPICH" in done.stderr
    assert "imbrex calibrate -- mpirun.mpich -n 2" in done.stderr
    assert not Path(run).exists()


def test_profile_of_other_settings_is_used_with_a_warning(
    imbrex: Imbrex, profile: str, tmp_path: Path
) -> None:
    words = ("run", "--machine", profile)
    told = "OMPI_MCA_btl=(unset), now tcp,self"
    line = (*OPEN_MPI[:1], "--mca", "btl", "tcp,self", *OPEN_MPI[1:], TRUE)
    other = imbrex(*words, "-o", str(tmp_path / "other"), "--", *line)
    assert other.returncode == 0, other.stderr
    assert told in other.stderr
    same = imbrex(*words, "-o", str(tmp_path / "same"), "--", *OPEN_MPI, TRUE)
    assert same.returncode == 0, same.stderr
    assert "measured with" not in same.stderr
