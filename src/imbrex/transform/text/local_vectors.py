"""Local vectors and `std::array`s that both halves of a routine use: their caller has them."""

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
_ARRAY = re.compile(r"(?P<type>(?:std::)?array<[\w:\s]+,\s*\d+>)\s+(?P<rest>\w.*);\s*$", re.DOTALL)
_INCLUDED = {
    name: re.compile(rb"(?m)^[ \t]*#[ \t]*include[ \t]*<" + name.encode() + rb">")
    for name in ("vector", "array")
}


def is_vector(variable: Variable) -> bool:
    """Of a variable that is kept, whose element is its type as it is declared."""
    return variable.element.startswith(("std::vector<", "std::array<"))


def vector_type(program: Program, routine: Routine, key: str) -> str | None:
    """The type of a local vector, and that its declaration is plain; None where it is not."""
    found = _declaration(program, routine, key)
    return None if found is None else found[0]


def array_type(program: Program, routine: Routine, key: str) -> str | None:
    """The type of a local std::array that is declared without values; None where it is none."""
    found = _declaration(program, routine, key, _ARRAY)
    plain = found is not None and found[1] == program.variables[key].name
    return found[0] if found is not None and plain else None


def begun(program: Program, routine: Routine, key: str) -> str | None:
    """The statement that gives a vector of the caller's what its declaration does."""
    found = _declaration(program, routine, key)
    if found is None:
        return None
    kind, declarator = found
    named = _NAMED.match(declarator)
    made = None if named is None else named["made"]
    name = program.variables[key].name
    return f"{name}.clear();" if made is None else f"{name} = {kind}({made});"


def _declaration(
    program: Program, routine: Routine, key: str, types: re.Pattern[str] = _TYPE
) -> tuple[str, str] | None:
    """The type, and what stands behind it: the name, and what the variable is made with."""
    data = program.files[routine.file].data
    for statement in routine.body.statements:
        if statement.kind is not Kind.DECLARE:
            continue
        if not any(access.write and access.variable == key for access in statement.accesses):
            continue
        text = data[statement.code_start : statement.end].decode(errors="replace")
        match = types.match(text.strip())
        for piece in pieces(match["rest"]) if match is not None else []:
            named = _NAMED.match(piece)
            if match is not None and named and named["name"] == program.variables[key].name:
                kind = match["type"].removeprefix("std::")
                return f"std::{' '.join(kind.split())}", piece.strip()
        return None
    return None


def knows_vectors(source: SourceFile, variable: Variable) -> bool:
    """Whether a file includes the header of what a variable is."""
    name = variable.element.removeprefix("std::").partition("<")[0]
    return _INCLUDED[name].search(source.data) is not None
