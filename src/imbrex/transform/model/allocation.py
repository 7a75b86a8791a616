"""What an ALLOCATE of Fortran gives a shape."""

from __future__ import annotations

from typing import NamedTuple

from imbrex.transform.model.affine import Affine


class Allocation(NamedTuple):
    """An array, or (`owner`) a component of one object, and its bounds where they are known."""

    owner: str
    array: str
    bounds: tuple[tuple[Affine | None, Affine | None], ...]
