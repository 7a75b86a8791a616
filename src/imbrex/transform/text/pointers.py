"""Local pointers of C that the start of a routine hands on to its finish."""

from __future__ import annotations

import re

from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind
from imbrex.transform.text.number_types import DECLARED
from imbrex.transform.text.pieces import pieces

_DECLARED = re.compile(rf"\s*(?P<type>{DECLARED})(?P<rest>[\s*].*);\s*$", re.DOTALL)
_POINTER = re.compile(r"(?P<stars>\*)\s*(?P<name>\w+)\s*(?:=(?!=)|$)")


def pointer_type(program: Program, routine: Routine, variable: Variable) -> str | None:
    """The type of a local pointer as its declaration has it; None where that is not plain."""
    data = program.files[routine.file].data
    for statement in routine.body.statements:
        if statement.kind is not Kind.DECLARE:
            continue
        if not any(
            access.write and access.variable == variable.key for access in statement.accesses
        ):
            continue
        match = _DECLARED.match(data[statement.code_start : statement.end].decode(errors="replace"))
        if match is None:
            return None
        for piece in pieces(match["rest"]):
            named = _POINTER.match(piece.strip())
            if named is not None and named["name"] == variable.name:
                return f"{' '.join(match['type'].split())} {named['stars']}"
    return None
