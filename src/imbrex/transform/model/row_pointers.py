"""Pointers to the rows of an array of C: `double **u` with `u[i] = data + i * m` for each row.

Where all of a program's are like that, `u[i][j]` is element `i * m + j` of one array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from imbrex.transform.model.affine import Affine

# The lengths of the rows of such pointers, by their keys; None where that is not known.
RowLengths = Mapping[str, Affine | None]


Place = tuple[str, int]  # a file, and a byte in it


@dataclass(frozen=True, slots=True)
class RowStore:
    """What sets one row of `rows`: `u[i] = base + i * length;`."""

    rows: str
    base: str = ""  # the pointer that it counts from, `rows` itself, or "" for new memory
    length: Affine | None = None  # of a row; None where the statement does not tell
    known: bool = False  # False: the row may be anywhere
    owner: str = ""  # the object whose field `rows` is
    place: Place = ("", 0)


@dataclass(frozen=True, slots=True)
class RowsSet:
    """What a pointer to rows is set to."""

    rows: str
    owner: str  # the object whose field it is
    place: Place
    routine: str = ""  # of the program, the result of which it is set to
    arguments: tuple[Affine | None, ...] = ()
    source: str = ""  # the variable or field that it is set from
    source_owner: str = ""
    new: bool = False  # to memory that is allocated there


def length_of_rows(key: str) -> str:
    """The variable that stands for the length of the rows of a pointer, where it is not known."""
    return f"row:{key}"
