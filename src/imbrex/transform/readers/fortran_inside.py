"""The procedures that statements and constructs call which are not analysed otherwise.

What they do there is not asked, but that they run: `print *, total(u)` may communicate.
"""

from __future__ import annotations

import re
from dataclasses import replace

from imbrex.transform.model.calls import Call
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_expressions import Expressions
from imbrex.transform.readers.fortran_lines import LogicalLine

_CALLED = re.compile(r"(?:^|\))call([a-z]\w*)$")
_BY_TYPE = re.compile(r"(?:^|\))call[a-z][^=]*%([a-z]\w*)$")
_BOUND = re.compile(r"[(,]([a-z]\w*)=>")
_NAME = re.compile(r"[a-z]\w*")
# Words in front of a parenthesis that are no function; blanks are gone.
_LANGUAGE = """
print write read open close inquire rewind backspace endfile flush wait allocate deallocate nullify
stop errorstop pause return goto assign if elseif while dowhile do doconcurrent where elsewhere
forall select selectcase selecttype selectrank case typeis classis rank associate block critical
changeteam endteam formteam sync syncall syncimages syncmemory lock unlock eventpost eventwait
"""
_WORDS = frozenset(_LANGUAGE.split())


def calls_inside(expressions: Expressions, line: LogicalLine) -> list[Call]:
    """What a line calls, functions and subroutines alike; calls of MPI are told elsewhere."""
    text = line.masked
    if "::" in text or text.startswith("format("):
        return []
    effects = Effects()
    expressions.read(line, 0, len(text), effects)
    found = [_named(call, text) for call in effects.calls]
    bare = _CALLED.search(text)  # without arguments
    if bare is not None:
        found.append(Call(bare[1], [], line.bytes[0], line.bytes[-1] + 1, line.line))
    by_type = _BY_TYPE.search(text)
    if by_type is not None:
        expressions.names.bindings.call_unknown(expressions.names.program, by_type[1])
    calls = []
    for call in found:
        if call.name not in _WORDS and not call.name.lower().startswith("mpi_"):
            call.unknown = call.unknown or call.name in expressions.scope.dummies
            call.name = expressions.names.procedure(expressions.scope, call.name)
            calls += expressions.targets(call, Effects())
    return calls


def bound_inside(line: LogicalLine) -> set[str]:
    """The names of variables that a line of a construct makes known in it."""
    text = line.masked
    if text.startswith("procedure(") or ",external" in text:
        return set()
    declared = text.partition("::")[2]
    return set(_BOUND.findall(text)) | set(_NAME.findall(declared))


def _named(call: Call, text: str) -> Call:
    """A call by its own name: blanks are gone, as in `callwork(u)`."""
    at = text.find(call.name.lower() + "(")
    if call.name.startswith("call") and (at == 0 or text[at - 1 : at] == ")"):
        return replace(call, name=call.name[4:])
    return call
