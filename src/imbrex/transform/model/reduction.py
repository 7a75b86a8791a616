"""A scalar into which iterations take values, one after the other: a sum, the largest of all."""

from __future__ import annotations

from typing import NamedTuple


class Reduction(NamedTuple):
    """What a statement, or all iterations of a loop, do to one scalar; `exact` in any order.

    `operation`: "sum", "extreme max", "chosen max", "logical .or." and the like. `variable`: the
    scalar's key. `absolute`, of C: a variable that nothing but its declaration may set, for that to
    hold.
    """

    operation: str
    exact: bool
    variable: str = ""
    absolute: str = ""
