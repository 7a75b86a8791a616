"""Golden cases that are whole programs print the same, bit for bit, after the rewrite.

What four ranks meet with that two do not is the same for every library: it is asked with Open MPI.
What a case prints as it stands is no library's own either: it is compiled and run once, and what
becomes of it with each library is compared with that. All of them run in few launches; one that
such a launch did not get through has its own.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.mpi import in_turn
from tests.mpi.in_turn import wrapper
from tests.mpi.lean_compiling import OF_SUFFIX

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.untimed

CASES = Path(__file__).parents[1] / "unit" / "transform" / "cases"
NAMES = [
    "anyface.c",
    "blocks.c",
    "asked.f90",
    "automatic.f90",
    "hosted.f90",
    "states.f90",
    "exchanged.cpp",
    "renewed.cpp",
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
    "generic.f90",
    "given_row.f90",
    "given_sizes.f90",
    "parts.f90",
    "views.f90",
    "bound.f90",
    "counted_members.f90",
    "coupled.f90",
    "constants.f90",
    "handles.f90",
    "divided_once.f90",
    "domain.f90",
    "mesh.f90",
    "ocean.f90",
    "extended.f90",
    "optional.f90",
    "outside.cpp",
    "chosen.c",
    "each_field.c",
    "each_field.f",
    "each_field.f90",
    "each_variable.f90",
    "chosen.f90",
    "atoms.c",
    "chunks.c",
    "chunks.f90",
    "blast.cpp",
    "jacobi_class.cpp",
    "jacobi_types.f90",
    "borders.c",
    "borders.f90",
    "ghosts.cpp",
    "packs.c",
    "callbacks.c",
    "both_ways.f90",
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
    "lone.c",
    "local_size.f90",
    "objects.f90",
    "lone_scalars.c",
    "lone_scalars.f90",
    "ranks_sums.c",
    "ranks_sums.f90",
    "guarded_wrappers.c",
    "guarded_wrappers.f90",
    "solver_sums.c",
    "redblack.c",
    "redblack.f90",
    "redblack.cpp",
    "rotated.cpp",
    "middle.c",
    "persistent.c",
    "persistent.f90",
    "restarted.c",
    "heat.c",
    "returning.c",
    "checked_codes.c",
    "handed_codes.c",
    "cleanup.c",
    "given_codes.f90",
    "leaving.c",
    "parity.c",
    "parity.f90",
    "plain.f",
    "planes.f",
    "plate.f90",
    "plate77.f",
    "pipe.c",
    "private.c",
    "private.f",
    "replace.c",
    "restricted.c",
    "layered.c",
    "layered.f90",
    "nested_vectors.cpp",
    "numbered.c",
    "pointed.c",
    "lengths.c",
    "given_lines.c",
    "row_fields.c",
    "row_globals.c",
    "row_pointers.c",
    "rows_made.cpp",
    "stepped.c",
    "stepped.f90",
    "replace.f",
    "residual.f90",
    "result.c",
    "returning.f90",
    "grid.cpp",
    "posted.cpp",
    "owned.cpp",
    "solver.cpp",
    "applied.cpp",
    "functions_applied.cpp",
    "guarded.cpp",
    "result.cpp",
    "rows.f",
    "sums_ahead.c",
    "sums_ahead.f90",
    "sea.f90",
    "selected.f90",
    "sequence.c",
    "sequence.cpp",
    "separate.f90",
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
    "refilled.f90",
    "slice.c",
    "swap_function.c",
    "under_conditions.c",
    "summa.c",
    "summa.cpp",
    "summa.f",
    "summa.f90",
]
# On two ranks some of their branches or neighbours do not occur.
WITH_NEIGHBOURS = {
    "anyface.c",
    "blocks.c",
    "asked.f90",
    "automatic.f90",
    "hosted.f90",
    "states.f90",
    "exchanged.cpp",
    "renewed.cpp",
    "axis.c",
    "beside.c",
    "beside.f90",
    "forces.c",
    "cannon.c",
    "chain.f90",
    "generic.f90",
    "given_row.f90",
    "given_sizes.f90",
    "parts.f90",
    "views.f90",
    "bound.f90",
    "counted_members.f90",
    "coupled.f90",
    "constants.f90",
    "handles.f90",
    "divided_once.f90",
    "domain.f90",
    "mesh.f90",
    "ocean.f90",
    "extended.f90",
    "optional.f90",
    "outside.cpp",
    "chosen.c",
    "each_field.c",
    "each_field.f",
    "each_field.f90",
    "each_variable.f90",
    "chosen.f90",
    "atoms.c",
    "chunks.c",
    "chunks.f90",
    "blast.cpp",
    "jacobi_class.cpp",
    "jacobi_types.f90",
    "borders.c",
    "borders.f90",
    "ghosts.cpp",
    "packs.c",
    "callbacks.c",
    "both_ways.f90",
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
    "nested_vectors.cpp",
    "numbered.c",
    "pointed.c",
    "lengths.c",
    "given_lines.c",
    "row_fields.c",
    "row_globals.c",
    "row_pointers.c",
    "rows_made.cpp",
    "stepped.c",
    "stepped.f90",
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
    "lone.c",
    "local_size.f90",
    "objects.f90",
    "lone_scalars.c",
    "lone_scalars.f90",
    "ranks_sums.c",
    "ranks_sums.f90",
    "guarded_wrappers.c",
    "guarded_wrappers.f90",
    "solver_sums.c",
    "redblack.c",
    "redblack.f90",
    "redblack.cpp",
    "rotated.cpp",
    "parity.c",
    "persistent.c",
    "persistent.f90",
    "restarted.c",
    "heat.c",
    "returning.c",
    "checked_codes.c",
    "handed_codes.c",
    "cleanup.c",
    "given_codes.f90",
    "leaving.c",
    "particles.c",
    "pieces.c",
    "parity.f90",
    "plate.f90",
    "plate77.f",
    "posted.cpp",
    "owned.cpp",
    "solver.cpp",
    "applied.cpp",
    "functions_applied.cpp",
    "guarded.cpp",
    "residual.f90",
    "result.c",
    "returning.f90",
    "result.cpp",
    "rows.f",
    "sums_ahead.c",
    "sums_ahead.f90",
    "sea.f90",
    "selected.f90",
    "sequence.c",
    "sequence.cpp",
    "separate.f90",
    "sequence.f90",
    "sheet.f90",
    "sides.f",
    "staggered.f90",
    "associated.f90",
    "moved.f90",
    "strait.f90",
    "turns.f90",
    "frames.c",
    "refilled.f90",
    "slice.c",
    "swap_function.c",
    "under_conditions.c",
    "summa.c",
    "summa.cpp",
    "summa.f",
    "summa.f90",
    "traits.cpp",
}


@functools.cache
def rewritten(name: str) -> tuple[bytes, bytes]:
    """A case, and what becomes of it: the same for both libraries.

    That it becomes what its difference says is asked in tests/unit/transform/test_cases.py, but
    not with flags of its own.
    """
    source = CASES / name
    before = source.read_bytes()
    if threads(source):
        after = transform([source], Options(flags=threads(source))).after[str(source)]
    else:
        words = ["patch", "--silent", "--output=-", str(source), f"{source}.expected.diff"]
        after = subprocess.run(words, capture_output=True, check=True).stdout
    assert after != before
    return before, after


def threads(source: Path) -> list[str]:
    """The flags of a case whose threads compute."""
    return ["-fopenmp"] if source.stem in ("hybrid", "staggered") else []


class Programs:
    """The cases of one side, as they stand or rewritten, with one library."""

    def __init__(self, library: str, side: str, folder: Path) -> None:
        self.library = library
        self._after = side == "after"
        self._folder = folder / f"{library}-{side}"
        self._built: dict[str, Path] = {}
        self._printed: dict[int, dict[Path, list[str]]] = {}

    def built(self, name: str) -> Path:
        """A case, compiled once."""
        if name not in self._built:
            source = CASES / name
            folder = self._folder / name
            folder.mkdir(parents=True, exist_ok=True)  # a test that is tried again
            path = folder / f"program{source.suffix}"
            path.write_bytes(rewritten(name)[self._after])
            # At other levels a compiler may round otherwise, as in the reductions of OpenMP.
            flags = ["-O2", *threads(source), *OF_SUFFIX[source.suffix]]
            self._built[name] = in_turn.shared_object(path, self.library, flags)
        return self._built[name]

    def printed(self, name: str, ranks: int, companions: Iterable[str]) -> list[str]:
        """What a case prints, which runs with these if it is the first of them."""
        if ranks not in self._printed:
            objects = [path for each in companions if (path := self._if_built(each)) is not None]
            folder = self._folder / f"all-{ranks}"
            self._printed[ranks] = in_turn.run(self.library, ranks, objects, folder)
        path = self.built(name)
        known = self._printed[ranks]
        if path not in known:
            known |= in_turn.run(self.library, ranks, [path], path.parent / f"alone-{ranks}")
        return known[path]

    def _if_built(self, name: str) -> Path | None:
        """None where it cannot be compiled or rewritten: its own test says why."""
        try:
            return self.built(name)
        except Exception:
            return None


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("cases")
    return functools.cache(lambda library, side: Programs(library, side, folder))


def compiles(name: str, library: str) -> bool:
    return shutil.which(wrapper(Path(name).suffix, library)) is not None


def reference_of(name: str, library: str) -> str:
    """The library with which a case as it stands is compared."""
    with_open_mpi = compiles(name, "openmpi") and shutil.which("mpirun.openmpi") is not None
    return "openmpi" if with_open_mpi else library


@pytest.mark.parametrize("name", NAMES)
def test_same_output(name: str, mpi: Any, programs: Any) -> None:
    if not compiles(name, mpi.name):
        pytest.skip(f"{wrapper(Path(name).suffix, mpi.name)} is not installed")
    reference = reference_of(name, mpi.name)
    for ranks in (2, 4) if mpi.name == reference and name in WITH_NEIGHBOURS else (2,):
        among = [n for n in NAMES if ranks == 2 or n in WITH_NEIGHBOURS]
        here = [n for n in among if compiles(n, mpi.name)]
        there = [n for n in here if reference_of(n, mpi.name) == reference]
        before = programs(reference, "before").printed(name, ranks, there)
        assert before
        assert programs(mpi.name, "after").printed(name, ranks, here) == before, ranks
