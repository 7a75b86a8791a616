"""Functions of C that do nothing but exchange two pointers: `swap(&u, &unew);`.

Such a call counts as the exchange itself, as if `t = u; u = unew; unew = t;` stood there: no other
code gets the addresses of the two pointers then.
"""

from __future__ import annotations

import re

from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Access, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_EXCHANGE = re.compile(
    rb"\{(?:[\w\s]*\*[\s*]*(?P<early>\w+)\s*;)?\s*(?P<head>[\w\s]*\*[\s*]*)?(?P<kept>\w+)\s*=\s*"
    rb"\*\s*(?P<first>\w+)\s*;\s*\*\s*(?P=first)\s*=\s*\*\s*(?P<second>\w+)\s*;\s*"
    rb"\*\s*(?P=second)\s*=\s*(?P=kept)\s*;\s*(?:return\s*;\s*)?\}\s*"
)
# The address of a variable, a field or an element, which no conversion gives another type.
_ADDRESS = re.compile(r"(?:\(\s*void\s*\*\s*\*\s*\)\s*)?&[^()]*")
_PLAIN = (Kind.SIMPLE, Kind.DECLARE, Kind.JUMP)
_Place = tuple[Statement, Call]


def read_exchanges(program: Program) -> None:
    """Have calls of such functions, all of which are given addresses of pointers, be exchanges."""
    if program.unread_code:
        return  # which may call them, too
    exchanging = {
        name: routine
        for name, routine in program.routines.items()
        if program.in_c(routine.file) and routine.problem is None and _exchanges(program, routine)
    }
    given_out = {source for target, _, source in program.pointer_facts if target == "address"}
    for name, routine in exchanging.items():
        if f"function:{name}" in given_out:
            continue
        places = _calls_of(program, routine)
        if places and all(_is_exchange(program, *place) for place in places):
            _count_as_exchanges(program, routine, places)


def _exchanges(program: Program, routine: Routine) -> bool:
    """Whether a function only exchanges what its two parameters point to."""
    if len(routine.parameters) != 2:
        return False
    data = program.files[routine.file].data
    words = _COMMENT.sub(b" ", data[routine.body.start : routine.body.end]).strip()
    found = _EXCHANGE.fullmatch(words)
    if found is None or (found["early"] is None) is (found["head"] is None):
        return False
    if found["early"] not in (None, found["kept"]):
        return False
    known = [program.variables.get(key) for key in routine.parameters]
    names = {each.name for each in known if each is not None and each.pointer}
    given = {found["first"].decode(), found["second"].decode()}
    plain = all(s.kind in _PLAIN and not (s.calls or s.stop) for s in routine.statements())
    return plain and len(given) == 2 and given == names and found["kept"].decode() not in names


def _calls_of(program: Program, routine: Routine) -> list[_Place]:
    return [
        (statement, call)
        for caller in program.routines.values()
        for statement in caller.statements()
        for call in statement.calls
        if call.name == routine.name
    ]


def _is_exchange(program: Program, statement: Statement, call: Call) -> bool:
    """Whether a statement is such a call alone, with the addresses of two pointers."""
    if call.unknown or call.macro or call.checked or not call.is_statement:
        return False
    if statement.kind is not Kind.SIMPLE or statement.stop or len(statement.calls) != 1:
        return False
    return len(call.arguments) == 2 and all(_is_pointer(program, each) for each in call.arguments)


def _is_pointer(program: Program, argument: Argument) -> bool:
    """Whether an argument is the address of a pointer, or of one in an array of such."""
    variable = program.variables.get(argument.base or "")
    if variable is None or argument.through or argument.problem is not None:
        return False
    if _ADDRESS.fullmatch(argument.text.strip()) is None:
        return False
    return variable.pointer or (bool(variable.bounds) and not variable.record)


def _count_as_exchanges(program: Program, routine: Routine, places: list[_Place]) -> None:
    """Have the statements set the pointers, whose addresses the function then does not get."""
    arguments = {f"argument:{routine.name}:{position}" for position in range(2)}
    program.pointer_facts[:] = [fact for fact in program.pointer_facts if fact[0] not in arguments]
    memory = f"heap:{routine.file}:{routine.body.start}"  # what its parameters point to, no more
    program.variables.setdefault(memory, Variable(memory, "allocated memory", "heap"))
    program.pointer_facts += [(key, "addr", memory) for key in routine.parameters]
    for statement, call in places:
        first, second = (argument.base or "" for argument in call.arguments)
        program.pointer_facts += [(first, "copy", second), (second, "copy", first)]
        statement.calls = []
        statement.swaps = (first, second)
        for key in (first, second):
            statement.accesses += [Access(key, False, write, call.line) for write in (False, True)]
            program.known_from.get(key, set()).discard(statement.start)
