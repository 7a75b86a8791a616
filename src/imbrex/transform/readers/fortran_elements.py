"""Elements of small arrays of Fortran that hold sizes, `n(1)` or `d%n(2)`, as affine forms.

What sets any element of such an array, or may do so, counts as a change of all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from imbrex.transform.model.affine import Affine, element_of
from imbrex.transform.model.memory import Variable
from imbrex.transform.readers.fortran_scopes import Scope

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_names import Names


def element(
    names: Names, scope: Scope, array: Variable | None, subscript: str, factor: str = ""
) -> Affine | None:
    """An element of an array of integers, by a subscript that is a number.

    `factor`: what the array is called as a component of an object.
    """
    if array is None or not _has_values(array) or array.key in names.program.overlays:
        return None
    index, (low, high) = names.affine(scope, subscript), array.bounds[0]
    if index is None or low is None or index.terms or low.terms:
        return None
    number = index.constant - low.constant
    if number < 0 or (high is not None and not high.terms and index.constant > high.constant):
        return None
    return Affine.variable(element_of(factor or array.key, number))


def _has_values(array: Variable) -> bool:
    """Whether the elements of an array are integers, in memory that it never exchanges."""
    if len(array.bounds) != 1 or not array.element.startswith("integer"):
        return False
    return not (array.volatile or array.allocatable or array.pointer or array.optional)
