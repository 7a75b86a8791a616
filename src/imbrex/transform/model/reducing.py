"""A statement that takes a value into a scalar, and does nothing else."""

from __future__ import annotations

from typing import NamedTuple


class Reducing(NamedTuple):
    """A maximum, a minimum or a sum, of a scalar's key; `exact`: in whatever order."""

    operation: str  # "chosen max", "chosen min" or "sum"
    variable: str
    exact: bool
    absolute: str = ""  # a variable that nothing but its declaration may set, for that to hold
