"""Loops of fixed-form Fortran with labels at their ends, as FORTRAN 77 has them."""

from __future__ import annotations

import re

_DO = re.compile(r"^( {6,})do (\w+ = .*)$")
_END = re.compile(r"^( {6,})end ?do$")
_COLUMNS = 72


def with_labels(text: str) -> str:
    """A text in which `do i = 1, n` ends at a labelled `continue`, where its line has room."""
    found: list[str] = []
    open_loops: list[int] = []
    label = 1000
    for line in text.split("\n"):
        head, end = _DO.match(line), _END.match(line)
        if re.match(r" {6,}do while", line):
            open_loops.append(0)
        elif head is not None:
            label += 1
            new = f"{head[1]}do {label} {head[2]}"
            open_loops.append(label if len(new) <= _COLUMNS else 0)
            line = new if open_loops[-1] else line
        elif end is not None and open_loops:
            own = open_loops.pop()
            line = f"{own:5d}{end[1][5:]}continue" if own else line
        found.append(line)
    return "\n".join(found)
