"""The text of a call in front of its arguments."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Call

_HEAD = re.compile(rb"[^(]*\(\s*")


def head_of(data: bytes, call: Call) -> str:
    """`call MPI_Send(`, as it stands there."""
    found = _HEAD.match(data, call.start)
    assert found is not None  # a call has a list of arguments
    return found[0].decode()
