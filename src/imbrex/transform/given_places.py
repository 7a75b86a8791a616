"""The calls that a user names by file and line: as typed, or as the screens of a run name them.

`imbrex run` shows a file without its folder, and as the line of a call the one to which it returns,
which of a statement of several lines may be the last.
"""

from __future__ import annotations

from pathlib import Path, PurePath

from imbrex.errors import ImbrexError
from imbrex.transform import mpi_calls
from imbrex.transform.model.program import Program
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

Place = tuple[str, int]
_MOST_LINES = 8
_MOVING = {*mpi_calls.TOLD, *mpi_calls.ORDERED, *mpi_calls.COMPLETIONS}


def parse_place(option: str, place: str, paths: list[Path]) -> Place:
    """File and line of FILE:LINE, the file by its name among `paths` where that is the only one.

    Raises ImbrexError where it is no such place, or the file is not among them.
    """
    name, _, line = place.rpartition(":")
    if not name or not line.isdigit():
        raise ImbrexError(f"{option} {place}: give it as FILE:LINE")
    names = [str(path) for path in paths]
    if name not in names:
        wanted = PurePath(name).parts
        ending = [known for known in names if PurePath(known).parts[-len(wanted) :] == wanted]
        if len(ending) > 1:
            raise ImbrexError(f"{option} {place}: which of {', '.join(ending)}?")
        if not ending:
            raise ImbrexError(f"{option} {place}: {name} is not among the files")
        name = ending[0]
    return name, int(line)


def begun_at(option: str, place: Place, program: Program) -> Place:
    """The place where the call begins that stands in a line.

    Raises ImbrexError where there is none, with the lines in which calls of that file begin.
    """
    file, line = place
    moving: set[int] = set()
    spanned: set[int] = set()
    for routine in program.routines.values():
        for statement in routine.statements() if routine.file == file else ():
            lines = {call.line for call in statement.calls if call.name.startswith("MPI_")}
            moving |= {call.line for call in statement.calls if call.name in _MOVING}
            # The line of a condition is not that of what it guards.
            last = max(lines, default=0) if statement.blocks else statement.end_line
            spanned |= {first for first in lines if first <= line <= last}
    if spanned or file in program.skipped:
        return file, max(spanned, default=line)
    found = sorted(moving)
    more = ", ..." if len(found) > _MOST_LINES else ""
    known = ", ".join(map(str, found[:_MOST_LINES])) + more
    rest = f": those of {file} are in lines {known}" if found else ""
    raise ImbrexError(f"{option} {file}:{line}: no call of MPI stands there{rest}")


def chosen(places: tuple[str, ...], paths: list[Path], options: Options) -> frozenset[Place]:
    """The places of `--only`, where calls begin."""
    given = [parse_place("--only", place, paths) for place in places]
    if not given:
        return frozenset()
    program = read_program(paths, options)
    return frozenset(begun_at("--only", place, program) for place in given)
