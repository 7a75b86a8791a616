"""The bounds of Fortran arrays whose shape the program chooses, as variables of the model.

An array that is allocated, or takes the shape of what it is given, has the same bounds as long as
nothing allocates it anew. Which they are need not be known to compare what is touched: `a(1, :)`
and `a(ubound(a, 1), :)` of one routine are the first and the last row of the caller's array.
"""

from __future__ import annotations

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program

Bounds = tuple[Affine | None, Affine | None]


def extent_of(key: str, dimension: int) -> str:
    """The variable that is the number of elements of an assumed-shape dimension."""
    return f"extent:{key}:{dimension}"


def bound_of(key: str, dimension: int, *, low: bool) -> str:
    """The variable that is a bound of an array that is allocated."""
    return f"{'low' if low else 'high'}:{key}:{dimension}"


def is_bound(key: str) -> bool:
    """Whether a variable is a bound of an array that is allocated."""
    return key.startswith(("low:", "high:"))


def array_of(symbol: str) -> tuple[str, int] | None:
    """The array and the dimension of which an extent is; None for other variables."""
    if not symbol.startswith("extent:"):
        return None
    key, _, dimension = symbol.removeprefix("extent:").rpartition(":")
    return key, int(dimension)


def bounds_of(variable: Variable) -> list[str]:
    """The variables that are the bounds of an allocated array, where they have names."""
    if not variable.allocatable or variable.kind == "dummy":
        return []
    return [
        bound_of(variable.key, n, low=low)
        for n in range(len(variable.bounds))
        for low in (True, False)
    ]


def enter_bounds(program: Program, variable: Variable) -> None:
    """Note the variables that are the bounds of an array of assumed or deferred shape."""
    kind = "static" if variable.kind == "field" else variable.kind
    if variable.assumed_shape:
        names = [extent_of(variable.key, n) for n in range(len(variable.bounds))]
    else:
        names = bounds_of(variable)
    for name in names:
        program.variables.setdefault(
            name, Variable(name, f"the bounds of {variable.name}", kind, element="integer")
        )


def shape_of(variable: Variable) -> list[Bounds] | None:
    """Low and high bound of each dimension, as they are while the array keeps its shape.

    None where the array may be anything, or is one of C; of a bound, where a variable gives it.
    """
    found: list[Bounds] = []
    for number, (low, high) in enumerate(variable.bounds):
        if variable.allocatable:
            if variable.kind == "dummy":
                return None  # a caller's, under another name
            ends = (bound_of(variable.key, number, low=side) for side in (True, False))
            first, last = (Affine.variable(name) for name in ends)
            found.append((first, last))
        elif not _constant(low):
            return None
        else:
            found.append((low, high if variable.assumed_shape or _constant(high) else None))
    return found or None


def _constant(bound: Affine | None) -> bool:
    return bound is not None and not bound.terms
