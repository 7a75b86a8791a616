"""The interface bodies of the halves of a procedure whose own stands apart from it.

`module procedure exchange` of a submodule is called by what uses the module, which knows it by an
interface body. Its halves have such bodies in the place of that one. They repeat their arguments,
as `module subroutine exchange_start(u, imbrex_requests)`, whichever way the procedure is written.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import indent_at, line_start
from imbrex.transform.text.pieces import pieces
from imbrex.transform.text.specification import (
    fortran_specification,
    identifiers,
    plain_declaration,
)
from imbrex.transform.text.wrapping import wrapped

_HEAD = re.compile(r"(?i)\s*module\s+(?:subroutine\s+\w+\s*(?:\(|!|$)|procedure\s+\w+\s*(?:!|$))")
_STATED = re.compile(r"(?i)\s*module\s+subroutine\s+\w+\s*\(")
_END = re.compile(r"(?i)\s*end(\s*subroutine(\s+\w+)?)?\s*(!.*)?$")
_OUT = re.compile(r"(?i)\bintent\s*\(\s*out\s*\)")
_OWN = re.compile(r"(?i)\s*(use|implicit|import|include)\b")
_PLAIN = re.compile(
    r"(?:integer|real|logical|complex|double precision|double complex)(?:\*\d+|\(\d+\))?"
    r"|type\(mpi_request\)"
)
_SHAPED = re.compile(r"(?i)dimension\s*\(.*\)")
# Statements that tell of names declared elsewhere.
_OF_NAMES = re.compile(
    r"(?i)\s*(?:dimension|allocatable|pointer|target|asynchronous|volatile|intent|optional|value"
    r"|contiguous|external)\b"
)
_BOUND = re.compile(r"(?i)\bbind\s*\(")


def is_separate(program: Program, routine: Routine, header: str) -> bool:
    """Whether a procedure's interface body can be replaced by those of its halves."""
    body = routine.interface_body
    if body is None or routine.result or not body.fixed or not _HEAD.match(header):
        return False
    source = program.files.get(body.file)
    if source is None or source.language is Language.FORTRAN_FIXED:
        return False
    if program.files[routine.file].language is Language.FORTRAN_FIXED or routine.stays:
        return False
    lines = source.data.decode(errors="replace").split("\n")
    stated, ended = lines[body.line - 1], lines[body.last_line - 1]
    inside = lines[body.line : body.last_line - 1]
    if any(map(_OF_NAMES.match, inside)) or _BOUND.search("\n".join([stated, *inside])):
        return False
    return _STATED.match(stated) is not None and _END.match(ended.rstrip("\r")) is not None


def stated_names(program: Program, routine: Routine, needed: set[str]) -> set[str]:
    """The arguments that the interface body of a half declares which needs these names."""
    if routine.interface_body is None:
        return set()
    return _specification(program, routine, sorted(needed))[1]


def stated_lines(program: Program, routine: Routine, indent: str) -> list[str]:
    """The declarations of arguments that the procedure does not repeat."""
    body = routine.interface_body
    if body is None or not body.alone:
        return []
    lines, _ = _specification(program, routine, [], every=True)
    text = "\n".join(line for line in lines if line.strip() and not _OWN.match(line))
    return textwrap.indent(textwrap.dedent(text), indent).splitlines()


def declares_plainly(program: Program, routine: Routine, variable: Variable) -> bool:
    """Whether a local variable can be an argument that two declarations describe alike."""
    if any(None in ends or any(end and end.terms for end in ends) for ends in variable.bounds):
        return False
    if not _PLAIN.fullmatch(variable.element) or variable.allocatable:
        return False
    source = program.files[routine.file]
    span = source.data[source.start_of(routine.line) : routine.declare_after]
    lines = span.decode(errors="replace").split("\n")
    name = variable.name.lower()
    if any(_OF_NAMES.match(line) and name in identifiers(line, fold=True) for line in lines):
        return False
    for number in range(len(lines)):
        match = plain_declaration(lines, number, fixed=False)
        if match is None:
            continue
        head = match["head"] or match["bare"]
        _, *attributes = pieces(head.partition("::")[0])
        for entity in pieces(match["rest"] or match["list"] or ""):
            if entity.partition("(")[0].strip().lower() == name:
                return all(_SHAPED.fullmatch(each.strip()) for each in attributes)
    return False


def interface_bodies(
    program: Program,
    routine: Routine,
    names: tuple[str, str],
    used: Sequence[Sequence[str]],
    kept: Sequence[Variable],
    requests: str,
) -> dict[str, list[Edit]]:
    """The bodies of the halves in the place of the procedure's.

    `used`: the arguments of either; `requests`: the declaration of their requests, if any.
    """
    body = routine.interface_body
    assert body is not None
    data = program.files[body.file].data
    start = program.files[body.file].start_of(body.line)
    last = program.files[body.file].start_of(body.last_line)
    stop = data.find(b"\n", last)
    stop = len(data) if stop < 0 else stop
    indent = indent_at(data, start)
    inner = indent_at(data, line_start(data, body.declare_after - 1))
    inner = inner if len(inner) > len(indent) else indent + "  "
    texts = []
    for number, name in enumerate(names):
        lines, _ = _specification(program, routine, list(used[number]))
        lines = [line for line in lines if line.strip()]
        if number:  # what the start has set stays
            lines = [_OUT.sub("intent(inout)", line) for line in lines]
        lines += [f"{inner}{_declared(variable)}" for variable in kept]
        arguments = [*used[number], *(variable.name for variable in kept)]
        if requests:
            arguments.append("imbrex_requests")
            lines.append(f"{inner}{requests}")
        if any("mpi_request)" in line.lower() for line in lines):
            lines.insert(0, f"{inner}use mpi_f08, only: MPI_Request")
        head = f"module subroutine {name}({', '.join(arguments)})"
        head = indent + wrapped(Language.FORTRAN_FREE, head, len(indent), indent)
        texts.append("\n".join([head, *lines, f"{indent}end subroutine {name}"]))
    return {body.file: [Edit(start, stop, "\n".join(texts))]}


def _declared(variable: Variable) -> str:
    bounds = []
    for low, high in variable.bounds:
        assert low is not None and high is not None
        bounds.append(f"{low.constant}:{high.constant}")
    shape = f"({', '.join(bounds)})" if bounds else ""
    return f"{variable.element} :: {variable.name}{shape}"


def _specification(
    program: Program, routine: Routine, used: list[str], *, every: bool = False
) -> tuple[list[str], set[str]]:
    body = routine.interface_body
    assert body is not None
    source = program.files[body.file]
    names = [program.variables[key].name.lower() for key in routine.parameters]
    needed = set(names) if every else {name.lower() for name in used}
    end = source.data.find(b"\n", body.declare_after)
    return fortran_specification(source, source.start_of(body.line), end, needed, names)
