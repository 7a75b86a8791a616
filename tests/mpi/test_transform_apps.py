"""The mini-apps print the same, bit for bit, after the rewrite; what is rewritten is known."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from imbrex.transform.engine import Options, transform

APPS = Path(__file__).parents[2] / "apps"

# app: sources, options, calls and rewrites that must be among those done
CASES: dict[str, tuple[str, str, set[str]]] = {
    "fft": ("fft/*.c", "--n 16 --steps 3", {"MPI_Alltoall"}),
    "bucket": ("bucket/*.c", "--log-keys 14 --iterations 3", {"MPI_Allreduce"}),
    "halo2d": ("halo/halo2d*.c", "--variant blocking --n 64 --steps 3", {"boundary-first"}),
    "halo3d": ("halo/halo3d*.c", "--variant blocking --n 32 --steps 3", {"MPI_Sendrecv"}),
    "line": ("common/options.f90 line/*.f90", "--n 16 --chunk 32 --steps 2", {"MPI_Waitall"}),
    "ssor": ("ssor/*.f", "--n 16 --iterations 3", {"MPI_Send"}),
}


# Calls with no window: the program stays as it is.
LEFT_ALONE = {
    "mg": "common/options.f90 mg/*.f90",
    "cg": "cg/*.c",
    "sweep": "common/options.f90 sweep/*.f90",
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_nothing_to_gain(name: str) -> None:
    paths = [p for pattern in LEFT_ALONE[name].split() for p in sorted(APPS.glob(pattern))]
    outcome = transform(paths, Options(flags=["-D_GNU_SOURCE"]))
    assert outcome.after == outcome.before
    assert {d.decision for d in outcome.decisions} == {"nothing-to-gain", "refused"}


@pytest.mark.parametrize("name", CASES)
def test_same_output(name: str, mpi: Any, tmp_path: Path) -> None:
    sources, options, calls = CASES[name]
    if not sources.endswith(".c") and shutil.which(f"mpifort.{mpi.name}") is None:
        pytest.skip(f"mpifort.{mpi.name} is not installed")
    outputs = []
    for side in ("before", "after"):
        folder = tmp_path / side
        shutil.copytree(APPS, folder)
        if side == "after":
            paths = [p for pattern in sources.split() for p in sorted(folder.glob(pattern))]
            outcome = transform(paths, Options(flags=["-D_GNU_SOURCE"]))
            assert not outcome.skipped
            rewritten = [d for d in outcome.decisions if d.decision == "rewritten"]
            named = {decision.site.call.name for decision in rewritten}
            assert calls <= named | {name for decision in rewritten for name in decision.rewrites}
            for path, data in outcome.after.items():
                Path(path).write_bytes(data)
        build = folder / "build"
        command = ["make", "-C", str(folder), f"BUILD={build}", "CFLAGS=-O1", "FFLAGS=-O1"]
        command += [f"MPICC=mpicc.{mpi.name}", f"MPIFC=mpifort.{mpi.name}", name]
        made = subprocess.run(command, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        done = subprocess.run(
            [mpi.mpirun, "-n", "2", str(build / name), *options.split()],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "verification:" in done.stdout, done.stdout + done.stderr
        # So few iterations need not converge: the verdict must be the same, whatever it is.
        outputs.append((done.returncode, re.sub(r"time: *[0-9.]+ s", "time", done.stdout)))
    assert outputs[0] == outputs[1]
