"""Columns of NumPy tables: reading a table means checking its types and its ranges."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from imbrex.errors import ImbrexError

Table = npt.NDArray[np.void]
"""A NumPy structured array, one row per entry."""

LARGEST_SUM = 1 << 62
_BLOCK = 1 << 15


@dataclass(frozen=True)
class Column:
    """One column: its NumPy type, and the least and the largest value (None: what the type has).

    `may_be_nan`: a floating point column whose values may be unknown.
    """

    name: str
    type: str
    meaning: str = ""
    unit: str = ""
    low: int | None = None
    high: int | None = None
    may_be_nan: bool = False

    @property
    def range(self) -> str:
        """The values allowed, as the page gives them."""
        if self.low is None:
            return ""
        if self.high is None or self.high >= LARGEST_SUM:
            return f"≥ {self.low}"
        return f"{self.low} to {self.high}" if self.high != self.low else f"{self.low}"

    def bounds(self) -> tuple[float, float]:
        """The least and the largest value allowed."""
        low = -np.inf if self.low is None else self.low
        return low, np.inf if self.high is None else self.high


@dataclass(frozen=True)
class TableFormat:
    """A `.npy` file with one row per entry. Its fields may come in any order, and be more."""

    called: str
    remedy: str
    columns: tuple[Column, ...]

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        """The type of a row as Imbrex writes it."""
        return np.dtype([(column.name, _endian(column.type)) for column in self.columns])

    def load(self, file: Path) -> Table:
        """Map the table in a file; ImbrexError with one line where it is not as the format says."""
        try:
            table = np.load(file, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            raise ImbrexError(f"{file}: missing: not written completely; {self.remedy}") from None
        except OSError as error:
            raise ImbrexError(f"{file}: {_problem(file, error)}; {self.remedy}") from None
        except Exception as error:  # NumPy parses the header as Python: it may raise anything
            raise ImbrexError(f"{file}: {_problem(file, error)}; {self.remedy}") from None
        found = dict(table.dtype.fields or {}) if isinstance(table, np.ndarray) else {}
        wanted = dict(self.dtype.fields or {})
        for column in self.columns:
            if column.name not in found or table.ndim != 1:
                raise ImbrexError(f"{file}: not {self.called} ('{column.name}' is not in it)")
            if found[column.name][0].newbyteorder("=") != wanted[column.name][0].newbyteorder("="):
                raise ImbrexError(
                    f"{file}: not {self.called} ('{column.name}' is {found[column.name][0]}, "
                    f"not {wanted[column.name][0]})"
                )
        if (problem := self.out_of_range(table)) is not None:
            raise ImbrexError(f"{file}: damaged: {problem}; {self.remedy}")
        return table  # type: ignore[no-any-return]

    def out_of_range(self, table: Table) -> str | None:
        """What is wrong with the values of a table, or None; one pass, in blocks."""
        numeric = [c for c in self.columns if not c.type.startswith("S")]
        sums = dict.fromkeys((c.name for c in numeric if c.high == LARGEST_SUM), 0.0)
        for start in range(0, len(table), _BLOCK):
            block = table[start : start + _BLOCK]
            if block.dtype == self.dtype:
                block = np.ascontiguousarray(block)
            for column in numeric:
                values = block[column.name]
                low, high = _extremes(values, column)
                least, most = column.bounds()
                if low < least or high > most or low != low or high != high:
                    inside = (values >= least) & (values <= most)
                    if column.may_be_nan:
                        inside |= np.isnan(values)
                    row = int(np.argmin(inside))
                    return f"{column.name} of row {start + row} is {values[row]}"
                if column.name in sums:
                    sums[column.name] += float(high) * len(block)
        for name, most in sums.items():
            if most >= LARGEST_SUM and table[name].sum(dtype=np.float64) >= LARGEST_SUM:
                return f"the sum of {name} is larger than any that can be true"
        return None

    def rows_in_range(self, table: Table) -> npt.NDArray[np.bool_]:
        """Which rows have all values in their ranges, shape (rows,)."""
        good = np.ones(len(table), np.bool_)
        for column in self.columns:
            if column.low is not None:
                low, high = column.bounds()
                good &= (table[column.name] >= low) & (table[column.name] <= high)
        return good


def _endian(kind: str) -> str:
    return kind if kind.startswith("S") or kind in ("i1", "u1") else f"<{kind}"


def _extremes(values: npt.NDArray[Any], column: Column) -> tuple[float, float]:
    if column.may_be_nan:
        values = values[~np.isnan(values)]
        if not len(values):
            return (column.low or 0), (column.low or 0)
    return operator.index(values.min()) if values.dtype.kind in "iu" else float(values.min()), (
        operator.index(values.max()) if values.dtype.kind in "iu" else float(values.max())
    )


def _problem(file: Path, error: Exception) -> str:
    try:
        with file.open("rb") as stream:
            start = stream.read(6)
    except OSError as unreadable:
        return f"cannot be read ({unreadable.strerror})"
    if start == b"\x93NUMPY":
        return "truncated or damaged"
    return "truncated or damaged (it is empty)" if not start else "not a NumPy table"
