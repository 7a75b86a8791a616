"""How starts, waits and declarations read in C."""

from __future__ import annotations

import re

from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.covered_calls import CALL
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.call_text import statuses_of
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import (
    C_COMMENT_LINE,
    after_line,
    first_on_line,
    indent_at,
    line_start,
)

_WIDTH = 100


class CText:
    """C statements for the transfers of one routine; requests are `0 .. count - 1`."""

    def __init__(self, source: SourceFile, routine: Routine, count: int) -> None:
        self.source = source
        self.routine = routine
        self.count = count
        base = "imbrex_request" if count == 1 else "imbrex_requests"
        self.name = base
        number = 2
        while self.name in routine.exported:
            self.name = f"{base}{number}"
            number += 1

    def _request(self, number: int) -> str:
        return f"&{self.name}" if self.count == 1 else f"&{self.name}[{number}]"

    def start(self, transfer: Transfer, indent: str) -> str:
        texts = [argument.text for argument in transfer.start_arguments]
        guards = transfer.guards
        inner = indent + ("    " if guards else "")
        call = call_text(transfer.part.start, [*texts, self._request(transfer.request)], inner)
        if transfer.assigned:
            call = f"{transfer.assigned} {call}"
        call = checked(call, [transfer])
        if not guards:
            return call
        condition = guards[0] if len(guards) == 1 else " && ".join(f"({g})" for g in guards)
        return f"if ({condition})\n{inner}{call}"

    def waits(self, transfers: list[Transfer], indent: str) -> list[str]:
        """Wait statements for transfers that are waited for at one place."""
        texts = []
        ignored = [t for t in transfers if t.status is None]
        numbers = sorted(t.request for t in ignored)
        consecutive = len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1
        forms = {t.checked for t in ignored}
        if len(forms) > 1 and any(form.startswith("assert(") for form in forms):
            consecutive = False  # compiled without assertions only some were started
        if consecutive:
            first = numbers[0]
            whole = len(ignored) == self.count
            request = self.name if whole else self._request(first)
            arguments = [str(len(ignored)), request, "MPI_STATUSES_IGNORE"]
            texts.append(checked(call_text("MPI_Waitall", arguments, indent), ignored))
        for transfer in transfers:
            if transfer.status is None and consecutive:
                continue
            status = "MPI_STATUS_IGNORE" if transfer.status is None else transfer.status.text
            text = call_text("MPI_Wait", [self._request(transfer.request), status], indent)
            texts.append(checked(text, [transfer]))
        return texts

    def moved(self, statement: Statement, guards: list[str], indent: str) -> str:
        """The user's own statement at another place."""
        text = self.source.data[statement.start : statement.end].decode()
        inner = indent + ("    " if guards else "")
        text = text.replace("\n" + self.indent(statement), "\n" + inner)
        if not guards:
            return text
        condition = guards[0] if len(guards) == 1 else " && ".join(f"({g})" for g in guards)
        return f"if ({condition})\n{inner}{text}"

    def part_of_waitall(
        self,
        transfer: Transfer,
        requests: str,
        first: int,
        count: int,
        indent: str,
        taken: str = "",
    ) -> str:
        """A wait for some of the requests of an MPI_Waitall; `taken` is what takes its code."""
        plain = not first and not self.source.is_cxx  # in C++ it may be a vector
        request = requests if plain else f"&{requests}[{first}]"
        guards = transfer.guards
        inner = indent + ("    " if guards else "")
        if count == 1:
            status = statuses_of(transfer, one=True)
            text = call_text("MPI_Wait", [f"&{requests}[{first}]", status], inner)
        else:
            text = call_text("MPI_Waitall", [str(count), request, statuses_of(transfer)], inner)
        text = f"{taken} {text}" if taken else text
        if not guards:
            return text
        condition = guards[0] if len(guards) == 1 else " && ".join(f"({g})" for g in guards)
        return f"if ({condition})\n{inner}{text}"

    def fences(self, transfers: list[Transfer], indent: str) -> list[str]:
        return []  # a C compiler expects any routine to change what its address reaches

    def declarations(self, transfers: list[Transfer], fenced: list[Transfer]) -> list[Edit]:
        if not transfers:
            return []
        preset = any(transfer.conditional for transfer in transfers)
        text = f"MPI_Request {self.name}"
        if self.count > 1:
            text += f"[{self.count}]"
        if preset:
            value = ", ".join(["MPI_REQUEST_NULL"] * self.count)
            text += f" = {{{value}}}" if self.count > 1 else f" = {value}"
        return self.declare([f"{text};"])

    def declare(self, lines: list[str]) -> list[Edit]:
        """Declarations behind those of the routine."""
        data = self.source.data
        if self.routine.declare_after >= 0:
            offset = after_line(data, self.routine.declare_after)
            last = data.rfind(b"\n", 0, self.routine.declare_after) + 1
            indent = indent_at(data, last)
            return [Edit(offset, offset, "".join(f"\n{indent}{line}" for line in lines))]
        offset = self.routine.first_executable
        indent = indent_at(data, offset)
        if first_on_line(data, offset):
            offset = line_start(data, offset)
            return [Edit(offset, offset, "".join(f"{indent}{line}\n" for line in lines))]
        return [Edit(offset, offset, "".join(f"{line}\n{indent}" for line in lines))]

    def in_place(self, texts: list[str], indent: str, *, braced: bool) -> str:
        """Statements in the place of one; an unbraced body of several gets braces."""
        if braced or len(texts) == 1:
            return f"\n{indent}".join(texts)
        inner = f"\n{indent}"
        return "{" + inner + inner.join(texts) + "\n" + indent[:-4] + "}"

    @staticmethod
    def nothing() -> str:
        return "{ }"

    def indent(self, statement: Statement) -> str:
        return indent_at(self.source.data, statement.start)

    def line_end(self, offset: int) -> int:
        return after_line(self.source.data, offset)

    def comment_line(self) -> re.Pattern[bytes]:
        return C_COMMENT_LINE

    def block_if(self, condition: str, texts: list[str], indent: str) -> str | None:
        return None  # braces will do


def checked(call: str, transfers: list[Transfer]) -> str:
    """A call statement within what checks the error codes of these transfers, if all have the
    same."""
    forms = {transfer.checked for transfer in transfers}
    form = forms.pop() if len(forms) == 1 else ""
    return form.replace(CALL, call.removesuffix(";")) if form else call


def call_text(name: str, arguments: list[str], indent: str) -> str:
    """A call statement, broken at commas where it would be too long."""
    lines = [f"{name}("]
    hang = " " * (len(name) + 1)
    for number, argument in enumerate(arguments):
        piece = argument.strip() + (", " if number < len(arguments) - 1 else ");")
        if len(indent) + len(lines[-1]) + len(piece.rstrip()) > _WIDTH and number:
            lines[-1] = lines[-1].rstrip()
            lines.append(indent + hang + piece)
            continue
        lines[-1] += piece
    return "\n".join(lines)
