"""How starts, waits and declarations read in Fortran, fixed and free form."""

from __future__ import annotations

import re
from collections.abc import Callable

from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.call_text import statuses_of
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import line_start
from imbrex.transform.text.wrapping import wrapped

_FREE_WIDTH = 100
_FIXED_WIDTH = 72
_CALL = re.compile(rb"(call\s*)(\w+)", re.IGNORECASE)
_CONTINUED = re.compile(r"     [^ 0]")
_FIXED_COMMENT = re.compile(rb"[cC*!]|[ \t]*![^$]")
_LITERAL = re.compile(r"('[^']*'|\"[^\"]*\")")
_OPERATOR = re.compile(r"(\.[a-zA-Z]+\.|[<>/=]=|(?<![=<>/])[<>](?!=))")
_FREE_COMMENT = re.compile(rb"[ \t]*!(?!\$)")


def _same(text: str) -> str:
    return text


class FortranText:
    """Fortran statements for the transfers of one routine; requests count from 1."""

    def __init__(self, program: Program, source: SourceFile, routine: Routine, count: int) -> None:
        self.program = program
        self.source = source
        self.routine = routine
        self.count = count
        self.fixed = source.language is Language.FORTRAN_FIXED
        self.upper = False
        self.name_case: Callable[[str], str] = _same
        base = "imbrex_request" if count == 1 else "imbrex_requests"
        self.name = base
        self.address = "imbrex_address"
        while self.address in routine.exported:
            self.address += "_"
        number = 2
        while self.name in routine.exported:
            self.name = f"{base}{number}"
            number += 1

    def _follow(self, transfer: Transfer) -> None:
        """Write keywords and names in the case of the call that is replaced."""
        match = _CALL.match(self.source.data, transfer.call.start)
        if match is not None:
            self.upper = match[1].isupper()
            self.name_case = str.lower if match[2].islower() else _same
            if match[2].isupper():
                self.name_case = str.upper

    def _case(self, text: str) -> str:
        return text.upper() if self.upper else text

    def _request(self, number: int) -> str:
        return self.name if self.count == 1 else f"{self.name}({number + 1})"

    def _requests(self, name: str, first: int, last: int) -> str:
        """Elements of a request array; with an interface the argument must be an array."""
        modules = self.routine.interface in ("mpi", "mpi_f08")
        return f"{name}({first}:{last})" if modules else f"{name}({first})"

    def _call(self, name: str, arguments: list[str], indent: str, before: str = "") -> str:
        head = self._case("call ") + self.name_case(name)
        pieces = [f"{argument}, " for argument in arguments[:-1]] + [arguments[-1] + ")"]
        return self._broken(before + head + "(", pieces, indent)

    def _broken(self, head: str, pieces: list[str], indent: str) -> str:
        """One statement on as many lines as the form needs."""
        width = (_FIXED_WIDTH - 5 if self.fixed else _FREE_WIDTH - 2) - len(indent)
        lines = [head]
        for piece in pieces:
            if len(lines[-1]) + len(piece.rstrip()) > width and lines[-1].strip():
                lines.append("")
            lines[-1] += piece
        lines = [part for line in lines for part in self._hard(line.rstrip(), width)]
        if self.fixed:
            return f"\n     &{indent[6:]}    ".join(lines)
        return f" &\n{indent}    ".join(lines)

    def _hard(self, line: str, width: int) -> list[str]:
        """A piece that is too long by itself is cut, in fixed form anywhere outside strings."""
        room = width - 4
        return (
            [line[i : i + room] for i in range(0, len(line), room)] if len(line) > width else [line]
        )

    def _error(self, transfer: Transfer) -> list[str]:
        return [] if transfer.error is None else [transfer.error.text]

    def start(self, transfer: Transfer, indent: str) -> str:
        self._follow(transfer)
        texts = [argument.text for argument in transfer.start_arguments]
        texts += [self._request(transfer.request), *self._error(transfer)]
        *outer, last = transfer.guards or [""]
        before = f"{self._case('if')} ({self._spaced(last)}) " if last else ""
        return self._under(
            outer, lambda inner: self._call(transfer.part.start, texts, inner, before), indent
        )

    def _under(self, guards: list[str], render: Callable[[str], str], indent: str) -> str:
        """Conditions one inside the other: Fortran may evaluate both sides of an `.and.`."""
        if not guards:
            return render(indent)
        return self.block_if(guards[0], [self._under(guards[1:], render, indent + "  ")], indent)

    @staticmethod
    def _spaced(text: str) -> str:
        """Blanks around operators, which the compact text has lost; characters stay as they are."""
        parts = _LITERAL.split(text)
        for number in range(0, len(parts), 2):
            parts[number] = _OPERATOR.sub(r" \1 ", parts[number]).replace("  ", " ")
        return "".join(parts)

    def waits(self, transfers: list[Transfer], indent: str) -> list[str]:
        """Wait statements, each followed by what keeps the compiler from moving accesses."""
        self._follow(transfers[0])
        texts = []
        ignored = [t for t in transfers if t.status is None]
        numbers = sorted(t.request for t in ignored)
        consecutive = len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1
        if consecutive:
            whole = len(ignored) == self.count
            first, last = numbers[0] + 1, numbers[-1] + 1
            request = self.name if whole else self._requests(self.name, first, last)
            arguments = [str(len(ignored)), request, "MPI_STATUSES_IGNORE"]
            arguments += self._error(ignored[0])
            texts.append(self._call("MPI_Waitall", arguments, indent))
        for transfer in transfers:
            if transfer.status is None and consecutive:
                continue
            status = "MPI_STATUS_IGNORE" if transfer.status is None else transfer.status.text
            arguments = [self._request(transfer.request), status, *self._error(transfer)]
            texts.append(self._call("MPI_Wait", arguments, indent))
        return texts + self.fences(transfers, indent)

    def fences(self, transfers: list[Transfer], indent: str) -> list[str]:
        """Calls that keep the compiler from moving accesses to the buffers over a wait."""
        texts = []
        fenced: dict[str, tuple[Transfer, bool]] = {}
        optional: dict[str, str] = {}
        for transfer in transfers:
            for argument in self._fenced(transfer):
                buffer = self._still_known(argument)
                fenced.setdefault(buffer, (transfer, self._by_address(transfer, argument)))
                variable = self.program.variables.get(argument.base or "")
                optional[buffer] = variable.name if variable and variable.optional else ""
        for buffer, (transfer, by_address) in fenced.items():
            if (name := buffer.partition("(")[0]) != buffer and name in fenced:
                continue  # the whole of it is fenced
            # A dummy argument that is absent must not be named.
            before = f"{self._case('if')} ({self._case('present')}({optional[buffer]})) "
            before = before if optional[buffer] else ""
            if not by_address:
                texts.append(self._call("MPI_F_SYNC_REG", [buffer], indent, before))
            else:
                arguments = [buffer, self.address, *self._error(transfer)]
                texts.append(self._call("MPI_Get_address", arguments, indent, before))
        return texts

    def _still_known(self, argument: Argument) -> str:
        """A name for the buffer that holds whatever its indices have become."""
        if argument.fence:
            return argument.fence
        variable = self.program.variables.get(argument.base or "")
        constant = all(index is not None and not index.terms for index in argument.origin or ())
        return argument.text if variable is None or constant else variable.name

    def moved(self, statement: Statement, guards: list[str], indent: str) -> str:
        """The user's own statement at another place."""
        first, *rest = self.source.data[statement.code_start : statement.end].decode().split("\n")
        match = _CALL.match(self.source.data, statement.code_start)
        self.upper = match is not None and match[1].isupper()
        old = " " * (len(self.indent(statement)))
        inner = indent + "  " * len(guards)
        text = "\n".join([first, *rest])
        if self.fixed and len(inner) + len(first) > _FIXED_WIDTH:
            text = self._wrapped(first, rest, inner) or text
        elif self.fixed and len(indent) + len(first) > _FIXED_WIDTH:
            first = old[: max(0, _FIXED_WIDTH - len(first))][len(indent) :] + first
            text = "\n".join([first, *rest])
        return self._under(guards, lambda _: text, indent)

    def _wrapped(self, first: str, rest: list[str], indent: str) -> str | None:
        """A statement on lines that are broken anew; None where one may be within a string."""
        if any(re.search(r"['\"!]", line) or not _CONTINUED.match(line) for line in rest):
            return None
        text = " ".join([first.rstrip(), *(line[6:].strip() for line in rest)])
        return (
            None
            if re.search(r"['\"!]", text)
            else wrapped(self.source.language, text, len(indent), indent)
        )

    def part_of_waitall(
        self,
        transfer: Transfer,
        requests: str,
        first: int,
        count: int,
        indent: str,
        taken: str = "",
    ) -> str:
        """A wait for some of the requests of an MPI_Waitall."""
        self._follow(transfer)
        inner = indent + "  " * len(transfer.guards)
        request = f"{requests}({first})"
        if count == 1:
            arguments = [request, "MPI_STATUS_IGNORE", *self._error(transfer)]
            text = self._call("MPI_Wait", arguments, inner)
        else:
            several = self._requests(requests, first, first + count - 1)
            statuses = statuses_of(transfer)
            arguments = [str(count), several, statuses, *self._error(transfer)]
            text = self._call("MPI_Waitall", arguments, inner)
        return self._under(transfer.guards, lambda _: text, indent)

    def _by_address(self, transfer: Transfer, buffer: Argument) -> bool:
        """Whether MPI_Get_address is the fence.

        MPICH's MPI_F_SYNC_REG writes an error code that nobody passes, without mpi_f08, and with it
        takes nothing that is INTENT(IN).
        """
        if self.routine.interface != "mpi_f08":
            return transfer.error is not None
        name = buffer.fence or buffer.text
        root = re.match(r"\s*(\w+)", name)
        mine = (self.program.variables.get(key) for key in self.routine.parameters)
        only_read = {v.name.lower() for v in mine if v is not None and v.only_read}
        return root is not None and root[1].lower() in only_read

    def _fenced(self, transfer: Transfer) -> list[Argument]:
        """The compiler must expect MPI_Wait to touch only what other routines can name."""
        bases = [self.program.variables.get(item.base or "") for item in transfer.buffers]
        return [
            item
            for item, base in zip(transfer.buffers, bases, strict=True)
            if base is None or base.kind != "global"
        ]

    def declarations(self, transfers: list[Transfer], fenced: list[Transfer]) -> list[Edit]:
        everything = transfers + fenced
        if not everything:
            return []
        self._follow(everything[0])
        data = self.source.data
        offset = self.line_end(self.routine.declare_after)
        indent = self._indent_at(self.routine.declare_after - 1)
        if self.routine.interface == "mpi_f08":
            kind = self._case("type") + f"(MPI_Request) {'::' if not self.fixed else ''}"
        else:
            kind = self._case("integer") + (" ::" if not self.fixed else "")
        edits = []
        for name in self._declared() if transfers else ():
            edits.append(Edit(offset, offset, f"\n{indent}{kind.rstrip()} {name}"))
        if any(self._by_address(t, each) for t in everything for each in self._fenced(t)):
            text = self._case("integer") + "(kind=MPI_ADDRESS_KIND) "
            text += self.address if self.fixed else f":: {self.address}"
            edits.append(Edit(offset, offset, f"\n{indent}{text}"))
        presets = [t for t in transfers if t.conditional]
        if presets:
            first = self.routine.first_executable
            inner = self._indent_at(first)
            if self._labelled(first):
                inner = indent
            lines = "".join(
                f"{inner}{self._request(t.request)} = MPI_REQUEST_NULL\n" for t in presets
            )
            start = line_start(data, first)
            edits.append(Edit(start, start, lines))
        return edits

    def _declared(self) -> list[str]:
        """The requests, as they are declared."""
        return [self.name if self.count == 1 else f"{self.name}({self.count})"]

    def _labelled(self, offset: int) -> bool:
        return self.source.data[offset : offset + 1].isdigit()

    def _indent_at(self, offset: int) -> str:
        """The indentation of the statement whose (last) line contains `offset`."""
        data = self.source.data
        start = line_start(data, offset)
        line = data[start : start + 132].split(b"\n")[0]
        blanks = len(line) - len(line.lstrip(b" "))
        if self.fixed:
            return " " * (blanks if blanks > 6 and not line[5:6].strip() else 6)
        return " " * blanks

    def indent(self, statement: Statement) -> str:
        data = self.source.data
        column = statement.code_start - line_start(data, statement.code_start)
        if not self.fixed:
            line = data[line_start(data, statement.start) :]
            return " " * (len(line) - len(line.lstrip(b" ")))
        return " " * max(column, 6) if self._first(statement) else self._indent_at(statement.start)

    def _first(self, statement: Statement) -> bool:
        data = self.source.data
        before = data[line_start(data, statement.code_start) : statement.code_start]
        return not before.strip() or before.strip().isdigit()

    def line_end(self, offset: int) -> int:
        end = self.source.data.find(b"\n", offset)
        return len(self.source.data) if end < 0 else end

    def comment_line(self) -> re.Pattern[bytes]:
        return _FIXED_COMMENT if self.fixed else _FREE_COMMENT

    def in_place(self, texts: list[str], indent: str, *, braced: bool) -> str:
        return f"\n{indent}".join(texts)

    def block_if(self, condition: str, texts: list[str], indent: str) -> str:
        """A logical IF that becomes a block, since it now guards another number of statements."""
        head = f"{self._case('if')} ({self._spaced(condition)}) {self._case('then')}"
        lines = [self._broken(head, [], indent), *(f"{indent}  {text}" for text in texts)]
        lines.append(f"{indent}{self._case('end if')}")
        return "\n".join(lines)

    @staticmethod
    def nothing() -> str:
        return "continue"
