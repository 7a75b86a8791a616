"""Many MPI programs in one launch: each linked as a shared object, run after each other.

See transform/in_turn.c. What one prints stays apart from what the others print, by rank.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from tests.mpi.lean_compiling import WITHOUT_BINDINGS

SOURCE = Path(__file__).parent / "transform" / "in_turn.c"
WRAPPERS = {".c": "mpicc", ".cpp": "mpicxx", ".f": "mpifort", ".f90": "mpifort"}
# Its functions are its own, whatever a library calls its own; Fortran's constants of MPI are not.
SHARED = ["-fPIC", "-shared", "-Wl,-Bsymbolic-functions"]
# Or instances of templates with one name would be one for all objects.
SHARED_CXX = [*SHARED, "-fno-gnu-unique"]
_TIME_S = 60


def wrapper(suffix: str, library: str) -> str:
    """The compiler of an MPI library for files that end so."""
    return f"{WRAPPERS[suffix]}.{library}"


def shared_object(source: Path, library: str, flags: Sequence[str]) -> Path:
    """A program, compiled in its own folder."""
    linked = source.with_suffix(".so")
    of_suffix = SHARED_CXX if source.suffix == ".cpp" else SHARED
    command = [wrapper(source.suffix, library), *flags, *of_suffix, "-o", str(linked), str(source)]
    made = subprocess.run([*command, "-lm"], capture_output=True, text=True, cwd=source.parent)
    assert made.returncode == 0, made.stderr
    return linked


def run(library: str, ranks: int, objects: Iterable[Path], folder: Path) -> dict[Path, list[str]]:
    """The sorted lines that each of these prints on all ranks.

    One that ends the job, fails, is not through in time, or leaves a message that nobody receives
    raises AssertionError where it is alone; among others it is left out, for its output to be
    asked for again.
    """
    left, found = list(objects), {}
    while left:
        printed, trouble = _launched(library, ranks, left, folder)
        found |= printed
        through = next((n for n, name in enumerate(left) if name not in printed), len(left))
        assert len(left) > 1 or not trouble, f"{left[0].parent.name}: {trouble}"
        left = left[through + 1 :]
    return found


def _launched(
    library: str, ranks: int, objects: Sequence[Path], folder: Path
) -> tuple[dict[Path, list[str]], str]:
    """What was printed by those that were through without fault, and what went wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    words = [f"mpirun.{library}", "-n", str(ranks), str(_driver(library, folder.parent))]
    trouble = ""
    try:
        done = subprocess.run(
            [*words, str(folder), *map(str, objects)],
            capture_output=True,
            text=True,
            timeout=_TIME_S + len(objects),
        )
        trouble = done.stderr if done.returncode else ""
    except subprocess.TimeoutExpired as expired:
        trouble = str(expired)
    of_ranks = [_parted(folder / f"{rank}.txt") for rank in range(ranks)]
    printed = {}
    for name in objects:
        parts = [of_rank.get(str(name)) for of_rank in of_ranks]
        if all(part is not None and part[0] == "0 0" for part in parts):
            printed[name] = sorted(line for part in parts if part for line in part[1])
        elif not trouble:
            trouble = f"main returned, and messages were left: {[p and p[0] for p in parts]}"
    return printed, trouble


def _parted(file: Path) -> dict[str, tuple[str, list[str]]]:
    """By object what its last line says of it, and the lines before."""
    found: dict[str, tuple[str, list[str]]] = {}
    lines: list[str] = []
    for line in file.read_text().splitlines() if file.exists() else []:
        if line.startswith("== "):
            result, left, name = line[3:].split(" ", 2)
            found[name] = (f"{result} {left}", lines)
            lines = []
        else:
            lines.append(line)
    return found


@cache
def _driver(library: str, folder: Path) -> Path:
    """The program that runs others, with the library's Fortran if that is there: its constants
    are then the same for all."""
    program = folder / f"in_turn.{library}"
    fortran = shutil.which(wrapper(".f", library))
    command = [fortran or wrapper(".c", library), "-w", *WITHOUT_BINDINGS, "-rdynamic"]
    command += ["-Wl,--no-as-needed", "-o", str(program), str(SOURCE), "-ldl"]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return program
