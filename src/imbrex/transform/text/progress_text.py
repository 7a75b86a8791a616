"""How progress calls, their conditions and the strips of a loop read in C and Fortran."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Statement
from imbrex.transform.text.c_text import CText, call_text
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.fortran_text import FortranText
from imbrex.transform.text.layout import after_line, first_on_line, indent_at, line_start
from imbrex.transform.text.loop_headers import Header, read_header
from imbrex.transform.text.terms import shifted

_FIXED_WIDTH = 72
_PURE = re.compile(r"^\s*([\w()*,\s]*\s)?(pure|elemental)\s", re.IGNORECASE)
_IPROBE = ["MPI_ANY_SOURCE", "32767", "MPI_COMM_WORLD"]


class ProgressText:
    """The progress calls of one routine and the declarations that they need."""

    def __init__(self, program: Program, source: SourceFile, routine: Routine) -> None:
        self.program = program
        self.source = source
        self.data = source.data
        self.routine = routine
        self.fortran = source.language is not Language.C
        self.fixed = source.language is Language.FORTRAN_FIXED
        self.flag = self._unused("imbrex_flag")
        self.count = self._unused("imbrex_count")
        self.first = self._unused("imbrex_first")
        self.error = self._unused("imbrex_error")
        self.next = self._unused("imbrex_next")
        self.counts = self.strips = self.clock = False
        self.text = FortranText(program, source, routine, 0)

    def _unused(self, name: str) -> str:
        while name in self.routine.exported:
            name += "_"
        return name

    def is_pure(self) -> bool:
        lines = self.data.split(b"\n", self.routine.line)
        head = lines[self.routine.line - 1 : self.routine.line]
        return bool(head) and _PURE.match(head[0].decode(errors="replace")) is not None

    def fits(self, loop: Statement) -> bool:
        """Whether a call can stand on lines of its own at the beginning of the body."""
        body = loop.blocks[0]
        if len(loop.blocks) != 1 or not body.statements:
            return False
        first = body.statements[0]
        if not first_on_line(self.data, loop.start) or not body.insertable:
            single = not self.fortran and not body.braced and len(body.statements) == 1
            return single and first_on_line(self.data, loop.start)
        return first_on_line(self.data, first.start) and first.start > loop.code_start

    def divides(self, loop: Statement) -> bool:
        header = read_header(self.source, loop)
        index = self.program.variables.get(loop.loop.index) if loop.loop is not None else None
        if header is None or index is None:
            return False
        if not self.fortran:
            return index.element in ("int", "long", "unsigned int", "unsigned long", "size_t")
        if index.element != "integer" or not self._terminated(loop):
            return False
        width = _FIXED_WIDTH if self.fixed else 100
        lines = self._strip(header, 1 << 20, index.element)
        column = header.start - line_start(self.data, header.start)
        return all(column + len(line) <= width for line in lines)

    def _terminated(self, loop: Statement) -> bool:
        """The loop ends with an END DO of its own."""
        last = self.data[line_start(self.data, loop.end - 1) : loop.end]
        return re.match(rb"\s*end\s*do\b", last, re.IGNORECASE) is not None

    def _strip(self, header: Header, every: int, element: str) -> tuple[str, str]:
        """The headers of the loop over strips and of the loop over one strip.

        `element`: the type of the index, which counts the strips too.
        """
        low, high = header.low, header.high
        if self.fortran:
            keyword = self.data[header.start : header.start + 2].decode()
            outer = f"{keyword} {self.first} = {low}, {high}, {every}"
            limit = f"{self.first} + {every - 1}"
            return outer, f"{header.first}{self.first}, min({high}, {limit})"
        compare = "<" if header.strict else "<="
        limit = shifted(high, 1) if header.strict else high
        begin = f"{element} {self.first} = {low}"
        outer = f"for ({begin}; {self.first} {compare} {limit}; {self.first} += {every})"
        index = header.index
        both = f"{index} {compare} {limit} && {index} < {self.first} + {every}"
        return outer, f"for ({header.first}{self.first}; {both}; {index}++)"

    def put(
        self,
        loop: Statement,
        every: int,
        divided: bool,
        request: str | None,
        clock_s: float | None = None,
    ) -> list[Edit]:
        """A call in every so many iterations of a loop; `clock_s`: if so long has passed."""
        if self.fortran:
            upper = self.data[loop.code_start : loop.code_start + 2].isupper()
            self.text.upper = upper
            self.text.name_case = str.upper if upper else str
        if divided:
            return self._divided(loop, every, request)
        body = loop.blocks[0]
        first = body.statements[0]
        if not body.braced and not self.fortran:
            outer = indent_at(self.data, loop.start)
            inner = outer + "    "
            lines = "".join(
                f"\n{inner}{line}" for line in self._call(every, request, inner, clock_s)
            )
            begin = len(self.data[: first.start].rstrip())
            return [
                Edit(begin, first.start, f" {{{lines}\n{inner}"),
                Edit(first.end, first.end, f"\n{outer}}}"),
            ]
        indent = self.text.indent(first) if self.fortran else indent_at(self.data, first.start)
        start = line_start(self.data, first.start)
        called = self._call(every, request, indent, clock_s)
        lines = "".join(f"{indent}{line}\n" for line in called)
        return [Edit(start, start, lines)]

    def _divided(self, loop: Statement, every: int, request: str | None) -> list[Edit]:
        header = read_header(self.source, loop)
        assert header is not None
        self.strips = self.fortran
        index = self.program.variables[loop.loop.index] if loop.loop is not None else None
        outer, inner = self._strip(header, every, index.element if index is not None else "int")
        start = line_start(self.data, loop.start)
        indent = " " * (header.start - start) if self.fortran else indent_at(self.data, loop.start)
        more = "  " if self.fortran else "    "
        (call,) = self._call(1, request, indent + more)
        brace = "" if self.fortran else " {"
        closing = self.text._case("end do") if self.fortran else "}"
        end = self.text.line_end(loop.end) if self.fortran else after_line(self.data, loop.end)
        edits = [Edit(start, start, f"{indent}{outer}{brace}\n{indent}{more}{call}\n")]
        edits += self._shifted(start, loop.end, "" if self.fixed else more)
        edits.append(Edit(header.start, header.end, inner))
        edits.append(Edit(end, end, f"\n{indent}{closing}"))
        return edits

    def _shifted(self, start: int, end: int, by: str) -> list[Edit]:
        """The lines of a span moved to the right."""
        edits = []
        while by and 0 <= start < end:
            if self.data[start : start + 1] not in (b"\n", b"#", b"\r"):
                edits.append(Edit(start, start, by))
            start = self.data.find(b"\n", start, end) + 1 or -1
        return edits

    def _call(
        self, every: int, request: str | None, indent: str, clock_s: float | None = None
    ) -> list[str]:
        name = "MPI_Iprobe" if request is None else "MPI_Request_get_status"
        before: list[str] = []
        if self.fortran:
            asked = _IPROBE if request is None else [request]
            arguments = [*asked, self.flag, "MPI_STATUS_IGNORE", self.error]
            condition = ""
            if every > 1:
                self.counts = True
                before = [f"{self.count} = mod({self.count} + 1, {every})"]
            if clock_s is not None:
                return [*before, self._by_clock(name, arguments, every, indent, clock_s)]
            if every > 1:
                condition = self.text._case(f"if ({self.count} .eq. 0) ")
            return [*before, self.text._call(name, arguments, indent, condition)]
        asked = _IPROBE if request is None else [request.removeprefix("&").strip()]
        if request is not None and not request.startswith("&"):
            asked = [f"*({request})"]
        arguments = [*asked, f"&{self.flag}", "MPI_STATUS_IGNORE"]
        if clock_s is not None:
            self.clock = True
            call = call_text(name, arguments, indent + "    ")
            later = f"{self.next} = MPI_Wtime() + {clock_s:.3g};"
            condition = f"if (MPI_Wtime() >= {self.next}) {{"
            if every > 1:
                self.counts = True
                counted = f"++{self.count} % {every} == 0"
                condition = f"if ({counted} && MPI_Wtime() >= {self.next}) {{"
            return [condition, f"    {call}", f"    {later}", "}"]
        if every > 1:
            self.counts = True
            inner = indent + "    "
            call = call_text(name, arguments, inner)
            return [f"if (++{self.count} % {every} == 0)\n{inner}{call}"]
        return [call_text(name, arguments, indent)]

    def _by_clock(
        self, name: str, arguments: list[str], every: int, indent: str, clock_s: float
    ) -> str:
        """In Fortran, where both sides of an .and. may be evaluated."""
        self.clock = True
        inner = indent + ("  " if every > 1 else "")
        call = self.text._call(name, arguments, inner + "  ")
        now = f"{self.text.name_case('MPI_Wtime')}()"
        later = f"{self.next} = {now} + {_double(clock_s)}"
        text = self.text.block_if(f"{now} .ge. {self.next}", [call, later], inner)
        if every > 1:
            text = self.text.block_if(f"{self.count} .eq. 0", [text], indent)
        return text

    def declarations(self) -> list[Edit]:
        if not self.fortran:
            names = [f"int {self.flag};"]
            if self.counts:
                names.append(f"static unsigned {self.count};")
            if self.clock:
                names.append(f"static double {self.next};")
            return CText(self.source, self.routine, 0).declare(names)
        colons = "" if self.fixed else " ::"
        integers = [self.error]
        integers += [self.first] if self.strips else []
        lines = [
            f"{self.text._case('integer')}{colons} {', '.join(integers)}",
            f"{self.text._case('logical')}{colons} {self.flag}",
        ]
        if self.counts and self.fixed:
            lines += [f"integer {self.count}", f"save {self.count}", f"data {self.count} /0/"]
        elif self.counts:
            lines.append(f"{self.text._case('integer')}, save :: {self.count} = 0")
        if self.clock:
            double = self.text._case("double precision")
            if self.fixed:
                lines += [f"{double} {self.next}", f"save {self.next}"]
                lines.append(f"data {self.next} /0.0d0/")
            else:
                lines.append(f"{double}, save :: {self.next} = 0.0d0")
        offset = self.text.line_end(self.routine.declare_after)
        indent = self.text._indent_at(self.routine.declare_after - 1)
        return [Edit(offset, offset, "".join(f"\n{indent}{line}" for line in lines))]


def _double(value: float) -> str:
    """A constant of double precision in Fortran."""
    text = f"{value:.3g}"
    return text.replace("e", "d") if "e" in text else f"{text}d0"
