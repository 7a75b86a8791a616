"""Orders of production and consumption, and index functions of packing (section 3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.formats.toml import Table

IntArray = NDArray[np.int64]
_LARGEST = 1 << 62


def _integers(table: Table, key: str, value: Any) -> IntArray:
    whole = all(type(item) is int and abs(item) < _LARGEST for item in value)
    if not value or not whole:
        table.fail(key, f"'{key}' must be a list of whole numbers that is not empty")
    return np.asarray(value, dtype=np.int64)


def _repeated(values: IntArray) -> int | None:
    """A value that occurs twice, None if there is none."""
    unique, counts = np.unique(values, return_counts=True)
    repeated = unique[counts > 1]
    return int(repeated[0]) if repeated.size else None


def read_order(table: Table, key: str, sent: int, total: int, offset: int) -> IntArray:
    """The positions of the `sent` elements among the `total` that are produced or consumed.

    "forward" and "reverse" put the sent elements at `offset` in the order; a list gives the
    position of every one. Shape (min(sent, total),) for the two names, (len of list,) for a list.
    Errors: ImbrexError for a list with repeated positions, with positions outside 0..total - 1,
    or of another length than `sent`.
    """
    value = table.raw(key)
    count = min(sent, total)
    if value is None or value == "forward":
        return offset + np.arange(count, dtype=np.int64)
    if value == "reverse":
        return offset + np.arange(count - 1, -1, -1, dtype=np.int64)
    if not isinstance(value, list):
        table.fail(key, f"'{key}' must be 'forward', 'reverse' or a list of positions")
    order = _integers(table, key, value)
    if order.size != sent:
        table.fail(key, f"'{key}' has {order.size} positions for {sent} elements")
    outside = order[(order < 0) | (order >= total)]
    if outside.size:
        table.fail(
            key, f"'{key}' is no permutation: position {outside[0]} is not in 0..{total - 1}"
        )
    repeated = _repeated(order)
    if repeated is not None:
        table.fail(key, f"'{key}' is no permutation: position {repeated} occurs twice")
    return order


def apply_index(table: Table, key: str, order: IntArray, sent: int) -> IntArray:
    """`order` as the message's buffer sees it: element k of the buffer is index[k] of the data.

    Absent: the data are sent as they lie. Errors: as in `read_order`.
    """
    value = table.raw(key)
    if value is None:
        return order
    if not isinstance(value, list):
        table.fail(key, f"'{key}' must be a list: the data element at each place of the buffer")
    index = _integers(table, key, value)
    if index.size != sent:
        table.fail(key, f"'{key}' has {index.size} places for {sent} elements")
    outside = index[(index < 0) | (index >= order.size)]
    if outside.size:
        table.fail(key, f"'{key}' names element {outside[0]}; there are {order.size} in the order")
    repeated = _repeated(index)
    if repeated is not None:
        table.fail(key, f"'{key}' is no permutation: element {repeated} occurs twice")
    return order[index]
