"""Numbers of elements of C++ vectors: which keep what they are declared with, and what a routine
that is given a vector by reference has of them.

`std::vector<double> u(n + 2), v(n + 2);` have `n + 2` elements for good if nothing but `u.swap(v)`
could change that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.memory import is_size, size_of, vector_of
from imbrex.transform.model.program import Program


def kept_sizes(program: Program, sizes: Iterable[str]) -> set[str]:
    """Those that nothing but an exchange of two vectors changes behind the declaration."""
    sizes = [size for size in sizes if is_size(size)]
    if not sizes:
        return set()
    resized = _resized(program)
    return {size for size in sizes if vector_of(size) not in resized}


def _resized(program: Program) -> set[str]:
    """The vectors that code which is seen may resize, or that others may reach."""
    found = set(program.resized_vectors)
    found |= {source for _, form, source in program.pointer_facts if form == "addr"}
    grown = True
    while grown:
        grown = False
        for name, position, key in program.passed_vectors:
            routine = program.routines.get(name)
            given = routine is not None and position < len(routine.parameters)
            if key in found or routine is None or not given:
                continue  # of routines that are not seen the facts tell
            if routine.parameters[position] in found:
                found.add(key)
                grown = True
    return found


def exchanged_unevenly(program: Program, values: Mapping[str, Affine]) -> set[str]:
    """Sizes of vectors that are exchanged with one whose size is another, or not known."""
    found: set[str] = set()
    for pair in program.exchanged_vectors:
        first, second = map(size_of, pair)
        if values.get(first) != values.get(second) or first not in values:
            found |= {first, second} & values.keys()
    return found


def given_size(program: Program, parameter: str, argument: Argument) -> str:
    """The caller's variable for the number of elements of a vector that a routine is given.

    Empty where the argument is no whole vector of the caller's own.
    """
    theirs = program.variables.get(parameter)
    mine = program.variables.get(argument.base or "")
    if theirs is None or mine is None or not theirs.pointer or mine.kind == "field":
        return ""
    if len(mine.bounds) != len(theirs.bounds) or not argument.through:
        return ""
    if list(argument.origin or ()) != [low for low, _ in mine.bounds]:
        return ""
    size = size_of(mine.key)
    return size if size in program.variables else ""
