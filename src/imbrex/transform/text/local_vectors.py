"""Local vectors of C++ that both halves of a routine use: their caller has them."""

from __future__ import annotations

import re

from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind
from imbrex.transform.text.pieces import pieces

_TYPE = re.compile(r"(?P<type>(?:std::)?vector<[\w:\s]+>)\s+(?P<rest>\w.*);\s*$", re.DOTALL)
_NAMED = re.compile(r"(?P<name>\w+)\s*(?:\{\s*\}|\((?P<made>[^{};]*)\))?$")
_INCLUDED = re.compile(rb"(?m)^[ \t]*#[ \t]*include[ \t]*<vector>")


def is_vector(variable: Variable) -> bool:
    """Of a variable that is kept, whose element is its type as it is declared."""
    return variable.element.startswith("std::vector<")


def vector_type(program: Program, routine: Routine, key: str) -> str | None:
    """The type of a local vector, and that its declaration is plain; None where it is not."""
    found = _declaration(program, routine, key)
    return None if found is None else found[0]


def begun(program: Program, routine: Routine, key: str) -> str | None:
    """The statement that gives a vector of the caller's what its declaration does."""
    found = _declaration(program, routine, key)
    if found is None:
        return None
    kind, made = found
    name = program.variables[key].name
    return f"{name}.clear();" if made is None else f"{name} = {kind}({made});"


def _declaration(program: Program, routine: Routine, key: str) -> tuple[str, str | None] | None:
    """The type, and what stands in the parentheses behind the name."""
    data = program.files[routine.file].data
    for statement in routine.body.statements:
        if statement.kind is not Kind.DECLARE:
            continue
        if not any(access.write and access.variable == key for access in statement.accesses):
            continue
        text = data[statement.code_start : statement.end].decode(errors="replace")
        match = _TYPE.match(text.strip())
        for piece in pieces(match["rest"]) if match is not None else []:
            named = _NAMED.match(piece)
            if match is not None and named and named["name"] == program.variables[key].name:
                kind = match["type"].removeprefix("std::")
                return f"std::{' '.join(kind.split())}", named["made"]
        return None
    return None


def knows_vectors(source: SourceFile) -> bool:
    return _INCLUDED.search(source.data) is not None
