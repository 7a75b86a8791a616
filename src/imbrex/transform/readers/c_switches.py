"""A `switch` whose cases do not run into each other, as the conditionals that say the same.

Its text stays: nothing is put between its cases.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.conditions import Test
from imbrex.transform.model.formulas import Formula, Number, Operation
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_formulas
from imbrex.transform.readers.c_places import PlaceReader

_MOST = 2**31 - 1  # no number is another one of the type that is asked for
_LABELS = (ck.CASE_STMT, ck.DEFAULT_STMT)
_ENDING = ("break", "return", "continue")


@dataclass(slots=True)
class _Case:
    """The statements behind some labels, and the numbers of these."""

    start: int
    line: int
    numbers: list[int] = field(default_factory=list)
    default: bool = False
    statements: list[Statement] = field(default_factory=list)


def as_conditionals(reader: PlaceReader, cursor: Any, statement: Statement) -> None:
    """Have a `switch` that was read be conditionals, where it says nothing else.

    One with calls of MPI stays as it is: what is rewritten goes between its statements.
    """
    asked, *more = cursor.children
    (body,) = statement.blocks
    if len(more) != 1 or more[0].kind is not ck.COMPOUND_STMT or not _is_plain(statement):
        return
    cases = _cases(reader, more[0].children, body.statements)
    value, formula = reader.affine(asked), c_formulas.formula(reader, asked)
    plain = all(0 <= number <= _MOST for case in cases for number in case.numbers)
    if not plain or all(case.default for case in cases) or (value is None and formula is None):
        return
    for case in cases:
        _leave_out_break(case.statements)
    cases.sort(key=lambda case: case.default)
    rest = _block(cases.pop(), body.end) if cases[-1].default else None
    for case in reversed(cases):
        first = case is cases[0]
        made = statement if first else Statement(Kind.IF, case.start, body.end, case.line, 0)
        made.kind, made.end_line, made.code_start = Kind.IF, statement.end_line, made.start
        made.accesses = list(statement.accesses)
        made.blocks = [_block(case, body.end), *([] if rest is None else [rest])]
        for block in made.blocks:
            block.owner = made
        made.test, made.asks = _question(value, formula, case.numbers)
        if not first:
            rest = Block([made], case.start, body.end, insertable=False)
            made.parent = rest


def _is_plain(statement: Statement) -> bool:
    """Whether it only reads what it asks for, and nothing in it communicates."""
    pure = not statement.calls and not any(access.write for access in statement.accesses)
    inner = statement.walk()
    return pure and not any(c.name.startswith("MPI_") or c.unknown for s in inner for c in s.calls)


def _cases(reader: PlaceReader, cursors: list[Any], statements: list[Statement]) -> list[_Case]:
    """The cases of a body; none where it holds other than cases that each end."""
    if len(cursors) != len(statements):
        return []  # preprocessor lines
    cases: list[_Case] = []
    for cursor, statement in zip(cursors, statements, strict=True):
        if cursor.kind in _LABELS:
            if cases and not _ending(cases[-1].statements):
                return []
            case = _Case(statement.start, statement.line)
            inner = [statement]
            while cursor.kind in _LABELS:
                *label, cursor = cursor.children
                number = c_formulas.formula(reader, label[0]) if len(label) == 1 else None
                if len(label) > 1 or (label and not isinstance(number, Number)):
                    return []
                case.default = case.default or not label
                case.numbers += [number.value] if isinstance(number, Number) else []
                inner = inner[0].blocks[0].statements
            case.statements += inner
            scoped = cursor.kind is ck.COMPOUND_STMT
            cases.append(case)
        elif cases:
            cases[-1].statements.append(statement)
            scoped = False
        if not cases or (not scoped and cases[-1].statements[-1].kind is Kind.DECLARE):
            return []
    inside = [statement for case in cases for statement in case.statements]
    breaks = sum(_breaks(statement) for statement in inside)
    return cases if breaks == sum(_ending(case.statements) == "break" for case in cases) else []


def _ending(statements: list[Statement]) -> str:
    """The jump that ends the statements, so that they never run into what stands behind them."""
    if not statements:
        return ""
    last = statements[-1]
    if last.kind is Kind.BLOCK:
        return _ending(last.blocks[0].statements)
    return last.text if last.kind is Kind.JUMP and last.text in _ENDING else ""


def _breaks(statement: Statement) -> int:
    """How often a statement leaves the `switch` that it stands in."""
    if statement.kind in (Kind.LOOP, Kind.SWITCH):
        return 0
    own = statement.kind is Kind.JUMP and statement.text == "break"
    return own + sum(_breaks(inner) for b in statement.blocks for inner in b.statements)


def _leave_out_break(statements: list[Statement]) -> None:
    if not statements:
        return
    last = statements[-1]
    if last.kind is Kind.BLOCK:
        _leave_out_break(last.blocks[0].statements)
    elif last.kind is Kind.JUMP and last.text == "break":
        del statements[-1]


def _block(case: _Case, end: int) -> Block:
    last = case.statements[-1].end if case.statements else case.start
    block = Block(case.statements, case.start, min(last, end), insertable=False)
    for statement in case.statements:
        statement.parent = block
    return block


def _question(
    value: Affine | None, formula: Formula | None, numbers: list[int]
) -> tuple[Test | None, Formula | None]:
    """Whether what is asked is one of these numbers."""
    test = None
    if value is not None and len(numbers) == 1:
        test = Test(value.plus(Affine(-numbers[0])), equal=True)
    if formula is None:
        return test, None
    asks: Formula | None = None
    for number in numbers:
        same = Operation("==", (formula, Number(number)), unsigned=False)
        asks = same if asks is None else Operation("||", (asks, same), unsigned=False)
    return test, asks
