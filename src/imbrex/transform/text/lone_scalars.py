"""Numbers of C that messages use: they outlive the start, so that the caller has them.

The caller has an array of one, and a half names its element. What the start computes it computes
in a variable of its own, which a compiler may keep in a register, and hands on to the message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from imbrex.transform.analysis.divided import Item, Schedule, calls_of
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import code_of_c
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.text.number_types import C_NUMBERS, DECLARED
from imbrex.transform.text.pieces import pieces

_FIRST = Affine(0)
_DECLARED = re.compile(rf"{DECLARED}\s+(.*);\s*$", re.DOTALL)
# What an element is not what a variable is for: a type is told, or a name taken apart.
_OTHERWISE = re.compile(rb"\b(?:decltype|typeof|__typeof__|_Generic|goto|asm|__asm__)\b|##")
_LAMBDA = re.compile(rb"\[[\w\s,&=*]*\]\s*(?:\([^()]*\)\s*)?(?:mutable\s*)?\{")


def as_lone_scalar(variable: Variable) -> Variable:
    """What the callers declare in the place of a number."""
    return replace(variable, bounds=((_FIRST, _FIRST),))


def lone_scalar_fits(program: Program, routine: Routine, variable: Variable) -> bool:
    """Whether a local number is declared plainly, and everywhere named as one."""
    if variable.element not in C_NUMBERS or variable.pointer or variable.bounds:
        return False
    if variable.volatile or variable.reference or variable.key in program.overlays:
        return False
    data = program.files[routine.file].data
    code = code_of_c(data[routine.body.start : routine.body.end])
    name = re.escape(variable.name.encode())
    if _OTHERWISE.search(code) or _LAMBDA.search(code):
        return False
    if re.search(rb"(?:\.|->|::)\s*%s\b|\b%s\s*(?:::|\()" % (name, name), code):
        return False  # a member, or a function, has the name too
    every = [s.data for s in (*program.files.values(), *program.headers.values())]
    if any(re.search(rb"#[^\n]*(?:\\\n[^\n]*)*\b%s\b" % name, text) for text in every):
        return False  # a macro may name it
    named = [s for s in routine.statements() if s.kind is Kind.DECLARE and _names(data, s, name)]
    return len(named) == 1 and _is_plain(data, named[0], routine, variable.name)


def _names(data: bytes, statement: Statement, name: bytes) -> bool:
    code = code_of_c(data[statement.start : statement.end])
    return re.search(rb"\b%s\b" % name, code) is not None


def _is_plain(data: bytes, statement: Statement, routine: Routine, name: str) -> bool:
    """Whether a declaration gives it a value by `=` alone, without a call, or none."""
    if statement.parent is not routine.body or statement.calls or statement.stop is not None:
        return False
    code = code_of_c(data[statement.code_start : statement.end]).decode(errors="replace")
    declared = _DECLARED.match(code)
    if declared is None or len(re.findall(rf"\b{re.escape(name)}\b", code)) != 1:
        return False
    return any(_value(piece, name) is not None for piece in pieces(declared[1]))


def _value(declarator: str, name: str) -> str | None:
    """What a declarator gives it as its value, "" for none; None where it is another one."""
    found = re.fullmatch(rf"{re.escape(name)}(?:\s*=\s*([^={{][^{{]*))?", declarator, re.DOTALL)
    return None if found is None else (found[1] or "").strip()


def lone_scalars(program: Program, kept: Sequence[Variable]) -> list[Variable]:
    """Those of the variables that are kept which are numbers of the routine."""
    return [v for v in kept if v.bounds == ((_FIRST, _FIRST),) and _is_number(program, v)]


def _is_number(program: Program, variable: Variable) -> bool:
    own = program.variables[variable.key]
    return not own.bounds and own.element == variable.element and own.element in C_NUMBERS


def handed_on(
    program: Program, routine: Routine, schedule: Schedule, kept: Sequence[Variable]
) -> dict[int, list[Variable]]:
    """Numbers that the start has too, by the identity of the item whose messages take them."""
    found: dict[int, list[Variable]] = {}
    for variable in lone_scalars(program, kept):
        users = [item for item in schedule.early if _uses(schedule, item, variable.key)]
        if len(users) == 1 and _may_hand_on(program, routine, schedule, users[0], variable):
            found.setdefault(id(users[0]), []).append(variable)
    return found


def _uses(schedule: Schedule, item: Item, key: str) -> bool:
    """Whether messages that an item starts use a variable."""
    calls = calls_of(item)
    started = [t for t in (*item.transfers, *schedule.held) if any(t.call is c for c in calls)]
    return any(access.variable == key for t in started for access in schedule.data[id(t)])


def _may_hand_on(
    program: Program, routine: Routine, schedule: Schedule, item: Item, variable: Variable
) -> bool:
    """Whether it surely has a value in front of an item, which names it as `&x` alone."""
    data = program.files[routine.file].data
    if item.path or item.render is not None or item.returns or len(calls_of(item)) != 1:
        return False
    name = re.escape(variable.name)
    texts = [a.text.strip() for c in calls_of(item) for a in c.arguments]
    texts = [text for text in texts if re.search(rf"\b{name}\b", text)]
    if not texts or any(re.fullmatch(rf"&\s*{name}", text) is None for text in texts):
        return False
    begins = re.compile(rb"%s\s*=(?!=)" % name.encode())
    declared = re.compile(rb"[\s,]%s\s*=(?!=)" % name.encode())
    early = (i.statement for i in schedule.early if not i.path and i.number < item.number)
    return any(
        s.kind is Kind.SIMPLE and begins.match(data, s.code_start, s.end) for s in early
    ) or any(declared.search(data, s.code_start, s.end) for s in schedule.declarations)


def copied(variables: Sequence[Variable], indent: str) -> list[str]:
    """What stands in front of the item whose messages take these numbers."""
    return [f"{indent}*imbrex_{variable.name} = {variable.name};" for variable in variables]


def with_copies(variables: Sequence[Variable], text: str) -> str:
    """The text of an argument, or of a call, with the caller's numbers."""
    for variable in variables:
        text = re.sub(rf"&\s*{re.escape(variable.name)}\b", f"imbrex_{variable.name}", text)
    return text


def named_in_half(program: Program, kept: Sequence[Variable], text: str) -> str:
    """The text of a half with the elements of the arrays for the numbers."""
    for variable in lone_scalars(program, kept):
        data = text.encode()
        name = re.escape(variable.name.encode())
        places = [match.end() for match in re.finditer(rb"\b%s\b" % name, code_of_c(data))]
        for place in reversed(places):
            data = data[:place] + b"[0]" + data[place:]
        text = data.decode()
    return text


def begun_scalars(program: Program, routine: Routine, kept: Sequence[Variable]) -> list[str]:
    """What the start does in the place of the declarations of numbers with a value."""
    data = program.files[routine.file].data
    wanted = {variable.key: variable.name for variable in lone_scalars(program, kept)}
    found: list[str] = []
    for statement in routine.body.statements:
        set_here = {a.variable for a in statement.accesses if a.write} & wanted.keys()
        if statement.kind is not Kind.DECLARE or not set_here:
            continue
        code = code_of_c(data[statement.code_start : statement.end]).decode(errors="replace")
        declared = _DECLARED.match(code)
        for piece in pieces(declared[1]) if declared is not None else []:
            for key in sorted(set_here):
                value = _value(piece, wanted[key])
                if value:
                    found.append(f"{wanted[key]}[0] = {value};")
    return found
