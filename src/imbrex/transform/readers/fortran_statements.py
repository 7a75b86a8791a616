"""The lines of a Fortran routine, read one after the other, and the statements made of them."""

from __future__ import annotations

from imbrex.transform.model.causes import Cause
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.readers.fortran_lines import LogicalLine


class Lines:
    """The executable lines of one scope, and the place up to which they are read."""

    def __init__(self, lines: list[LogicalLine]) -> None:
        self.lines = lines
        self.position = 0
        self.broken = ""  # the first construct that is not closed, or has another one's name

    def broken_at(self, line: int, cause: Cause) -> Cause:
        self.broken = self.broken or f"line {line}: {cause}"
        return cause

    def _new(self, kind: Kind, line: LogicalLine) -> Statement:
        statement = Statement(kind, line.start, line.end, line.line, line.end_line)
        statement.code_start = line.bytes[0] if line.bytes else line.start
        return statement

    def opaque(self, line: LogicalLine, why: Cause) -> Statement:
        statement = self._new(Kind.OPAQUE, line)
        statement.stop = why
        return statement

    @staticmethod
    def as_block(statements: list[Statement], start: int, end: int) -> Block:
        block = Block(statements, start, end)
        for statement in statements:
            statement.parent = block
        return block

    @staticmethod
    def part(line: LogicalLine, start: int, end: int) -> LogicalLine:
        """A statement that is a part of another one."""
        part = LogicalLine(line.text[start:end], line.bytes[start:end], line.line, line.end_line)
        part.alone, part.bound = line.alone, line.bound
        return part

    def _note_end(self, line: LogicalLine, statement: Statement) -> None:
        if line.label:
            statement.stop = statement.stop or ReasonKind.LABEL(label=line.label)
        if not line.alone:
            statement.stop = statement.stop or ReasonKind.SEVERAL_ON_LINE()

    def here(self) -> int:
        if self.position < len(self.lines):
            return self.lines[self.position].start
        return self.lines[-1].end
