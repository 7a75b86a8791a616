"""Templates with one instance in the whole program, whose text is rewritten as any other.

What is proven of an instance holds for the text where no other instance shares it. The call graph
names the instances that are called; library code may call others, so that the class of a method
must be instantiated for one list of arguments in all texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import IN_TEMPLATE
from imbrex.transform.model.routine import Routine

_TEMPLATE = re.compile(rb"\btemplate\s*<([^<>]*)>")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(rb"(?:\w+\s*::\s*)*(\w+)\s*$")


def settle_instances(program: Program) -> None:
    """Let the only instance of a template be edited, where the program is known as a whole."""
    whole = program.has_main and not program.skipped
    for routine in program.routines.values():
        if routine.problem != IN_TEMPLATE:
            continue
        if whole and _is_sole(program, routine):
            routine.problem = None
        else:
            routine.body.insertable = False


def _is_sole(program: Program, routine: Routine) -> bool:
    """Whether no other instance has the text of this one, of those that may be called."""
    instances = program.instances.get((routine.file, routine.body.start), ())
    return len(instances) == 1 and all(
        len(_arguments(program, name)) <= 1 for name in _templates_of(routine)
    )


def _templates_of(routine: Routine) -> Iterator[str]:
    """The classes that a method is in, by the names of their templates."""
    if routine.scope is not None:
        yield from routine.scope.classes


def _arguments(program: Program, name: str) -> set[bytes]:
    """The lists of arguments that a class template is named with."""
    return {
        given for source in program.sources() for given in _arguments_in(source.data, name.encode())
    }


@lru_cache(maxsize=1024)
def _arguments_in(data: bytes, name: bytes) -> frozenset[bytes]:
    """Those in one text, but for parameters of templates: they are what an instance says."""
    data = _COMMENT.sub(b" ", data)
    parameters = {
        match[1]
        for heads in _TEMPLATE.finditer(data)
        for part in heads[1].split(b",")
        if (match := _NAME.search(part.partition(b"=")[0])) is not None
    }
    found = set()
    for match in re.finditer(rb"\b" + re.escape(name) + rb"\s*<", data):
        given = b"".join(_list_from(data, match.end()).split())
        if not all(part in parameters for part in given.split(b",")):
            found.add(given)
    return frozenset(found)


def _list_from(data: bytes, start: int) -> bytes:
    """The text up to the bracket that ends a list of arguments."""
    depth = 1
    for position in range(start, len(data)):
        depth += {b"<": 1, b"(": 1, b")": -1, b">": -1}.get(data[position : position + 1], 0)
        if not depth:
            return data[start:position]
    return data[start:]
