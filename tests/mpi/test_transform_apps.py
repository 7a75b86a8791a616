"""The mini-apps print the same, bit for bit, after the rewrite, and are clean under the guard."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests import forked

from imbrex.recorder.twins import twin_of
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.untimed

APPS = Path(__file__).parents[2] / "apps"

# app (and variant): sources, options, calls and rewrites that must be among those done
CASES: dict[str, tuple[str, str, set[str]]] = {
    "fft": ("fft/*.c", "--n 16 --steps 3", {"MPI_Alltoall"}),
    "bucket": ("bucket/*.c", "--log-keys 14 --iterations 3", {"MPI_Allreduce"}),
    "halo2d": ("halo/halo2d*.c", "--variant blocking --n 64 --steps 3", {"boundary-first"}),
    "halo3d": ("halo/halo3d*.c", "--variant faces --n 32 --steps 3", {"boundary-first"}),
    "halo3d blocking": (
        "halo/halo3d*.c",
        "--variant blocking --n 32 --steps 3",
        {"MPI_Sendrecv", "versioning"},
    ),
    "line": ("common/options.f90 line/*.f90", "--n 16 --chunk 32 --steps 2", {"MPI_Waitall"}),
    "ssor": ("ssor/*.f", "--n 16 --iterations 3", {"MPI_Send"}),
    "sweep": ("common/options.f90 sweep/*.f90", "--n 16 --iterations 3", {"MPI_Recv", "MPI_Send"}),
    "wavefront": ("wavefront/*.c", "--n 24 --sweeps 3", {"MPI_Send"}),
}


# Calls with no window: the program stays as it is.
LEFT_ALONE = {
    "mg": "common/options.f90 mg/*.f90",
    "cg": "cg/*.c",
    "bossworker": "boss/*.c",
    "mgarmci": "armci/*.c",
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_nothing_to_gain(name: str) -> None:
    paths = [p for pattern in LEFT_ALONE[name].split() for p in sorted(APPS.glob(pattern))]
    outcome = transform(paths, Options(flags=["-D_GNU_SOURCE"]))
    assert outcome.after == outcome.before
    assert outcome.decisions
    assert {d.decision for d in outcome.decisions} <= {"nothing-to-gain", "refused"}


@functools.cache
def rewritten(name: str) -> dict[str, bytes]:
    """What becomes of an app's files, by their place in `apps`: the same for both libraries."""
    sources, _, calls = CASES[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = shutil.copytree(APPS, Path(scratch) / "apps")
        paths = [p for pattern in sources.split() for p in sorted(folder.glob(pattern))]
        outcome = transform(paths, Options(flags=["-D_GNU_SOURCE"]))
        assert not outcome.skipped
        done = [d for d in outcome.decisions if d.decision == "rewritten"]
        named = {decision.site.call.name for decision in done}
        assert calls <= named | {name for decision in done for name in decision.rewrites}
        return {str(Path(file).relative_to(folder)): data for file, data in outcome.after.items()}


@pytest.mark.parametrize("name", CASES)
def test_same_output_and_clean(name: str, mpi: Any, tmp_path: Path) -> None:
    """On 1, 2 and 4 ranks, and under the guard, which sees each access, on 2 of Open MPI: it yields
    where ranks are more than cores, and which accesses there are is the compiler's, not the
    library's. With MPICH on 2.
    """
    sources, options, _ = CASES[name]
    if not sources.endswith(".c") and shutil.which(f"mpifort.{mpi.name}") is None:
        pytest.skip(f"mpifort.{mpi.name} is not installed")
    compilers = (f"mpicc.{mpi.name}", f"mpifort.{mpi.name}")
    before, after = (shutil.copytree(APPS, tmp_path / side) for side in ("before", "after"))
    for file, data in rewritten(name).items():
        (after / file).write_bytes(data)
    if mpi.name == "openmpi":
        imbrex = f"{sys.executable} -m imbrex.cli"
        recording = tuple(
            f"{imbrex} {command} --compiler={compiler}"
            for command, compiler in zip(("cc", "fc"), compilers, strict=True)
        )
        seen = build(name, after, recording)
        programs = [build(name, before, compilers), twin_of(seen)]
    else:
        programs = [build(name, folder, compilers) for folder in (before, after)]
    for ranks in (1, 2, 4) if mpi.name == "openmpi" else (2,):
        many = ["--oversubscribe"] if mpi.name == "openmpi" and ranks > 2 else []
        line = [mpi.mpirun, *many, "-n", str(ranks)]
        outputs = [output([*line, str(program), *options.split()]) for program in programs]
        assert outputs[0] == outputs[1], ranks
    if mpi.name != "openmpi":
        return
    words = ["run", "-q", "--guard", "-o", str(tmp_path / "run"), "--", mpi.mpirun, "-n", "2"]
    ran = forked.imbrex([*words, str(seen), *options.split()], timeout=100)
    assert "verification:" in ran.stdout, ran.stdout + ran.stderr
    found = json.loads((tmp_path / "run" / "guard.json").read_text())
    assert found["exact"] is True
    assert found["transfers"] > 0
    assert found["findings"] == []


def build(name: str, folder: Path, compilers: tuple[str, ...]) -> Path:
    name = name.partition(" ")[0]
    command = ["make", "-C", str(folder), f"BUILD={folder / 'build'}", "CFLAGS=-O1 -g"]
    command += ["FFLAGS=-O1 -g", f"MPICC={compilers[0]}", f"MPIFC={compilers[1]}", name]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder / "build" / name


def output(command: list[str]) -> tuple[int, str]:
    """Exit code, and what is printed but for the times.

    So few iterations need not converge: the verdict must be the same, whatever it is.
    """
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert "verification:" in done.stdout, done.stdout + done.stderr
    return done.returncode, re.sub(r"time: *[0-9.]+ s", "time", done.stdout)
