"""Macros that leave a function of C where a code of MPI is another one than that of success.

They return a value, in a function that is to have none, or jump to a label that is to go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile, code_of_c
from imbrex.transform.model.statements import Block
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, whole_lines

_DEFINED = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)((?:\\\r?\n|[^\n])*)", re.MULTILINE
)
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")


def leaving_macros(codes: Iterable[bytes], keyword: bytes) -> frozenset[bytes]:
    """The macros that leave by `return` or by `goto`, themselves or by another one.

    `codes`: the texts of the program, without comments.
    """
    uses: dict[bytes, set[bytes]] = {}
    for code in codes:
        for name, text in _DEFINED.findall(code):
            uses.setdefault(name, set()).update(_IDENTIFIER.findall(text))
    found = {keyword}
    while more := {name for name, used in uses.items() if used & found} - found:
        found |= more
    return frozenset(found - {keyword})


def without_leaving(
    source: SourceFile, routine: Routine, leaving: frozenset[bytes]
) -> list[Edit] | None:
    """The edits without which macros leave a routine, where each checks a code of success; None
    where another one does."""
    data, body = source.data, routine.body

    def leaves(start: int, end: int) -> bool:
        return not leaving.isdisjoint(_IDENTIFIER.findall(code, start, end))

    code = code_of_c(data)
    if not leaves(body.start, body.end):
        return []
    blocks = {statement.start: statement.parent for statement in routine.statements()}
    spans: list[tuple[int, int]] = []
    for call in source.checked.values():
        if body.start <= call.start < body.end and leaves(call.start, call.call):
            spans += call.blanks
    for check in source.code_checks.values():
        if body.start <= check.start < body.end and leaves(check.start, check.name):
            spans.append(_whole(data, check.start, check.end, blocks.get(check.start)))
    left = bytearray(code)
    for start, end in spans:
        left[start:end] = b" " * (end - start)
    if not leaving.isdisjoint(_IDENTIFIER.findall(left, body.start, body.end)):
        return None
    return [Edit(start, end, "") for start, end in spans]


def _whole(data: bytes, start: int, end: int, block: Block | None) -> tuple[int, int]:
    """The span of a check with its line, where nothing but a block asks for a statement there."""
    if block is None or not block.braced:
        return start, end
    closed = data.index(b";", end) + 1
    behind = after_line(data, closed)
    found = whole_lines(data, start, behind)
    if found == (start, behind):  # behind another statement, with the blanks between them
        return len(data[:start].rstrip(b" \t")), closed
    return found
