"""Random programs compute the same after the rewrite, and use no buffer that is in flight.

130 programs in C, 90 in Fortran 77, fewer with objects. Less than half are with Open MPI, whose
mpif.h takes four times as long to compile as MPICH's.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests import forked
from tests.mpi.lean_compiling import OF_SUFFIX

from imbrex.recorder.twins import twin_of

pytestmark = pytest.mark.untimed

HERE = Path(__file__).parent / "transform"
RECORDERS = {"c": "cc", "cpp": "cxx"}
WRAPPERS = {"c": "mpicc", "cpp": "mpicxx", "f": "mpifort", "f90": "mpifort"}
SEEDS = {"openmpi": (0, 50), "mpich": (50, 80)}  # the first, and how many
FORTRAN_77_SEEDS = {"openmpi": (0, 30), "mpich": (30, 60)}  # most with the mpif.h that is quick
OBJECT_SEEDS = {"openmpi": (0, 40), "mpich": (100, 25)}  # of those in Fortran with objects
CLASS_SEEDS = {"openmpi": (0, 14), "mpich": (100, 14)}  # of those in C++
# Programs in the first part of a language where that is not 10, by library: the rewriting, which
# takes most of the time then, is the same for both.
FEWER = {("c", "mpich"): 4, ("f", "mpich"): 4, ("f", "openmpi"): 6}
FEWER |= {("f90", "mpich"): 4, ("f90", "openmpi"): 4, ("cpp", "openmpi"): 6}
DRIVEN = 6  # parts that also get progress calls


@pytest.fixture(scope="module")
def batch() -> ModuleType:
    # By its own name, under which the worker processes import it too.
    sys.path.insert(0, str(HERE))
    try:
        import batch  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(HERE))
    return batch  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def workers(batch: ModuleType) -> Iterator[Any]:
    """The same for all languages and both libraries."""
    with batch.workers() as pool:
        yield pool


@pytest.fixture(scope="module", params=["c", "cpp", "f", "f90"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def compiler(language: str, mpi: Any) -> str:
    name = f"{WRAPPERS[language]}.{mpi.name}"
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(scope="module")
def parts(
    batch: ModuleType,
    workers: Any,
    language: str,
    compiler: str,
    mpi: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Any]:
    seeds = {"f": FORTRAN_77_SEEDS, "f90": OBJECT_SEEDS, "cpp": CLASS_SEEDS}
    first, count = seeds.get(language, SEEDS)[mpi.name]
    folder = tmp_path_factory.mktemp("parts")
    many = FEWER.get((language, mpi.name), batch.MANY)
    return list(batch.make_parts(workers, language, first, count, folder, DRIVEN, many))


@pytest.fixture(scope="module")
def recording(language: str, compiler: str) -> list[str]:
    """The compiler that lets every access be seen, and makes a plain twin of what it links."""
    words = [sys.executable, "-m", "imbrex.cli", RECORDERS.get(language, "fc")]
    return [*words, f"--compiler={compiler}", "-g", "-O1", *OF_SUFFIX[f".{language}"]]


@pytest.fixture(scope="module")
def guarded(
    batch: ModuleType,
    language: str,
    recording: list[str],
    parts: list[Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The rewritten programs: what lets every access be seen. Its twin is what the others run."""
    texts = {part.seeds[0]: part.after for part in parts}
    folder = tmp_path_factory.mktemp("rewritten") / "guarded"
    return Path(batch.build(recording, language, texts, folder))


def programs_in(parts: list[Any]) -> int:
    """The random programs in these parts."""
    return sum(len(part.seeds) for part in parts)


def test_a_second_run_changes_nothing(parts: list[Any], language: str) -> None:
    """With all rewrites on: what one moves may make room for another.

    Two programs of C++, or of functions around messages in C, may both have nothing to rewrite.
    """
    assert [part.seeds for part in parts if not part.empty_second_run] == []
    unchanged = [part.seeds for part in parts if part.after == part.before]
    assert len(unchanged) <= (language in ("c", "cpp"))


def test_same_results(
    batch: ModuleType,
    language: str,
    compiler: str,
    recording: list[str],
    mpi: Any,
    parts: list[Any],
    guarded: Path,
    tmp_path: Path,
) -> None:
    call_counts: Counter[str] = sum((part.calls for part in parts), Counter())
    programs = programs_in(parts)
    for kind in batch.COMMUNICATION:
        # Of objects, few collectives have a window, and half of the programs in C have none.
        assert call_counts[kind] > {"c": 0.2, "f": 0.5, "f90": 0.3}.get(language, 0.4) * programs
    build = {
        side: batch.build(
            [compiler, level, *OF_SUFFIX[f".{language}"]],
            language,
            {p.seeds[0]: getattr(p, side) for p in chosen},
            tmp_path / side,
        )
        for side, chosen, level in (("before", parts, "-O0"), ("driven", parts[:DRIVEN], "-O1"))
    }
    calls = sum(part.driven.upper().count("MPI_IPROBE(") for part in parts)
    assert calls > programs_in(parts[:DRIVEN])
    # The same objects with a layer between them and the library that spoils buffers in flight.
    shim = tmp_path / "in_flight.o"
    define = {"c": [], "cpp": ["-DCOPIED"]}.get(language, ["-DFORTRAN"])
    command = [f"mpicc.{mpi.name}", "-c", "-w", *define, str(HERE / "in_flight.c")]
    subprocess.run([*command, "-o", str(shim)], check=True)
    spoiled = tmp_path / "spoiled"
    objects = [str(path) for path in sorted(guarded.parent.glob("*.o"))]
    subprocess.run([*recording, *objects, str(shim), "-o", str(spoiled)], check=True)
    build |= {"after": twin_of(guarded), "spoiled": twin_of(spoiled)}
    outputs = {
        side: batch.results(mpi.mpirun, program, tmp_path / f"{side}.run")
        for side, program in build.items()
    }
    before = outputs["before"]
    assert before[0].count("\n") == before[1].count("\n") == 6 * programs
    assert batch.first_difference(before, outputs["after"]) == ""
    assert batch.first_difference(before, outputs["spoiled"]) == ""
    length = 6 * programs_in(parts[:DRIVEN])
    first = ["".join(text.splitlines(keepends=True)[:length]) for text in before]
    assert batch.first_difference(first, outputs["driven"]) == ""


def test_clean_under_the_guard(mpi: Any, parts: list[Any], guarded: Path, tmp_path: Path) -> None:
    """Every access of the rewritten programs is seen."""
    run = tmp_path / "run"
    command = ["run", "-q", "--guard", "-o", str(run), "--", mpi.mpirun, "-n", "2", str(guarded)]
    done = forked.imbrex(command, cwd=tmp_path, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((run / "guard.json").read_text())
    assert found["exact"] is True
    assert found["transfers"] > 2 * programs_in(parts)
    assert found["findings"] == []
