"""Methods as text: how a class declares one, and how a call names it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.headers import is_editable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import indent_at
from imbrex.transform.text.specification import parameters_of

_DECLARED = re.compile(
    r"(?P<lead>(?:(?:static|inline)\s+)*)(?P<type>(?:(?:unsigned|long)\s+)*\w+)\s+"
    r"(?P<name>\w+)\s*\((?P<inside>[^(){}=]*)\)"
    r"(?P<tail>(?:\s*\b(?:const|noexcept)\b)*)$"
)
# An object that is named without a call: by names, and by elements whose indices set nothing.
_INDEX = r"\[(?:[\w\s.*/%)]|(?<![\w\]])\(|->|-(?!-)|\+(?!\+))*\]"
_OBJECT = re.compile(rf"(?:\w+(?:\s*{_INDEX})*\s*(?:\.|->|::)\s*)*$")
_MPI_HEADER = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]*[<"](?:[^">]*/)?mpi\.h[">]')


@dataclass
class Declared:
    """The declaration of a method in its class, with the semicolon."""

    source: SourceFile
    span: tuple[int, int] = (0, 0)
    lead: str = ""
    type: str = "void"
    parameters: tuple[str, ...] = ()
    tail: str = ""

    def edit(
        self, heads: list[tuple[str, list[str]]], *, keep: bool, types: tuple[str, ...] = ()
    ) -> Edit:
        """Declarations of methods with these names and parameters in its place, or behind it.

        `types`: of their values, where these are not its own.
        """
        start, end = self.span
        separator = "\n" + indent_at(self.source.data, start)
        lines = [
            f"{self.lead}{kind} {name}({', '.join(p)}){self.tail};"
            for kind, (name, p) in zip(types or [self.type] * len(heads), heads, strict=True)
        ]
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
    if source is None or not is_editable(program, source):
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
        match["type"],
        tuple(p.strip() for p in parameters),
        " ".join(["", *match["tail"].split()]),
    )


def member_problem(program: Program, routine: Routine) -> Cause | None:
    """Why nothing may stand beside a method in its class, or beside a function in a namespace."""
    if routine.scope is None:
        return None
    if routine.scope.virtual:
        return ReasonKind.VIRTUAL(routine=routine.name)
    if routine.scope.overloaded:
        return ReasonKind.OVERLOADED(routine=routine.name)
    found = declared_in_class(program, routine)
    return found if isinstance(found, Cause) else None


def seen_by_callers(program: Program, routine: Routine) -> bool:
    """Whether what stands beside a routine is known in each file that calls it: in a header.

    A function that another file declares may be called in front of the header.
    """
    if not program.files[routine.file].header:
        return False
    if is_member(routine):
        return True
    pattern = re.compile(
        rb"\b(?!return\b|else\b|do\b)\w+[\s*&]+(?:\w+\s*::\s*)*"
        + routine.plain_name.encode()
        + rb"\s*\("
    )
    return not any(
        source.name != routine.file and pattern.search(source.data) for source in program.sources()
    )


def takes_prototypes(source: SourceFile) -> bool:
    """Whether a file that calls a routine of another may declare its parts behind its includes."""
    return not source.header and b"#include" in source.data


def named_anywhere(program: Program, name: str) -> bool:
    """Whether a file has a name: a class derived from another could hide it."""
    pattern = re.compile(rb"\b" + name.encode() + rb"\b")
    return any(pattern.search(source.data) for source in program.sources())


def object_of(program: Program, user: Routine, routine: Routine, call: Call) -> str | None:
    """What a call has in front of the name, so that another name can stand there.

    None where that is no plain name.
    """
    if routine.scope is None:
        return ""
    text = program.files[user.file].data[call.start : call.end].decode(errors="replace")
    match = re.match(rf"(?s)(?P<object>.*?)\b{re.escape(routine.plain_name)}\s*\(", text)
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
