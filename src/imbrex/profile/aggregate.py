"""Sums of measures by site, operation, size, section, rank or path.

Sums are exact integers, and take one pass over the rows, in blocks that fit the cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from imbrex.profile.format import KEYS, MEASURES_DTYPE, QUANTITIES, Table

Integers = npt.NDArray[np.int64]

_BLOCK = 1 << 15


def _quantities(block: Table) -> Integers:
    """The summable columns of a block as (rows, len(QUANTITIES))."""
    if block.dtype == MEASURES_DTYPE:
        # The key fills the first 16 bytes of a row, the quantities the rest.
        words = np.ascontiguousarray(block).view(np.int64).reshape(len(block), -1)
        return words[:, -len(QUANTITIES) :]
    values = np.empty((len(block), len(QUANTITIES)), np.int64)
    for column, name in enumerate(QUANTITIES):
        values[:, column] = block[name]
    return values


def total(measures: Table) -> Integers:
    """The sum of every quantity over all rows, shape (len(QUANTITIES),)."""
    sums = np.zeros(len(QUANTITIES), np.int64)
    for start in range(0, len(measures), _BLOCK):
        sums += _quantities(measures[start : start + _BLOCK]).sum(axis=0)
    return sums


def group(measures: Table, keys: Sequence[str]) -> tuple[Integers, Integers]:
    """Sum every quantity over the rows that agree in `keys`.

    Returns the distinct keys, shape (groups, len(keys)), in ascending order, and the sums,
    shape (groups, len(QUANTITIES)).
    """
    keys_seen = [np.empty((0, len(keys)), np.int64)]
    sums_seen = [np.empty((0, len(QUANTITIES)), np.int64)]
    for start in range(0, len(measures), _BLOCK):
        block = measures[start : start + _BLOCK]
        found = np.empty((len(block), len(keys)), np.int64)
        for column, key in enumerate(keys):
            found[:, column] = block[key]
        distinct, sums = sum_by(found, _quantities(block))
        keys_seen.append(distinct)
        sums_seen.append(sums)
    return sum_by(np.concatenate(keys_seen), np.concatenate(sums_seen))


def sum_columns(
    table: Table, keys: Sequence[str], names: Sequence[str]
) -> tuple[Integers, Integers]:
    """The same as `group` for the columns `names` of any table."""
    keys_seen = [np.empty((0, len(keys)), np.int64)]
    sums_seen = [np.empty((0, len(names)), np.int64)]
    for start in range(0, len(table), _BLOCK):
        block = table[start : start + _BLOCK]
        found, values = (_integers(block, columns) for columns in (keys, names))
        distinct, sums = sum_by(found, values)
        keys_seen.append(distinct)
        sums_seen.append(sums)
    return sum_by(np.concatenate(keys_seen), np.concatenate(sums_seen))


def _integers(block: Table, names: Sequence[str]) -> Integers:
    """Columns of a table as (rows, len(names))."""
    values = np.empty((len(block), len(names)), np.int64)
    for column, name in enumerate(names):
        values[:, column] = block[name]
    return values


def sum_by(keys: Integers, values: Integers) -> tuple[Integers, Integers]:
    """The distinct rows of `keys`, in ascending order, and the sums of the `values` of each."""
    if len(keys) == 0:
        return keys, values
    lows, highs = keys.min(axis=0), keys.max(axis=0)
    codes = np.zeros(len(keys), np.int64)
    room = 1
    for column, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        codes = codes * (high - low + 1) + (keys[:, column] - low)
        room *= high - low + 1
    if room <= 1 << 16:  # sorted by counting
        order = np.argsort(codes.astype(np.uint16), kind="stable")
    elif room < 1 << 63:
        order = np.argsort(codes, kind="stable")
    else:  # the codes are not distinct
        order = np.lexsort(keys.T[::-1])
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
    return ordered[starts], np.add.reduceat(values[order], starts, axis=0)


def without_ranks(measures: Table) -> Table:
    """The rows summed over ranks: those that agree in all other keys become one, of rank -1."""
    names = [name for name in KEYS if name != "rank"]
    keys, sums = group(measures, names)
    table = np.zeros(len(keys), MEASURES_DTYPE)
    table["rank"] = -1
    for column, name in enumerate(names):
        table[name] = keys[:, column]
    for column, name in enumerate(QUANTITIES):
        table[name] = sums[:, column]
    return table
