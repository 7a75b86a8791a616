"""Integer expressions as trees, from which values follow where some are known.

An affine form tells what holds whatever the values are. What a routine does with a number that it
is given (`d = face / 2`, `face % 2 ? n[d] : 1`) it does not tell: only for one number after the
other, by a formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from imbrex.transform.model.affine import Affine


class Number(NamedTuple):
    value: int


class Cell(NamedTuple):
    """A variable, an element of an array, or (`through`) of what a pointer names."""

    variable: str
    through: bool
    indices: tuple[Formula, ...]


class Component(NamedTuple):
    """A field of a structure that a variable is, or points to; an element of it."""

    owner: str
    field: str
    element: Formula | None


class Operation(NamedTuple):
    operator: str
    operands: tuple[Formula, ...]
    unsigned: bool = False


Formula = Number | Cell | Component | Operation


class Assignment(NamedTuple):
    """What a statement sets; None: not known to what."""

    target: Cell
    value: Formula | None


class Span(NamedTuple):
    """The range of a loop's index, both ends included."""

    variable: str
    low: Formula
    high: Formula


def cells(formula: Formula) -> set[str]:
    """The variables whose values, or whose memory's, a formula depends on."""
    if isinstance(formula, Cell):
        return {formula.variable}.union(*map(cells, formula.indices))
    if isinstance(formula, Component):
        inner = set() if formula.element is None else cells(formula.element)
        return {formula.owner, formula.field} | inner
    if isinstance(formula, Operation):
        return set().union(*map(cells, formula.operands))
    return set()


_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "<": lambda difference: difference < 0,
    "<=": lambda difference: difference <= 0,
    ">": lambda difference: difference > 0,
    ">=": lambda difference: difference >= 0,
    "==": lambda difference: difference == 0,
    "!=": lambda difference: difference != 0,
}
_LARGEST = 1 << 30  # of what is computed with, so that nothing is cut off


def result(operator: str, operands: list[Affine], *, unsigned: bool) -> Affine | None:
    """The value of an operation, where it is known."""
    found = _result(operator, operands)
    if found is None or abs(found.constant) > _LARGEST:
        return None
    constants = [found, *operands]
    if unsigned and any(value.constant < 0 and not value.terms for value in constants):
        return None  # a large number
    return found


def _result(operator: str, operands: list[Affine]) -> Affine | None:
    if operator == "!":
        return None if operands[0].terms else Affine(int(operands[0].constant == 0))
    if len(operands) == 1:
        return operands[0].times(-1) if operator == "-" else None
    left, right = operands
    if operator in _COMPARISONS:
        difference = left.plus(right, -1)
        known = not difference.terms
        return Affine(int(_COMPARISONS[operator](difference.constant))) if known else None
    if operator == "+":
        return left.plus(right)
    if operator == "-":
        return left.plus(right, -1)
    if operator == "*":
        return left.product(right)
    if left.terms or right.terms:
        return None
    return _of_numbers(operator, left.constant, right.constant)


def _of_numbers(operator: str, left: int, right: int) -> Affine | None:
    if left < 0 or right < 0:
        return None
    if operator in ("/", "%"):
        if not right:
            return None
        return Affine(left // right if operator == "/" else left % right)
    if operator in ("<<", ">>"):
        if right > 16:
            return None
        return Affine(left << right if operator == "<<" else left >> right)
    if operator == "&":
        return Affine(left & right)
    if operator == "|":
        return Affine(left | right)
    return Affine(left ^ right) if operator == "^" else None
