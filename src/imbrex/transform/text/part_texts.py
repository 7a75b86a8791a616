"""The texts of the two parts of a routine that is one loop nest, each under the routine's name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.analysis.space import Space
from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import (
    after_line,
    first_on_line,
    indent_at,
    line_start,
    whole_lines,
)
from imbrex.transform.text.loop_headers import Header, with_headers
from imbrex.transform.text.routine_text import RoutineText
from imbrex.transform.text.specification import identifiers

_OUT = re.compile(r"(?i)\bintent\s*\(\s*out\s*\)")


@dataclass(frozen=True, slots=True)
class Part:
    """The text of a part; in C the type of its value and its parameters."""

    text: str
    type: str = "void"
    parameters: tuple[str, ...] = ()


def parts_of(
    program: Program,
    space: Space,
    found: RoutineText,
    headers: dict[int, Header],
    texts: tuple[dict[int, str], dict[int, str]],
    later: int,
    inside: tuple[str, str] | None = None,
) -> tuple[Part, Part]:
    """The interior and the boundary; `later`: which of them runs behind the other.

    That one does what is done once, and goes on with the scalars that both reduce values into.
    `inside`: what stands in the place of the call that has the loops.
    """
    assert space.callee is not None
    source = program.files[space.callee.file]
    changes: tuple[list[Edit], list[Edit]] = ([], [])
    first, last = changes[1 - later], changes[later]
    first += [Edit(*span_of_line(source, *span), "") for span in space.once()]
    begun = [Edit(*whole_lines(source.data, s.start, s.end), "") for s in space.initial]
    last += begun
    for number, edits in enumerate(changes):
        edits += found.as_subroutine
        if inside is not None and space.nested is not None:
            call = space.nested.statement
            indent = indent_at(source.data, call.code_start)
            edits.append(Edit(call.code_start, call.end, inside[number].removeprefix(indent)))
    kind = "void"
    own = source.data[slice(*found.type)].decode() if found.value else "void"
    given = [*found.parameters]
    if space.result:
        result = program.variables[space.result]
        kind, name = result.element, passed_name(program, space)
        first[-1] = _returning(source, first[-1], result.name, space)
        last += _going_on(source, space, result.name, name)
        last.append(_given(found, f"{kind} {name}"))
        given.append(f"{kind} {name}")
    if kind != own:
        first.append(Edit(*found.type, kind))
    bodies = [
        with_headers(source, found.span, headers, *each)
        for each in zip(texts, changes, strict=True)
    ]
    if source.is_fortran:  # what the first part has set stays
        bodies[later] = _OUT.sub("intent(inout)", bodies[later])
    parts = [Part(body, kind, tuple(found.parameters)) for body in bodies]
    parts[later] = Part(bodies[later], own, tuple(given))
    return parts[0], parts[1]


def passed_name(program: Program, space: Space) -> str:
    """The name of the parameter that takes what the first part has made of the result."""
    assert space.callee is not None
    body, source = space.callee.body, program.files[space.callee.file]
    text = source.data[line_start(source.data, body.start) : body.end].decode(errors="replace")
    return free_name(program.variables[space.result].name, identifiers(text, fold=False))


def free_name(name: str, taken: set[str]) -> str:
    candidate, number = f"imbrex_{name}", 2
    while candidate in taken:
        candidate, number = f"imbrex_{name}{number}", number + 1
    return candidate


def span_of_line(source: SourceFile, start: int, end: int) -> tuple[int, int]:
    """The span with its line and a comment behind it, if nothing else stands there; in C."""
    if source.is_fortran or not first_on_line(source.data, start):
        return whole_lines(source.data, start, end)
    stop = after_line(source.data, end)
    if source.data[stop : stop + 1] not in (b"\n", b"\r"):
        return start, end
    return line_start(source.data, start), source.data.find(b"\n", stop) + 1


def _returning(source: SourceFile, left_out: Edit, name: str, space: Space) -> Edit:
    """In the place of what stands behind the loops, the return of their result."""
    start = space.final[0].start
    if left_out.start == start:
        return Edit(left_out.start, left_out.end, f"return {name};")
    indent = indent_at(source.data, start)
    return Edit(left_out.start, left_out.end, f"{indent}return {name};\n")


def _going_on(source: SourceFile, space: Space, name: str, value: str) -> list[Edit]:
    """The result begins with what the first part has made of it."""
    assert space.callee is not None
    body = space.callee.body.statements
    loops = space.loops[0]
    before = body[: body.index(loops)]
    naming = [s for s in before if any(a.variable == space.result for a in s.accesses)]
    if len(naming) == 1 and naming[0].kind in (Kind.DECLARE, Kind.SIMPLE):
        (statement,) = naming
        text = source.data[statement.code_start : statement.end].decode(errors="replace")
        plain = re.fullmatch(rf"((?:[\w:]+\s+)*{re.escape(name)}\s*=\s*)[\w.+-]+\s*;", text)
        if plain is not None:
            return [Edit(statement.code_start, statement.end, f"{plain[1]}{value};")]
    if not first_on_line(source.data, loops.start):
        return [Edit(loops.start, loops.start, f"{name} = {value}; ")]
    start = line_start(source.data, loops.start)
    return [Edit(start, start, f"{indent_at(source.data, loops.start)}{name} = {value};\n")]


def _given(found: RoutineText, parameter: str) -> Edit:
    """One more parameter behind those of a function."""
    start, end = found.inside
    return Edit(end, end, f", {parameter}") if found.parameters else Edit(start, end, parameter)
