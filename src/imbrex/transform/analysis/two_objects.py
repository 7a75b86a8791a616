"""Variables that are objects of one type, of which the memory that each owns is told apart."""

from __future__ import annotations

from imbrex.transform.model.memory import Variable


def two_objects(one: Variable | None, other: Variable | None) -> bool:
    """Whether two variables are objects, and surely not one and the same.

    Of Fortran's dummy arguments the language asks it where either is changed. A routine's own
    object is none that it is given; any other one may be, as far as is known here.
    """
    if one is None or other is None:
        return False
    if any(each.pointer or not each.record or each.bounds for each in (one, other)):
        return False
    if (one.kind == "dummy") is (other.kind == "dummy"):
        return True
    places = {each.key.partition("@")[2] for each in (one, other)}
    return "local" in (one.kind, other.kind) and len(places) == 1
