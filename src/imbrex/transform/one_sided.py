"""Calls of one-sided communication, which no rewrite takes: a user is told that they were seen."""

from __future__ import annotations

from imbrex import mpi_facts
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program

_ONE_SIDED = mpi_facts.of_kind("rma") | mpi_facts.of_kind("rma_sync")


def one_sided_note(program: Program) -> list[str]:
    """One line where the program has such calls, with the first of them."""
    found = sorted(
        (routine.file, call.line, call.name)
        for routine in program.routines.values()
        for statement in routine.statements()
        for call in statement.calls
        if call.name in _ONE_SIDED
    )
    if not found:
        return []
    file, line, name = found[0]
    more = f" and {len(found) - 1} more call{'s' * (len(found) > 2)}" if len(found) > 1 else ""
    stays = "stay as they are" if more else "stays as it is"
    return [
        f"{Location(file, line)}: {name}{more} of one-sided communication {stays}: no rewrite is "
        "for them; `imbrex run` says where they wait"
    ]
