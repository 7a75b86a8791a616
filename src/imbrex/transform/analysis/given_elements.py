"""Elements of a small array of Fortran that a call gives as a whole, as those of the caller's."""

from __future__ import annotations

from imbrex.transform.model.affine import Affine, array_of_element, field_of
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.program import Program


def given_element(program: Program, element: str, argument: Argument) -> Affine | None:
    """An element of a dummy argument as one of the array that a call gives it.

    Both count from their first elements, whatever the numbers of these are.
    """
    array = array_of_element(element)
    theirs = program.variables.get(array)
    mine = program.variables.get(argument.base or "")
    if mine is None or theirs is None or not argument.whole:
        return None
    if len(mine.bounds) != 1 or len(theirs.bounds) != 1 or mine.element != theirs.element:
        return None
    if any(v.allocatable or v.pointer or v.volatile or v.optional for v in (mine, theirs)):
        return None
    if mine.key in program.overlays:
        return None
    number = element.removeprefix(array)
    if mine.kind != "field" or program.is_of_single(mine.key):
        return Affine.variable(mine.key + number)
    if not argument.part_of:
        return None
    return Affine.variable(field_of(argument.part_of, mine.key + number))
