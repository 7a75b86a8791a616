"""Calls through pointers of C: the functions that each may be, where these are known.

`h->load(data, buffer)` calls one of those whose addresses the program puts into `load`. Lest one
comes there by a way that is not followed, all others whose addresses it takes, and that take as
many arguments, count as such.
"""

from __future__ import annotations

from dataclasses import replace

from imbrex.transform.analysis.points_to import PointsTo
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import UNKNOWN_MEMORY
from imbrex.transform.model.program import Program

_FUNCTION = "function:"


def name_targets(program: Program, aliases: PointsTo) -> None:
    """Replace such calls by those of all functions that they may be, of which one is made."""
    if not aliases.inside or program.unread_code:
        return
    for statement in [s for r in program.routines.values() for s in r.statements()]:
        if any(call.unknown for call in statement.calls):
            calls = (_targets(program, aliases, call) for call in statement.calls)
            statement.calls = [each for found in calls for each in found]


def _targets(program: Program, aliases: PointsTo, call: Call) -> list[Call]:
    """The calls that one may be; itself where that is not known."""
    if not call.unknown or call.held_in in ("", UNKNOWN_MEMORY):
        return [call]
    found = sorted(aliases.pointees(call.held_in))
    names = [item.removeprefix(_FUNCTION) for item in found if item.startswith(_FUNCTION)]
    if not names or len(names) < len(found):
        return [call]
    count = len(call.arguments)
    for name in names:
        routine = program.routines.get(name)
        if routine is None or routine.problem or len(routine.parameters) != count:
            return [call]
    for routine in program.routines.values():
        if routine.address_taken and len(routine.parameters) == count:
            if routine.problem:
                return [call]
            names += [] if routine.name in names else [routine.name]
    return [
        replace(call, name=name, unknown=False, picked=True, is_statement=False)
        for name in sorted(names)
    ]
