"""Many random programs in one executable: rewritten file by file, run by one launch.

Each part is a whole program of random routines, generated and rewritten as such. Only then its main
program becomes a routine, without MPI_Init and MPI_Finalize, that a driver calls: starting two
ranks takes longer than what a hundred of these programs compute.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

sys.path.insert(0, str(Path(__file__).parent))
import generate  # type: ignore[import-not-found]
import generate_bound  # type: ignore[import-not-found]
import generate_classes  # type: ignore[import-not-found]
import generate_faces  # type: ignore[import-not-found]
import generate_grids  # type: ignore[import-not-found]
import generate_kept  # type: ignore[import-not-found]
import generate_members  # type: ignore[import-not-found]
import generate_objects  # type: ignore[import-not-found]
import generate_persistent  # type: ignore[import-not-found]
import generate_pointers  # type: ignore[import-not-found]
import generate_rows  # type: ignore[import-not-found]
import generate_steps  # type: ignore[import-not-found]
import generate_views  # type: ignore[import-not-found]
import generate_wrappers  # type: ignore[import-not-found]
from passes import passes_made_once  # type: ignore[import-not-found]

# Programs in the first part, where one's collectives are rewritten because another's are, and in
# all others: the search over preparations reads a whole part at each of its steps.
MANY, FEW = 10, 2
COMMUNICATION = frozenset({"nonblocking", "collectives", "motion"})
# Of so many parts in C one has buffers that are parts of rows or functions around messages, one
# pointers to rows, one arrays in structures, one exchanges faces, of arrays or of an object's
# fields, and one has persistent requests, as one of five in Fortran 77. In Fortran with objects one
# in four has routines that declare what they get of whole arrays, one has routines that are called
# by the types of objects, and one in eight has sizes that an object keeps. In C++ half have an
# exchange and a step as methods.
KINDS = 6
_WORKERS = 2


@dataclass(frozen=True)
class Part:
    """The texts of one whole program, each as a routine for the driver."""

    seeds: list[int]
    before: str
    after: str
    driven: str  # rewritten, with progress calls
    calls: Counter[str] = field(default_factory=Counter)  # rewritten, by rewrite
    empty_second_run: bool = True


def make_part(language: str, seeds: list[int], folder: Path, driven: bool) -> Part:
    """Generate the programs of these seeds and rewrite them; `driven` is empty if not wanted."""
    source = folder / f"part{seeds[0]}.{language}"
    turn = seeds[0] // FEW % KINDS if language == "c" and len(seeds) <= FEW else -1
    if turn == 0 and seeds[0] // FEW // KINDS % 2:
        source.write_text(generate_wrappers.source(seeds))
    elif turn == 0:
        source.write_text(generate_rows.source(seeds))
    elif turn == 1:
        source.write_text(generate_pointers.source(seeds))
    elif turn == 2:
        source.write_text(generate_grids.source(seeds))
    elif turn == 4 and seeds[0] // FEW // KINDS % 2:
        source.write_text(generate_members.source(seeds))
    elif turn == 4:
        source.write_text(generate_faces.source(seeds))
    elif turn == 5:
        source.write_text(generate_persistent.c_source(seeds))
    elif language == "c":
        source.write_text(generate.c_source(seeds))
    elif language == "cpp" and len(seeds) <= FEW and seeds[0] // FEW % 2 == 0:
        source.write_text(generate_steps.source(seeds))
    elif language == "cpp":
        source.write_text(generate_classes.source(seeds))
    elif language == "f90" and len(seeds) <= FEW and seeds[0] // FEW % 4 == 2:
        source.write_text(generate_views.source(seeds))
    elif language == "f90" and len(seeds) <= FEW and seeds[0] // FEW % 4 == 0:
        source.write_text(generate_bound.source(seeds))
    elif language == "f90" and len(seeds) <= FEW and seeds[0] // FEW % 8 == 1:
        source.write_text(generate_kept.source(seeds))
    elif language == "f90":
        source.write_text(generate_objects.source(seeds))
    elif len(seeds) <= FEW and seeds[0] // FEW % 5 == 3:
        source.write_text(generate_persistent.fortran_source(seeds, str(seeds[0])))
    else:
        source.write_text(generate.fortran_source(seeds, str(seeds[0])))
    with passes_made_once():
        outcome = transform([source], Options())
        text = outcome.after[str(source)]
        again = transform([source], Options(contents={source: text})).after[str(source)]
    calls = [d for d in outcome.decisions if d.decision == "rewritten"]
    with_progress = b""
    if driven:
        options = Options(rewrites=COMMUNICATION, progress_interval_s=2e-6)
        with_progress = transform([source], options).after[str(source)]
    return Part(
        seeds,
        routine(source.read_text(), language, seeds[0]),
        routine(text.decode(), language, seeds[0]),
        routine(with_progress.decode(), language, seeds[0]) if driven else "",
        Counter(name for decision in calls for name in decision.rewrites),
        again == text,
    )


def workers() -> ProcessPoolExecutor:
    """Processes that make two parts at a time; until their end they keep what they have imported,
    and headers that they have read.
    """
    return ProcessPoolExecutor(_WORKERS, mp_context=get_context("spawn"))


def make_parts(
    pool: Executor,
    language: str,
    first: int,
    programs: int,
    folder: Path,
    driven: int = 0,
    many: int = MANY,
) -> list[Part]:
    """Parts, made by the `workers`; the first `driven` of them also get progress calls.

    The first one has `many` programs.
    """
    seeds = list(range(first, first + programs))
    rest = seeds[many:]
    groups = [seeds[:many], *(rest[n : n + FEW] for n in range(0, len(rest), FEW))]
    made = [
        pool.submit(make_part, language, seeds, folder, number < driven)
        for number, seeds in enumerate(groups)
    ]
    return [future.result() for future in made]


def routine(text: str, language: str, number: int) -> str:
    """A program as a routine of the driver's. No other byte of it changes."""
    if language in ("c", "cpp"):
        renamed = f"#define main part{number}\n#define MPI_Init(a, b) ((void)(a), (void)(b))\n"
        renamed += "#define MPI_Finalize() fflush(stdout)\n"
        include = "#include <mpi.h>\n"
        assert text.count(include) == 1
        return text.replace(include, include + renamed)
    text = text.replace("end program random", f"end subroutine part{number}")
    for old, new in (
        ("program random", f"subroutine part{number}"),
        ("call MPI_INIT(ierr)", "continue"),
        ("call MPI_FINALIZE(ierr)", "close(6)"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def driver(language: str, numbers: Sequence[int]) -> str:
    """The main program that calls the parts of these numbers in turn."""
    if language in ("c", "cpp"):
        declared = "\n".join(f"int part{n}(int, char **);" for n in numbers)
        calls = "\n".join(f"    failed += part{n}(argc, argv);" for n in numbers)
        return (
            f"#include <mpi.h>\n{declared}\nint main(int argc, char **argv)\n{{\n"
            f"    int failed = 0;\n    MPI_Init(&argc, &argv);\n{calls}\n"
            "    MPI_Finalize();\n    return failed != 0;\n}\n"
        )
    calls = "\n".join(f"      call part{n}" for n in numbers)
    return (
        "      program batch\n      implicit none\n      include 'mpif.h'\n      integer ierr\n"
        f"      call MPI_INIT(ierr)\n{calls}\n      call MPI_FINALIZE(ierr)\n      end\n"
    )


def build(
    compiler: list[str], language: str, texts: dict[int, str], folder: Path, *extra: str
) -> Path:
    """One executable of these parts, compiled by two compilers at a time.

    Raises CalledProcessError where a part does not compile.
    """
    folder.mkdir()
    sources = [folder / f"part{number}.{language}" for number in texts]
    for source, text in zip(sources, texts.values(), strict=True):
        source.write_text(text)
    main = folder / f"driver.{language if language == 'cpp' else language[0]}"
    main.write_text(driver(language, list(texts)))
    sources.append(main)

    def compile_all(chosen: list[Path]) -> None:
        command = [*compiler, "-c", "-w", *map(str, chosen)]
        subprocess.run(command, check=True, cwd=folder, timeout=300)

    with ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(compile_all, [sources[n::_WORKERS] for n in range(_WORKERS)]))
    objects = [str(source.with_suffix(".o")) for source in sources]
    program = folder / "program"
    command = [*compiler, *objects, *extra, "-o", str(program)]
    subprocess.run(command, check=True, cwd=folder, timeout=300)
    return program


def results(mpirun: str, program: Path, folder: Path) -> list[str]:
    """What each of two ranks wrote to its own file: lines on one standard output may be torn."""
    folder.mkdir()
    answer = subprocess.run(
        [mpirun, "-n", "2", str(program)], cwd=folder, capture_output=True, text=True, timeout=120
    )
    if answer.returncode:
        raise RuntimeError(f"{program} fails:\n{answer.stdout[-2000:]}{answer.stderr[-2000:]}")
    return [(folder / f"rank{rank}.txt").read_text() for rank in (0, 1)]


def first_difference(before: list[str], after: list[str]) -> str:
    """The first line that differs, which names the seed; empty where all are the same."""
    for one, other in zip(before, after, strict=True):
        if one == other:
            continue
        lines = zip(one.splitlines(), other.splitlines(), strict=False)
        return next((f"{a!r} became {b!r}" for a, b in lines if a != b), "lines are missing")
    return ""
