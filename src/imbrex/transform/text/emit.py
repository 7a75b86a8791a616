"""From the changed model to edits of the user's file."""

from __future__ import annotations

import re
from typing import Protocol

from imbrex.transform.analysis.transfer import Role, Transfer
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.text.braces import can_be_braced, closing, opening
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import (
    before_comments,
    first_on_line,
    line_start,
    whole_lines,
)


class Text(Protocol):
    """What a language supplies."""

    def start(self, transfer: Transfer, indent: str) -> str: ...

    def waits(self, transfers: list[Transfer], indent: str) -> list[str]: ...

    def declarations(self, transfers: list[Transfer], fenced: list[Transfer]) -> list[Edit]: ...

    def moved(self, statement: Statement, guards: list[str], indent: str) -> str: ...

    def part_of_waitall(
        self,
        transfer: Transfer,
        requests: str,
        first: int,
        count: int,
        indent: str,
        taken: str = "",
    ) -> str: ...

    def fences(self, transfers: list[Transfer], indent: str) -> list[str]: ...

    def in_place(self, texts: list[str], indent: str, *, braced: bool) -> str: ...

    @staticmethod
    def nothing() -> str: ...

    def indent(self, statement: Statement) -> str: ...

    def line_end(self, offset: int) -> int: ...

    def comment_line(self) -> re.Pattern[bytes]: ...

    def block_if(self, condition: str, texts: list[str], indent: str) -> str | None: ...


def number_requests(routine: Routine) -> list[Transfer]:
    """Number requests in the order of their waits, so that those waited for together adjoin."""
    ordered: list[Transfer] = []
    for run in _runs(routine.body):
        waits = [
            s.role.transfer
            for s in run
            if isinstance(s.role, Role) and not s.role.starts and s.role.render is None
        ]
        waits = [transfer for transfer in waits if transfer not in ordered]  # some have two
        ordered += [t for t in waits if t.status is None] + [t for t in waits if t.status]
    for number, transfer in enumerate(ordered):
        transfer.request = number
    return ordered


def has_inserted(block: Block) -> bool:
    return bool(_runs(block))


def _runs(block: Block) -> list[list[Statement]]:
    """Maximal runs of inserted statements, in textual order."""
    runs: list[list[Statement]] = [[]]
    for statement in block.statements:
        if statement.kind is Kind.INSERTED:
            runs[-1].append(statement)
            continue
        if not statement.removed or runs[-1]:
            runs.append([])
        for inner in statement.blocks:
            runs += [*_runs(inner), []]
    return [run for run in runs if run]


class Emitter:
    """Edits for one routine."""

    def __init__(self, source: SourceFile, text: Text) -> None:
        self.source = source
        self.data = source.data
        self.text = text
        self.edits: list[Edit] = []

    def emit(self, block: Block) -> list[Edit]:
        self._block(block)
        return self.edits

    def _block(self, block: Block) -> None:
        stay = [s for s in block.statements if not s.removed]
        more = len(stay) > 1 and any(s.kind is not Kind.INSERTED for s in stay)
        if more and not block.braced and can_be_braced(self.source, block):
            self.edits.append(opening(self.source, block))
            self._statements(block)
            self.edits.append(closing(self.source, block))
        else:
            self._statements(block)

    def _statements(self, block: Block) -> None:
        pending: list[Statement] = []
        anchor: Statement | None = None  # a removed statement whose place takes texts
        previous: Statement | None = None
        for statement in block.statements:
            if statement.kind is Kind.INSERTED:
                pending.append(statement)
                continue
            if anchor is not None:
                self._replace(anchor, pending, block)
                anchor, pending = None, []
            if statement.removed:
                anchor = statement
            else:
                if pending and previous is not None and not statement.end:
                    self._behind(previous, pending)  # the end of a routine has no text
                    pending = []
                elif pending:
                    self._before(statement, previous, pending)
                    pending = []
                self._inside(statement, block)
            previous = statement
        if anchor is not None:
            self._replace(anchor, pending, block)
        elif pending:
            assert previous is not None
            self._behind(previous, pending)

    def _inside(self, statement: Statement, block: Block) -> None:
        if statement.kind is Kind.IF and self._emptied(statement):
            start, end = whole_lines(self.data, statement.start, statement.end)
            if block.braced:
                self.edits.append(Edit(start, end, ""))
                return
        for inner in statement.blocks:
            self._block(inner)

    @staticmethod
    def _emptied(statement: Statement) -> bool:
        """Whether nothing is left of an IF without else, whose condition has no effect."""
        return (
            len(statement.blocks) == 1
            and statement.condition is not None
            and bool(statement.blocks[0].statements)
            and all(inner.removed for inner in statement.blocks[0].statements)
        )

    def _texts(self, run: list[Statement], indent: str) -> list[str]:
        texts: list[str] = []
        waits: list[Transfer] = []
        for statement in run:
            role = statement.role
            assert isinstance(role, Role)
            if role.render is None and not role.starts:
                waits.append(role.transfer)
                continue
            if waits:
                texts += self.text.waits(waits, indent)
                waits = []
            if role.render is not None:
                texts += role.render(self.text, indent)
            else:
                texts.append(self.text.start(role.transfer, indent))
        if waits:
            texts += self.text.waits(waits, indent)
        return texts

    def _replace(self, anchor: Statement, run: list[Statement], block: Block) -> None:
        indent = self.text.indent(anchor)
        texts = self._texts(run, indent)
        owner = block.owner
        if not block.braced and owner is not None and owner.condition is not None:
            outer = self.text.indent(owner)
            whole = (
                self.text.block_if(owner.condition, self._texts(run, outer + "  "), outer)
                if texts
                else None
            )
            if whole is not None:
                self.edits.append(Edit(owner.start, owner.end, whole))
                return
        if texts:
            text = self.text.in_place(texts, indent, braced=block.braced)
            self.edits.append(Edit(anchor.start, anchor.end, text))
        elif block.braced:
            self.edits.append(Edit(*whole_lines(self.data, anchor.start, anchor.end), ""))
        else:
            self.edits.append(Edit(anchor.start, anchor.end, self.text.nothing()))

    def _before(
        self, statement: Statement, previous: Statement | None, run: list[Statement]
    ) -> None:
        floor = previous.end if previous is not None else 0
        indent = self.text.indent(statement)
        texts = self._texts(run, indent)
        if not first_on_line(self.data, statement.start):
            text = "".join(f"{line}\n{indent}" for line in texts)
            self.edits.append(Edit(statement.start, statement.start, text))
            return
        start = line_start(self.data, statement.start)
        offset = before_comments(self.data, start, floor, self.text.comment_line())
        text = "".join(f"{indent}{line}\n" for line in texts)
        self.edits.append(Edit(offset, offset, text))

    def _behind(self, previous: Statement, run: list[Statement]) -> None:
        indent = self.text.indent(previous)
        if previous.kind is Kind.IF and self._emptied(previous):
            start, _ = whole_lines(self.data, previous.start, previous.end)
            text = "".join(f"{indent}{line}\n" for line in self._texts(run, indent))
            self.edits.append(Edit(start, start, text))
            return
        offset = self.text.line_end(previous.end)
        text = "".join(f"\n{indent}{line}" for line in self._texts(run, indent))
        self.edits.append(Edit(offset, offset, text))
