"""Lines in the place of a statement, in front of it or behind it, whatever shares its line."""

from __future__ import annotations

from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, first_on_line, line_start


def in_place(source: SourceFile, statement: Statement, lines: str) -> Edit:
    """`lines` in the place of a statement, with their indentation."""
    if _begins_line(source, statement.code_start):
        return Edit(line_start(source.data, statement.start), statement.end, lines)
    return Edit(_without_blanks(source, statement.code_start), statement.end, f"\n{lines}")


def in_front(source: SourceFile, offset: int, lines: str) -> Edit:
    """`lines` in front of what begins at a place."""
    if _begins_line(source, offset):
        start = line_start(source.data, offset)
        return Edit(start, start, f"{lines}\n")
    start = _without_blanks(source, offset)
    return Edit(start, start, f"\n{lines}")


def behind(source: SourceFile, statement: Statement, lines: str) -> Edit:
    """`lines` behind a statement, and a comment on its line."""
    offset = after_line(source.data, statement.end)
    return Edit(offset, offset, f"\n{lines}")


def left_out(source: SourceFile, statement: Statement) -> Edit:
    """A statement taken away, with its line and a comment there if nothing else stands on it."""
    start, data = statement.code_start, source.data
    stop = after_line(data, statement.end)
    newline = data.find(b"\n", stop)
    if not _begins_line(source, start) or newline < 0 or data[stop:newline].strip():
        return Edit(start, statement.end, "")
    return Edit(line_start(data, start), newline + 1, "")


def _without_blanks(source: SourceFile, offset: int) -> int:
    return len(source.data[:offset].rstrip(b" \t"))


def _begins_line(source: SourceFile, offset: int) -> bool:
    """Whether no other statement stands in front on its line; a label of Fortran may."""
    if source.is_fortran:
        return b";" not in source.data[line_start(source.data, offset) : offset]
    return first_on_line(source.data, offset)
