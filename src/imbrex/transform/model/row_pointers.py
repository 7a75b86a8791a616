"""Pointers to the rows of an array of C: `double **u` with `u[i] = data + i * m` for each row.

Where all of a program's are like that, `u[i][j]` is element `i * m + j` of one array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imbrex.transform.model.affine import Affine

# The lengths of the rows of such pointers, by their keys; None where that is not known.
RowLengths = Mapping[str, Affine | None]


@dataclass(frozen=True, slots=True)
class RowStore:
    """What sets one row of `rows`: `u[i] = base + i * length;`."""

    rows: str
    base: str = ""  # the pointer that it counts from, `rows` itself, or "" for new memory
    length: Affine | None = None  # of a row; None where the statement does not tell
    known: bool = False  # False: the row may be anywhere


@dataclass(frozen=True, slots=True)
class RowsMade:
    """What a pointer to rows is set to: the result of a routine of the program."""

    rows: str
    routine: str
    arguments: tuple[Affine | None, ...]


def length_of_rows(key: str) -> str:
    """The variable that stands for the length of the rows of a pointer, where it is not known."""
    return f"row:{key}"
