"""What an ALLOCATE of Fortran gives a shape, and what an assignment does."""

from __future__ import annotations

from typing import NamedTuple

from imbrex.transform.model.affine import Affine


class Shaped(NamedTuple):
    """An allocatable array that an assignment gives the shape of others, which all have the same.

    `plain`: it is given one of them as it is, so that it has its bounds where it had no memory.
    """

    array: str
    sources: tuple[str, ...]
    plain: bool


class Allocation(NamedTuple):
    """An array, or (`owner`) a component of one object, and its bounds where they are known.

    Of a component whose type is not known: `%` and its name.
    """

    owner: str
    array: str
    bounds: tuple[tuple[Affine | None, Affine | None], ...]
