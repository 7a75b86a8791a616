"""Golden cases that are whole programs print the same, bit for bit, after the rewrite.

What four ranks meet with that two do not is the same for every library: it is asked with Open MPI.
What a case prints as it stands is no library's own either: it is compiled and run once, and what
becomes of it with each library is compared with that.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.mpi.lean_compiling import OF_SUFFIX

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.untimed

CASES = Path(__file__).parents[1] / "unit" / "transform" / "cases"
NAMES = [
    "anyface.c",
    "asked.f90",
    "automatic.f90",
    "axis.c",
    "behind.cpp",
    "behind.f90",
    "begun.cpp",
    "beside.c",
    "beside.f90",
    "blocks.f90",
    "bodies.cpp",
    "forces.c",
    "cannon.c",
    "chain.f90",
    "bound.f90",
    "coupled.f90",
    "constants.f90",
    "handles.f90",
    "domain.f90",
    "mesh.f90",
    "ocean.f90",
    "extended.f90",
    "outside.cpp",
    "relayed.c",
    "relayed.cpp",
    "relayed.f90",
    "real_type.c",
    "real_type.f",
    "imports.f90",
    "keywords.f90",
    "unread.c",
    "unread.f90",
    "lists.f",
    "torus.f90",
    "uneven.f90",
    "unsigned.cpp",
    "carried.c",
    "cells.c",
    "change.f90",
    "chain.f",
    "chunk.f90",
    "codes.c",
    "columns.c",
    "columns.f90",
    "components.f90",
    "concurrent.f90",
    "copies.f90",
    "open.c",
    "particles.c",
    "pieces.c",
    "ranges.f90",
    "copied.f90",
    "counted.c",
    "cube.f90",
    "faces.c",
    "fields.c",
    "flagged.c",
    "fluid.cpp",
    "grid.f90",
    "halves.c",
    "handed.c",
    "halves.f",
    "halves.f90",
    "hybrid.c",
    "hybrid.f90",
    "in_turn.f",
    "interior.c",
    "interior.f",
    "kept.c",
    "labels.f",
    "lambda.cpp",
    "lattice.c",
    "levels.c",
    "lines.f90",
    "listed.cpp",
    "lists.cpp",
    "local_size.c",
    "local_size.f90",
    "objects.f90",
    "rotated.cpp",
    "middle.c",
    "persistent.c",
    "persistent.f90",
    "restarted.c",
    "parity.c",
    "parity.f90",
    "plain.f",
    "planes.f",
    "plate.f90",
    "pipe.c",
    "private.c",
    "private.f",
    "replace.c",
    "restricted.c",
    "layered.c",
    "layered.f90",
    "replace.f",
    "residual.f90",
    "result.c",
    "returning.f90",
    "grid.cpp",
    "posted.cpp",
    "result.cpp",
    "rows.f",
    "sea.f90",
    "sequence.c",
    "sequence.cpp",
    "sequence.f90",
    "sheet.f90",
    "spinors.c",
    "wave.cpp",
    "sides.f",
    "stages.c",
    "stages.f",
    "staggered.f90",
    "associated.f90",
    "moved.f90",
    "strait.f90",
    "turns.f90",
    "templates.cpp",
    "traits.cpp",
    "requests08.f90",
    "slabs_in_turn.f90",
    "sinking.c",
    "sized.cpp",
    "sinking.f90",
    "vectors.cpp",
    "waitany.c",
    "wrapper.c",
    "wrapper.f90",
    "frames.c",
    "summa.c",
    "summa.cpp",
    "summa.f",
    "summa.f90",
]
# On two ranks some of their branches or neighbours do not occur.
WITH_NEIGHBOURS = {
    "anyface.c",
    "asked.f90",
    "automatic.f90",
    "axis.c",
    "beside.c",
    "beside.f90",
    "forces.c",
    "cannon.c",
    "chain.f90",
    "bound.f90",
    "coupled.f90",
    "constants.f90",
    "handles.f90",
    "domain.f90",
    "mesh.f90",
    "ocean.f90",
    "extended.f90",
    "outside.cpp",
    "relayed.c",
    "relayed.cpp",
    "relayed.f90",
    "real_type.c",
    "real_type.f",
    "imports.f90",
    "keywords.f90",
    "unread.c",
    "unread.f90",
    "lists.f",
    "torus.f90",
    "uneven.f90",
    "unsigned.cpp",
    "spinors.c",
    "wave.cpp",
    "cells.c",
    "change.f90",
    "chunk.f90",
    "columns.c",
    "restricted.c",
    "layered.c",
    "layered.f90",
    "columns.f90",
    "components.f90",
    "concurrent.f90",
    "copies.f90",
    "open.c",
    "ranges.f90",
    "copied.f90",
    "counted.c",
    "cube.f90",
    "faces.c",
    "fields.c",
    "grid.cpp",
    "kept.c",
    "labels.f",
    "lambda.cpp",
    "levels.c",
    "lines.f90",
    "listed.cpp",
    "lists.cpp",
    "local_size.c",
    "local_size.f90",
    "objects.f90",
    "rotated.cpp",
    "parity.c",
    "persistent.c",
    "persistent.f90",
    "restarted.c",
    "particles.c",
    "pieces.c",
    "parity.f90",
    "plate.f90",
    "posted.cpp",
    "residual.f90",
    "result.c",
    "returning.f90",
    "result.cpp",
    "rows.f",
    "sea.f90",
    "sequence.c",
    "sequence.cpp",
    "sequence.f90",
    "sheet.f90",
    "sides.f",
    "staggered.f90",
    "associated.f90",
    "moved.f90",
    "strait.f90",
    "turns.f90",
    "frames.c",
    "summa.c",
    "summa.cpp",
    "summa.f",
    "summa.f90",
    "traits.cpp",
}


@functools.cache
def rewritten(name: str) -> tuple[bytes, bytes]:
    """A case, and what becomes of it: the same for both libraries."""
    source = CASES / name
    outcome = transform([source], Options(flags=threads(source)))
    assert any(decision.decision == "rewritten" for decision in outcome.decisions)
    return outcome.before[str(source)], outcome.after[str(source)]


def threads(source: Path) -> list[str]:
    """The flags of a case whose threads compute."""
    return ["-fopenmp"] if source.stem in ("hybrid", "staggered") else []


@functools.cache
def standing(name: str, library: str, folder: Path) -> Path:
    """A case as it is, compiled: what it prints is compared with, for every library."""
    return built(name, rewritten(name)[0], library, folder / "before")


@functools.cache
def printed_before(name: str, library: str, ranks: str, folder: Path) -> list[str]:
    return printed(library, ranks, standing(name, library, folder))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("before")


def wrapper(name: str, library: str) -> str:
    words = {".c": "mpicc", ".cpp": "mpicxx"}
    return f"{words.get(Path(name).suffix, 'mpifort')}.{library}"


def built(name: str, text: bytes, library: str, folder: Path) -> Path:
    source = CASES / name
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)  # a test that is tried again
    path = folder / f"program{source.suffix}"
    path.write_bytes(text)
    # At other levels a compiler may round otherwise, as in the reductions of OpenMP.
    flags = ["-O2", *threads(source), *OF_SUFFIX[source.suffix]]
    made = subprocess.run(
        [wrapper(name, library), *flags, "-o", str(folder / "program"), str(path), "-lm"],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert made.returncode == 0, made.stderr
    return folder / "program"


def printed(library: str, ranks: str, program: Path) -> list[str]:
    done = subprocess.run(
        [f"mpirun.{library}", "-n", ranks, str(program)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_same_output(name: str, mpi: Any, tmp_path: Path, kept: Path) -> None:
    if shutil.which(wrapper(name, mpi.name)) is None:
        pytest.skip(f"{wrapper(name, mpi.name)} is not installed")
    with_open_mpi = all(
        shutil.which(command) for command in ("mpirun.openmpi", wrapper(name, "openmpi"))
    )
    reference = "openmpi" if with_open_mpi else mpi.name
    thorough = mpi.name == reference
    program = built(name, rewritten(name)[1], mpi.name, tmp_path)
    for ranks in ("2", "4") if thorough and name in WITH_NEIGHBOURS else ("2",):
        before = printed_before(name, reference, ranks, kept)
        assert before
        assert printed(mpi.name, ranks, program) == before, ranks
