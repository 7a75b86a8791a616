"""SELECT constructs of Fortran: SELECT CASE as the conditional that says the same.

No case runs into the next one, and the values of cases are constants of which no two are equal, so
that each case is the branch of an IF that compares. Its text stays: statements go between the cases
as they go between branches.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.readers.fortran_arguments import Effects
from imbrex.transform.readers.fortran_comparisons import not_negative
from imbrex.transform.readers.fortran_lines import (
    LogicalLine,
    at_depth_zero,
    closing,
    split_arguments,
)

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_body import Body

_ENDS = r"case(\(|default)|endselect|typeis\(|classis\(|classdefault"
_NUMBER = re.compile(r"[+-]?\d+")
_TEXT = re.compile(r"'_*'|\"_*\"")
_NAME = re.compile(r"[a-z]\w*")


def select(body: Body, line: LogicalLine, text: str) -> Statement:
    """The construct that begins at a line, whose body is next."""
    statement = Statement(Kind.SWITCH, line.start, line.end, line.line, line.end_line)
    statement.code_start = line.bytes[0] if line.bytes else line.start
    opening = text.index("(")
    effects = Effects()
    stop = closing(text, opening)
    body.expressions.read(line, opening + 1, stop, effects)
    statement.accesses += effects.accesses
    statement.calls += effects.calls
    statement.stop = effects.stop
    if not text.startswith("selectcase("):
        statement.stop = ReasonKind.SELECT()
    asked = line.text[opening + 1 : stop]
    conditions: list[str | None] = []
    while body.position < len(body.lines):
        inner = body.lines[body.position]
        body.position += 1
        if inner.masked.startswith("endselect"):
            statement.end, statement.end_line = inner.end, inner.end_line
            pure = not effects.calls and statement.stop is None and not inner.label
            if pure and inner.alone and line.alone:
                _as_conditional(body, statement, conditions)
            return statement
        condition = _condition(body, asked, inner)
        conditions.append(condition if inner.alone and not inner.label else None)
        block = body.as_block(body.statements(_ENDS), inner.end, body.here())
        statement.blocks.append(block)
    statement.stop = body.broken_at(statement.line, ReasonKind.SELECT_WITHOUT_END())
    return statement


def _as_conditional(body: Body, statement: Statement, conditions: list[str | None]) -> None:
    """Have a SELECT CASE be a conditional; `conditions`: those of its blocks, empty for the rest.

    It stays one of its own where what a case asks is not known, or the rest stands ahead of a case.
    """
    known = [condition for condition in conditions if condition is not None]
    if not known or len(known) != len(conditions) or not all(known[:-1]) or not known[0]:
        return
    statement.kind = Kind.IF
    statement.condition, *statement.more_conditions = known
    tests = [body.expressions.test(each.lower()) if each else None for each in known]
    statement.test, *statement.more_tests = tests
    statement.holding = not_negative(body.names, body.scope, known[0].lower())


def _condition(body: Body, asked: str, line: LogicalLine) -> str | None:
    """What the line of a case asks; None where that is not known, empty for all other values."""
    text = line.masked
    if re.match(r"casedefault", text):
        return ""
    if not text.startswith("case("):
        return None
    stop = closing(text, 4)
    found: list[str] = []
    for first, last in split_arguments(text[5:stop]):
        values = _values(text[5:stop][first:last], line.text[5:stop][first:last])
        if values is None or not all(_is_plain(body, masked) for masked, _ in values if masked):
            return None
        found.append(_compared(body, asked, [value for _, value in values]))
    return f"({').or.('.join(found)})" if len(found) > 1 else found[0]


def _values(masked: str, text: str) -> list[tuple[str, str]] | None:
    """One value, or the two ends of a range, empty where there is none: masked, and as written."""
    colons = list(at_depth_zero(masked, ":"))
    if len(colons) > 1 or masked == ":":
        return None
    ends = [0, *(colon + 1 for colon in colons)]
    stops = [*colons, len(masked)]
    return [(masked[a:b], text[a:b]) for a, b in zip(ends, stops, strict=True)]


def _is_plain(body: Body, value: str) -> bool:
    """Whether a value is an integer or characters, and no logical: a literal, or a constant."""
    if _NUMBER.fullmatch(value) or _TEXT.fullmatch(value):
        return True
    found = body.names.find(body.scope, value) if _NAME.fullmatch(value) else None
    return found is not None and found[1].type.startswith(("integer", "character"))


def _compared(body: Body, asked: str, values: list[str]) -> str:
    fixed = body.names.program.files[body.scope.file].language is Language.FORTRAN_FIXED
    equal, least, most = (".eq.", ".ge.", ".le.") if fixed else ("==", ">=", "<=")
    asked = asked if re.fullmatch(r"[\w%]+|\w+\([^()]*\)", asked) else f"({asked})"
    if len(values) == 1:
        return f"{asked}{equal}{values[0]}"
    low, high = values
    parts = [f"{asked}{least}{low}"] if low else []
    parts += [f"{asked}{most}{high}"] if high else []
    return ".and.".join(parts)
