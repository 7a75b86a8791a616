"""Where the text of a routine stands, and what its head says, so that others can take its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from imbrex.transform.model.causes import Cause
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import indent_at, line_start
from imbrex.transform.text.separate_halves import is_separate
from imbrex.transform.text.specification import opening_of, parameters_of

_C_HEAD = re.compile(
    r"(?P<lead>(?:(?:static|inline|extern)\s+)*(?P<type>(?:(?:unsigned|long)\s+)*\w+)\s+)"
    r"(?P<scope>(?:\w+\s*(?:<(?P<given>[\w\s,]*)>\s*)?::\s*)*)(?P<name>\w+)\s*\($"
)
_TAIL = re.compile(r"\)(?P<tail>(?:\s*\b(?:const|noexcept)\b)*)$")  # of a method
_BEFORE = re.compile(r"(?:[{};:]|//[^\n]*|\*/|(?:^|\n)[ \t]*#(?:\\\r?\n|[^\n])*)\s*$")
_TEMPLATE = re.compile(r"template\s*<(?P<inside>[^<>=]*)>\s*$")
_TEMPLATE_PARAMETER = re.compile(r"(?:class|typename|int|bool|(?:std\s*::\s*)?size_t)\s+(\w+)")
_FORTRAN_RETURN = re.compile(rb"[ \t]*return[ \t]*(![^\n]*)?\r?$", re.IGNORECASE)
_FORTRAN_END = re.compile(
    rb"[ \t]*end[ \t]*((?:subroutine|function|procedure)[ \t]*\w*)?[ \t]*(![^\n]*)?\r?$",
    re.IGNORECASE,
)
_FUNCTION = re.compile(
    r"(?i)(?P<indent>\s*)(?:(?P<type>(?:integer|real|logical|double\s*precision)"
    r"(?:\s*\*\s*\d+|\s*\([^()]*\))?)\s+)?function\s+(?P<name>\w+)\s*\((?P<inside>[^()]*)\)"
    r"(?:\s*result\s*\(\s*\w+\s*\))?\s*$"
)


@dataclass
class RoutineText:
    """Its bytes in the file, its parameters (in C with their types) and what stands before its
    name in C; or why it is not plain enough to be taken apart."""

    span: tuple[int, int] = (0, 0)
    parameters: list[str] = field(default_factory=list)
    lead: str = ""
    scope: str = ""  # of C++: the class or namespace in front of its name
    tail: str = ""  # of a method: what stands behind the parameters
    template: tuple[str, ...] = ()  # of a template in C++: its own parameters
    type: tuple[int, int] = (0, 0)  # in C: the bytes of the type of its value
    inside: tuple[int, int] = (0, 0)  # in C: those of what stands between the parentheses
    value: bool = False  # in C: whether it has one
    # Of a function of Fortran: what makes it a subroutine that is given what its value becomes.
    as_subroutine: list[Edit] = field(default_factory=list)
    problem: Cause | None = None


def _lead(head: str, opening: int) -> int:
    """Where the words in front of a parenthesis begin: a search from there on is short."""
    begin = opening
    while begin and (
        head[begin - 1] in "_:<>," or head[begin - 1].isalnum() or head[begin - 1].isspace()
    ):
        begin -= 1
    return begin


def c_routine_text(program: Program, routine: Routine, *, value: bool = False) -> RoutineText:
    """The text of a function; `value`: it may have one."""
    data, body = program.files[routine.file].data, routine.body
    first = max(data.rfind(b"\n}", 0, body.start), 0)  # what is farther ahead is another's
    head = data[first : body.start].decode(errors="replace").rstrip()
    member = routine.scope is not None and bool(routine.scope.classes)
    ended = _TAIL.search(head) if member else None
    tail = "" if ended is None else ended["tail"]
    head = head[: len(head) - len(tail)]
    opening = opening_of(head)
    match = _C_HEAD.search(head[: opening + 1], _lead(head, opening)) if opening >= 0 else None
    if match is None or match["name"] != routine.plain_name:
        return RoutineText(problem=ReasonKind.NOT_PLAIN_FUNCTION(routine=routine.name))
    if match["type"] != "void" and not value:
        return RoutineText(problem=ReasonKind.NOT_PLAIN_FUNCTION(routine=routine.name))
    inside = head[opening + 1 : -1]
    of_class = match["given"]  # parameters of the template that the method's class is made of
    templated = routine.of_template or of_class is not None
    template = _template(head[: match.start()]) if templated else ("", ())
    begin = match.start() - len(template[0])

    def place(position: int) -> int:
        return first + len(head[:position].encode())

    found = RoutineText(
        span=(place(begin), body.end),
        parameters=[] if inside.strip() in ("", "void") else parameters_of(inside),
        lead=template[0] + match["lead"],
        scope=match["scope"],
        template=template[1] if routine.of_template else (),
        tail=" ".join(["", *tail.split()]),
        type=(place(match.start("type")), place(match.end("type"))),
        inside=(place(opening + 1), place(len(head) - 1)),
        value=match["type"] != "void",
    )
    if (routine.scope is not None or routine.of_template or found.value) and not _BEFORE.search(
        head[:begin] or "{"
    ):
        found.problem = ReasonKind.NOT_PLAIN_FUNCTION(routine=routine.name)
    if routine.of_template and (
        not template[1] or match["scope"] or _declares(routine.plain_name).search(data)
    ):
        found.problem = ReasonKind.NOT_PLAIN_FUNCTION(routine=routine.name)
    if of_class is not None and _listed(of_class) != list(template[1]):
        found.problem = ReasonKind.NOT_PLAIN_FUNCTION(routine=routine.name)
    given = len(routine.parameters) - routine.on_object
    if len(found.parameters) != given or "/*" in inside or "=" in inside:
        found.problem = ReasonKind.PARAMETERS(routine=routine.name)
    return found


def _template(head: str) -> tuple[str, tuple[str, ...]]:
    """What makes a function a template, and the names of its parameters; none if not plain."""
    match = _TEMPLATE.search(head)
    if match is None:
        return "", ()
    parameters = [_TEMPLATE_PARAMETER.fullmatch(part) for part in _listed(match["inside"])]
    names = tuple(parameter[1] for parameter in parameters if parameter is not None)
    return match[0], names if len(names) == len(parameters) else ()


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _declares(name: str) -> re.Pattern[bytes]:
    """A declaration of a template that is defined elsewhere in the file."""
    return re.compile(rb"(?m)>\s*(?:\w+\s+)+" + name.encode() + rb"\s*\([^;{}]*\)\s*;")


def fortran_routine_text(
    program: Program, routine: Routine, *, value: bool = False, separate: bool = False
) -> RoutineText:
    """The text of a subroutine; `value`: it may be a function that can become one.

    `separate`: it may have an interface body apart from it, which is replaced as well.
    """
    source = program.files[routine.file]
    data, found, start = source.data, RoutineText(), source.start_of(routine.line)
    end = routine.body.statements[-1].end if routine.body.statements else start
    position = line_start(data, end)
    position = data.find(b"\n", max(end - 1, position)) + 1
    while position < len(data):
        stop = data.find(b"\n", position)
        stop = len(data) if stop < 0 else stop
        line = data[position:stop]
        if _FORTRAN_END.match(line):
            found.span = (start, stop)
            break
        last = _FORTRAN_RETURN.match(line)  # which says what the end says
        if line.strip() and line.strip()[:1] not in b"!cC*" and not last:
            break
        position = stop + 1
    names = [program.variables.get(key) for key in routine.parameters]
    header = data[start : data.find(b"\n", start)].decode(errors="replace")
    plain = re.match(r"(?i)\s*(pure\s+)?subroutine\s+\w+\s*(\(|!|$)", header) is not None
    if separate and not plain:
        plain = is_separate(program, routine, header)
    if routine.result:
        found.as_subroutine = as_subroutine(program, routine, found.span) if value else []
        plain = bool(found.as_subroutine)
    if found.span == (0, 0) or any(name is None for name in names) or not plain:
        found.problem = ReasonKind.NOT_PLAIN_SUBROUTINE(routine=routine.name)
    if not routine.host and any(_needs_interface(variable) for variable in names):
        found.problem = found.problem or ReasonKind.OWN_INTERFACE(routine=routine.name)
    found.parameters = [name.name for name in names if name is not None]
    return found


def as_subroutine(
    program: Program, routine: Routine, span: tuple[int, int], name: str = ""
) -> list[Edit]:
    """The edits that make a subroutine of a function; none where its head is not plain.

    `name`: what the dummy argument is called that its value becomes, where not as its variable.
    """
    source, result = program.files[routine.file], program.variables[routine.result]
    data, (start, stop) = source.data, span
    header = data[start : data.find(b"\n", start)].decode(errors="replace")
    name = name or result.name
    head = _FUNCTION.fullmatch(header.rstrip("\r"))
    if head is None or span == (0, 0) or routine.declare_after < 0:
        return []
    given = ", ".join(part.strip() for part in (head["inside"], name) if part.strip())
    text = f"{head['indent']}subroutine {head['name']}({given})"
    if len(text) > (72 if source.language is Language.FORTRAN_FIXED else 132):
        return []
    edits = [Edit(start, start + len(header.rstrip("\r").encode()), text)]
    if head["type"]:
        behind = data.find(b"\n", max(routine.declare_after - 1, start))
        indent = head["indent"] if len(head["indent"]) >= 6 else " " * 6
        if source.language is Language.FORTRAN_FREE:
            indent = indent_at(data, line_start(data, routine.declare_after - 1))
        edits.append(Edit(behind, behind, f"\n{indent}{head['type']} {name}"))
    last = line_start(data, stop - 1)
    ending = re.search(rb"(?i)\bfunction\b", data[last:stop])
    if ending is not None:
        edits.append(Edit(last + ending.start(), last + ending.end(), "subroutine"))
    return edits


def _needs_interface(variable: Variable | None) -> bool:
    """Whether a routine outside a module with such an argument is called by an interface block."""
    return variable is not None and (
        variable.assumed_shape or variable.optional or variable.allocatable
    )
