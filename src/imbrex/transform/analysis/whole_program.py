"""Whether all code of a program is seen: what a file that is not given does is not known."""

from __future__ import annotations

from imbrex.transform.analysis.library import Libraries
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language


def incomplete(program: Program) -> Reason | None:
    """Why not all files of the program are known."""
    if program.skipped:
        return Reason(ReasonKind.FILE_UNREAD(), Location(next(iter(program.skipped)), 1))
    if program.hidden_code:
        hidden = program.hidden_code[0]
        return Reason(ReasonKind.HIDDEN_CODE(cause=hidden.cause), hidden.location)
    if not program.has_main:
        return Reason(ReasonKind.NO_MAIN(), Location(next(iter(program.files), ""), 1))
    return None


def unseen_code(
    program: Program, libraries: Libraries, sharing: tuple[str, ...] = ()
) -> Reason | None:
    """Why code may run that is not among the files.

    `sharing`: beginnings of names of MPI functions that count as such code.
    """
    unknown = incomplete(program)
    if unknown is not None:
        return unknown
    if program.not_analysed:
        for place, first in program.hidden_calls():
            if not program.not_analysed[place, first].idle:
                return Reason(program.not_analysed[place, first].reason.cause, place)
    for routine in program.routines.values():
        source = program.files.get(routine.file)
        fortran = source is not None and source.language is not Language.C
        for statement in routine.statements():
            for call in statement.calls:
                place = Location(routine.file, call.line)
                if sharing and call.name.startswith(sharing):
                    return Reason(ReasonKind.PROGRAM_USES(name=call.name), place)
                if call.unknown:
                    if fortran:
                        return Reason(ReasonKind.DUMMY_MAY_MATCH(), place)
                elif not _known(program, libraries, call, routine.file):
                    return Reason(ReasonKind.UNREAD_MAY_MATCH(routine=call.name), place)
    for target, _, source_name in program.pointer_facts:
        name = source_name.removeprefix("function:")
        is_function = target in ("address", "made") and name != source_name
        if is_function and not _seen(program, libraries, name, ""):
            where = next(iter(program.files))
            made = target == "made"
            kind = ReasonKind.UNREAD_MAY_MATCH if made else ReasonKind.UNREAD_POINTER
            return Reason(kind(routine=name), Location(where, 1))
    return None


def _known(program: Program, libraries: Libraries, call: Call, file: str) -> bool:
    if call.name.startswith("MPI_") or call.library:
        return True
    return _seen(program, libraries, call.name, file)


def _seen(program: Program, libraries: Libraries, name: str, file: str) -> bool:
    """Whether the code of a routine is known, or it is one of a library that calls no MPI."""
    return (
        program.callee(name, file) is not None
        or program.written_in_c(name, file) is not None
        or libraries.of(file).calls_no_mpi(name)
        or name.startswith(("__builtin_", "MPI_"))
    )
