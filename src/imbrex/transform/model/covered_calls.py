"""Calls of MPI that do not stand open in the source: in a check, or in code not analysed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from imbrex.transform.model.causes import Reason

CALL = "§"  # the place of the call in the text of a check


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """A statement that checks the error code of the call of MPI in it, with a macro, a function or
    a conditional. Bytes of the file: the check begins at `start`, the call is in `call..call_end`,
    and `end` is behind the check, without the semicolon of a macro or a function."""

    form: str  # the statement, with CALL in the place of the call
    start: int
    call: int
    call_end: int
    end: int
    whole: bool = False  # no semicolon follows

    @property
    def blanks(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """What is not read: the bytes in front of the call and those behind it."""
        return (self.start, self.call), (self.call_end, self.end)


class CodeCheck(NamedTuple):
    """A statement that does nothing where the variable in it holds the code of success.

    Bytes of the file: it begins at `start`, the name is in `name..name_end`, `end` is behind it,
    without the semicolon."""

    start: int
    name: int
    name_end: int
    end: int


class UnreadCall(NamedTuple):
    """A call of MPI in code that is not analysed: in which routine, and why that is not."""

    name: str
    routine: str
    reason: Reason
    idle: bool = False  # it runs by instances of its template alone, of which none is hidden
