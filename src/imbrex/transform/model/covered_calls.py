"""Calls of MPI that do not stand open in the source: in a macro, or in code not analysed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from imbrex.transform.model.causes import Reason


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """A statement that is a macro with a call of MPI in it, of which the macro checks the error
    code. Bytes of the file: the macro's name begins at `start`, the call is in `call..call_end`,
    and `end` is behind the macro's parenthesis."""

    macro: str
    start: int
    call: int
    call_end: int
    end: int


class UnreadCall(NamedTuple):
    """A call of MPI in code that is not analysed: in which routine, and why that is not."""

    name: str
    routine: str
    reason: Reason
