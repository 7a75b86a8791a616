"""Methods as text: how a class declares one, and how a call names it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from imbrex.transform.model.causes import Cause
from imbrex.transform.model.program import Call, Program, Routine
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import indent_at
from imbrex.transform.text.specification import parameters_of

_DECLARED = re.compile(
    r"(?P<lead>(?:(?:static|inline)\s+)*void\s+)(?P<name>\w+)\s*\((?P<inside>[^(){}=]*)\)"
    r"(?P<tail>(?:\s*\b(?:const|noexcept)\b)*)$"
)
# An object that is named without a call, a subscript or an operator.
_OBJECT = re.compile(r"(?:\w+(?:\.|->|::))*$")
_MPI_HEADER = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]*[<"](?:[^">]*/)?mpi\.h[">]')


@dataclass
class Declared:
    """The declaration of a method in its class, with the semicolon."""

    source: SourceFile
    span: tuple[int, int] = (0, 0)
    lead: str = ""
    parameters: tuple[str, ...] = ()
    tail: str = ""

    def edit(self, heads: list[tuple[str, list[str]]], *, keep: bool) -> Edit:
        """Declarations of methods with these names and parameters in its place, or behind it."""
        start, end = self.span
        separator = "\n" + indent_at(self.source.data, start)
        lines = [f"{self.lead}{name}({', '.join(p)}){self.tail};" for name, p in heads]
        text = separator.join(lines)
        return Edit(end, end, separator + text) if keep else Edit(start, end, text)


def is_member(routine: Routine) -> bool:
    return routine.scope is not None and bool(routine.scope.classes)


def declared_in_class(program: Program, routine: Routine) -> Declared | Cause | None:
    """The declaration of a method that is defined outside its class; or why it is not known."""
    if routine.scope is None or routine.scope.declared is None:
        return None
    name, start, end = routine.scope.declared
    source = program.files.get(name) or program.headers.get(name)
    if source is None or not _is_one(program, source) or not os.access(source.path, os.W_OK):
        return ReasonKind.DECLARED_ELSEWHERE(routine=routine.name, file=name)
    text = source.data[start:end].decode(errors="replace")
    match = _DECLARED.match(text)
    after = re.match(rb"\s*;", source.data[end:])
    if match is None or after is None or match["name"] != routine.plain_name:
        return ReasonKind.NOT_PLAIN_FUNCTION(routine=routine.name)
    inside = match["inside"]
    parameters = [] if inside.strip() in ("", "void") else parameters_of(inside)
    if len(parameters) != len(routine.parameters) - routine.on_object:
        return ReasonKind.PARAMETERS(routine=routine.name)
    known = _MPI_HEADER.search(source.data[:start]) is not None or (
        0 <= source.mpi_known_from < start
    )
    if not known:
        return ReasonKind.NO_MPI_HEADER(file=name)
    return Declared(
        source,
        (start, end + after.end()),
        match["lead"],
        tuple(p.strip() for p in parameters),
        " ".join(["", *match["tail"].split()]),
    )


def _is_one(program: Program, source: SourceFile) -> bool:
    """Whether a file is included by one name: under another it would be read as it was."""
    place = source.path.resolve()
    if str(source.path) != source.name:
        return False
    every = (*program.files.values(), *program.headers.values())
    return not any(s.name != source.name and s.path.resolve() == place for s in every)


def member_problem(program: Program, routine: Routine) -> Cause | None:
    """Why nothing may stand beside a method in its class, or beside a function in a namespace."""
    if routine.scope is None:
        return None
    if routine.scope.overloaded:
        return ReasonKind.OVERLOADED(routine=routine.name)
    found = declared_in_class(program, routine)
    return found if isinstance(found, Cause) else None


def named_anywhere(program: Program, name: str) -> bool:
    """Whether a file has a name: a class derived from another could hide it."""
    pattern = re.compile(rb"\b" + name.encode() + rb"\b")
    every = (*program.files.values(), *program.headers.values())
    return any(pattern.search(source.data) for source in every)


def object_of(program: Program, user: Routine, routine: Routine, call: Call) -> str | None:
    """What a call has in front of the name, so that another name can stand there.

    None where that is no plain name.
    """
    if routine.scope is None:
        return ""
    text = program.files[user.file].data[call.start : call.end].decode(errors="replace")
    match = re.match(rf"(?P<object>[^(]*?)\b{re.escape(routine.plain_name)}\s*\(", text)
    if match is None or _OBJECT.match(match["object"]) is None:
        return None
    if match["object"] or is_member(routine):
        return match["object"]
    # A function in a namespace, found by the types of its arguments or by `using`.
    mine = () if user.scope is None else user.scope.namespaces
    theirs = routine.scope.namespaces
    if mine[: len(theirs)] == theirs or "" in theirs:
        return ""
    return f"{routine.scope.qualified}::"
