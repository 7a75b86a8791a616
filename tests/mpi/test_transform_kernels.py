"""Kernels in the style of well-known benchmarks and proxies print the same after the rewrite.

What is rewritten in each is a part of what must be: a site that is lost again is noticed here.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests import forked
from tests.mpi.lean_compiling import OF_SUFFIX

from imbrex.recorder.twins import twin_of
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.untimed

KERNELS = Path(__file__).parent / "transform" / "kernels"
WRAPPERS = {".c": "mpicc", ".cpp": "mpicxx", ".f": "mpifort", ".f90": "mpifort"}
# kernel: calls of MPI that are rewritten at least, and rewrites that are used at least
EXPECTED: dict[str, tuple[int, set[str]]] = {
    "cg.f90": (2, {"wrappers"}),
    "lu.f": (20, {"hoisting", "wrappers", "private-buffers", "pipelining"}),
    "is.c": (3, {"collectives"}),
    "mg.f90": (1, {"wrappers"}),
    "bt.f90": (5, {"motion", "wrappers"}),
    "jacobi.cpp": (5, {"motion"}),
    "heat.cpp": (10, {"wrappers", "motion"}),
    "planes.cpp": (7, {"wrappers", "motion"}),
    "slabs.cpp": (4, {"motion"}),
    "fields.cpp": (4, {"motion"}),
    "vcycle.cpp": (4, {"wrappers"}),
    "spmv.cpp": (3, {"nonblocking", "motion"}),
    "ring.f90": (1, {"nonblocking"}),
    "heat.f90": (9, {"wrappers", "motion"}),
    "grids.f90": (2, {"wrappers"}),
    "ocean.f90": (9, {"wrappers", "motion"}),
}
UNREAD = {"ring.f90": ["unread/blas.f"]}  # files of a kernel that are not given to `transform`


def sources() -> list[str]:
    return sorted(path.name for path in KERNELS.iterdir() if path.suffix in WRAPPERS)


@functools.cache
def rewritten(name: str) -> dict[str, bytes]:
    """What becomes of a kernel's files, by name: the same for both libraries, none where nothing is
    to be rewritten.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = shutil.copytree(KERNELS, Path(scratch) / "kernels")
        outcome = transform([folder / name], Options())
        assert not outcome.skipped
        done = [d for d in outcome.decisions if d.decision == "rewritten"]
        least, rewrites = EXPECTED.get(name, (0, set()))
        assert len(done) >= least
        assert rewrites <= {rewrite for decision in done for rewrite in decision.rewrites}
        if outcome.after == outcome.before:
            return {}
        for changed, text in outcome.after.items():
            Path(changed).write_bytes(text)
        again = transform([folder / name], Options())
        assert again.after == again.before
        return {str(Path(file).relative_to(folder)): data for file, data in outcome.after.items()}


@pytest.mark.parametrize("name", sources())
def test_same_output_and_clean(name: str, mpi: Any, tmp_path: Path) -> None:
    """On 2 and 4 ranks, and under the guard, which sees each access, on 2. What an optimizing
    compiler and four ranks show is the same for every library: with MPICH on 2.
    """
    compiler = f"{WRAPPERS[Path(name).suffix]}.{mpi.name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    thorough = mpi.name == "openmpi" or shutil.which("mpirun.openmpi") is None
    if not (changed := rewritten(name)):
        return
    folders = [shutil.copytree(KERNELS, tmp_path / side) for side in ("before", "after")]
    for file, data in changed.items():
        (folders[1] / file).write_bytes(data)
    if thorough:
        kind = {"mpicc": "cc", "mpicxx": "cxx", "mpifort": "fc"}[WRAPPERS[Path(name).suffix]]
        imbrex = [sys.executable, "-m", "imbrex.cli", kind, f"--compiler={compiler}", "-g"]
        seen = build(folders[1], name, [*imbrex, "-O2"])
        programs = [build(folders[0], name, [compiler, "-O2"]), twin_of(seen)]
    else:
        programs = [build(folder, name, [compiler, "-O0"]) for folder in folders]
    for ranks in ("2", "4") if thorough else ("2",):
        printed = [output([mpi.mpirun, "-n", ranks, str(program)]) for program in programs]
        assert printed[0] == printed[1]
        assert printed[0]
        assert all("wrong values 0" in " ".join(x.split()) for x in printed[0] if "wrong" in x)
    if not thorough:
        return
    words = ["run", "-q", "--guard", "-o", str(tmp_path / "run"), "--"]
    ran = forked.imbrex([*words, mpi.mpirun, "-n", "2", str(seen)], timeout=100)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads((tmp_path / "run" / "guard.json").read_text())
    assert found["exact"] is True
    assert found["findings"] == []


def build(folder: Path, name: str, compiler: list[str]) -> Path:
    program = folder / "program"
    command = [*compiler, *OF_SUFFIX[Path(name).suffix], "-o", str(program), name]
    command += UNREAD.get(name, [])
    made = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert made.returncode == 0, made.stderr
    return program


def output(command: list[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(done.stdout.splitlines())
