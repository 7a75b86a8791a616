"""Where text goes on the page: lines, indentation, comments that belong to a statement."""

from __future__ import annotations

import re

C_COMMENT_LINE = re.compile(rb"[ \t]*(//[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*\r?)$")
FORTRAN_COMMENT_LINE = re.compile(rb"([cC*!](?!\$)[^\n]*|[ \t]*!(?!\$)[^\n]*)$")
_REST = re.compile(rb"[ \t]*((//[^\n]*)|(/\*((?!\*/)[^\n])*\*/[ \t]*))?(?=\r?\n)")


def line_start(data: bytes, offset: int) -> int:
    return data.rfind(b"\n", 0, offset) + 1


def indent_at(data: bytes, offset: int) -> str:
    """Leading blanks of the line that contains `offset`."""
    start = line_start(data, offset)
    end = data.find(b"\n", start)
    line = data[start : end if end >= 0 else len(data)]
    return line[: len(line) - len(line.lstrip(b" \t"))].decode()


def after_line(data: bytes, offset: int) -> int:
    """The end of the line behind `offset`, if only blanks or a comment follow there."""
    match = _REST.match(data, offset)
    return match.end() if match else offset


def before_comments(data: bytes, start: int, floor: int, comment: re.Pattern[bytes]) -> int:
    """The start of the comment lines right above the line that begins at `start`."""
    while start > 0:
        above = line_start(data, start - 1)
        if above <= floor or not comment.match(data[above : start - 1]):
            break
        start = above
    return start


def first_on_line(data: bytes, offset: int) -> bool:
    return not data[line_start(data, offset) : offset].strip()


def whole_lines(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The span widened to whole lines, if nothing else stands on them."""
    first = line_start(data, start)
    stop = data.find(b"\n", end)
    stop = len(data) if stop < 0 else stop + 1
    if data[first:start].strip() or data[end:stop].strip():
        return start, end
    return first, stop
