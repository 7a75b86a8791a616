"""A second buffer beside one that a routine has: what gives it memory, copies it and frees it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, first_on_line, indent_at, line_start
from imbrex.transform.text.number_types import NUMBERS
from imbrex.transform.text.pieces import pieces

COPIES = re.compile(rb"#\s*include\s*[<\"](?:string\.h|cstring)[>\"]")
ALLOCATES = re.compile(rb"#\s*include\s*[<\"](?:stdlib\.h|cstdlib)[>\"]")
_CAST = re.compile(r"\(\s*[\w\s:]+\*\s*\)\s*")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CHANGES = re.compile(r"\+\+|--|=|[\"';{}?]")
_ENTERED = frozenset({ReasonKind.LABEL, ReasonKind.CASE_LABEL})


@dataclass(slots=True)
class Second:
    """Lines of text, without indentation, and edits elsewhere, for one buffer."""

    variable: Variable
    name: str
    edits: list[Edit] = field(default_factory=list)
    before: list[str] = field(default_factory=list)  # in front of the loop
    first: list[str] = field(default_factory=list)  # where there is a first iteration
    each: list[str] = field(default_factory=list)  # what brings its content to the buffer
    behind: list[str] = field(default_factory=list)  # behind the loop


class SecondBuffers:
    """Writes second buffers for one routine, around one loop."""

    def __init__(
        self, program: Program, source: SourceFile, routine: Routine, loop: Statement
    ) -> None:
        self.program = program
        self.source = source
        self.routine = routine
        self.loop = loop

    def of(self, variable: Variable, name: str, size: str) -> Second | None:
        """The texts for one buffer and its new name; None where its size is not told.

        `size`: a name for the number of bytes, where that needs one.
        """
        if self.source.language is not Language.C:
            return self._of_fortran(variable, name)
        if not self._declares():
            return None
        if f"vector:{variable.key}" in self.program.variables:
            return self._of_vector(variable, name)
        if NUMBERS.fullmatch(variable.element.strip()) is None or variable.rows:
            return None
        if variable.reference:
            return None
        if not self.source.is_cxx and not ALLOCATES.search(self.source.data):
            return None
        return self._of_pointer(variable, name, size) or self._of_array(variable, name)

    def _declares(self) -> bool:
        """Whether a declaration may stand in front of the loop: nothing jumps over it."""
        owner = None if self.loop.parent is None else self.loop.parent.owner
        if owner is not None and owner.kind not in (Kind.IF, Kind.LOOP, Kind.BLOCK):
            return False
        return not (self.source.is_cxx and self._has_labels())

    def _has_labels(self) -> bool:
        return any(
            s.stop is not None and s.stop.kind in _ENTERED for s in self.routine.statements()
        )

    def _of_fortran(self, variable: Variable, name: str) -> Second | None:
        """An allocatable array with the bounds that the buffer has."""
        if not variable.bounds or variable.pointer or variable.optional or variable.rows:
            return None
        if NUMBERS.fullmatch(variable.element.strip()) is None:
            return None
        if self.routine.declare_after < 0:
            return None
        last = variable.bounds[-1]
        if last[1] is None and not (variable.allocatable or variable.assumed_shape):
            return None  # of assumed size
        own, rank = variable.name, len(variable.bounds)
        colons = ", ".join(":" for _ in range(rank))
        bounds = ", ".join(f"lbound({own}, {n}):ubound({own}, {n})" for n in range(1, rank + 1))
        if rank == 1:
            bounds = f"lbound({own}, 1):ubound({own}, 1)"
        declared = f"{variable.element}, allocatable :: {name}({colons})"
        return Second(
            variable,
            name,
            declarations(self.source, self.routine, [declared]),
            [],
            [f"allocate({name}({bounds}))", f"{name} = {own}"],
            [f"{own} = {name}"],
            [f"if (allocated({name})) deallocate({name})"],
        )

    def _of_vector(self, variable: Variable, name: str) -> Second | None:
        """A vector that begins as a copy of the buffer."""
        own = variable.name
        if variable.kind == "field" or variable.rows or variable.owned:
            return None
        kind = variable.element.strip()
        if NUMBERS.fullmatch(kind) is None:
            return None
        begun = [f"std::vector<{kind}> {name}({own});"]
        return Second(variable, name, [], begun, [], [f"{own} = {name};"])

    def _of_pointer(self, variable: Variable, name: str, size: str) -> Second | None:
        """Memory of the size that one statement, which surely comes first, gives a pointer."""
        if not variable.pointer or len(variable.bounds) > 1 or variable.kind != "local":
            return None
        found = self._allocation(variable)
        if found is None:
            return None
        statement, text, made = found
        data = self.source.data
        behind = after_line(data, statement.end)
        room = statement.parent is not None and statement.parent.insertable
        if not room or not first_on_line(data, statement.code_start):
            return None
        indent = indent_at(data, statement.code_start)
        second = Second(variable, name)
        second.edits.append(Edit(behind, behind, f"\n{indent}size_t {size} = {text};"))
        self._in_c(second, size, made=made)
        return second

    def _of_array(self, variable: Variable, name: str) -> Second | None:
        """Memory of the size of an array of one dimension."""
        if variable.pointer or len(variable.bounds) != 1 or variable.kind == "parameter":
            return None
        if variable.kind == "global" and variable.bounds[0][1] is None:
            return None  # its size may be told in another file
        of_library = rb"\barray\s*<[^;]*\b" + re.escape(variable.name).encode() + rb"\b"
        if self.source.is_cxx and re.search(of_library, self.source.data):
            return None
        second = Second(variable, name)
        self._in_c(second, f"sizeof {variable.name}", made=False)
        return second

    def _in_c(self, second: Second, size: str, *, made: bool) -> None:
        """What a buffer of C needs; `made`: it is one that `new` has made."""
        own, name, kind = second.variable.name, second.name, second.variable.element.strip()
        if made or (self.source.is_cxx and size.startswith("sizeof ")):
            second.before = [f"{kind} *{name} = new {kind}[{size} / sizeof({kind})];"]
            second.behind = [f"delete[] {name};"]
        else:
            cast = f"({kind} *)" if self.source.is_cxx else ""
            second.before = [f"{kind} *{name} = {cast}malloc({size});"]
            second.behind = [f"free({name});"]
        if COPIES.search(self.source.data):
            second.first = [f"memcpy({name}, {own}, {size});"]
            second.each = [f"memcpy({own}, {name}, {size});"]
            return
        header = f"for (size_t imbrex_i = 0; imbrex_i < {size} / sizeof({kind}); imbrex_i++)"
        second.first = [header, f"    {name}[imbrex_i] = {own}[imbrex_i];"]
        second.each = [header, f"    {own}[imbrex_i] = {name}[imbrex_i];"]

    def _allocation(self, variable: Variable) -> tuple[Statement, str, bool] | None:
        """The one statement that sets a pointer, the bytes that it asks for, whether by `new`."""
        name = re.escape(variable.name)
        setting = re.compile(rf"(?<![\w.>]){name}\s*=(?!=)\s*")
        found = []
        for statement in self.routine.statements():
            if not any(a.variable == variable.key and a.write and not a.through
                       for a in statement.accesses):  # fmt: skip
                continue
            end = statement.blocks[0].start if statement.blocks else statement.end
            text = self.source.data[statement.code_start : end].decode(errors="replace")
            match = setting.search(text)
            if match is None and statement.kind is Kind.DECLARE:
                continue
            found.append((statement, text, match))
        if len(found) != 1:
            return None
        statement, text, match = found[0]
        if match is None:
            return None
        if statement.kind not in (Kind.DECLARE, Kind.SIMPLE) or not self._comes_first(statement):
            return None
        asked = self._asked_for(_expression(text[match.end() :]))
        return None if asked is None else (statement, *asked)

    def _comes_first(self, statement: Statement) -> bool:
        """Whether control surely passes a statement on its way to the loop."""
        inner: Statement | None = self.loop
        while inner is not None and inner.parent is not statement.parent:
            inner = None if inner.parent is None else inner.parent.owner
        block: Block | None = statement.parent
        if inner is None or block is None:
            return False
        if block.owner is not None and block.owner.kind not in (Kind.IF, Kind.LOOP, Kind.BLOCK):
            return False
        if block.statements.index(statement) >= block.statements.index(inner):
            return False
        return not self._has_labels()

    @staticmethod
    def _asked_for(expression: str) -> tuple[str, bool] | None:
        """The number of bytes that an allocation asks for, as text, and whether it is a `new`."""
        text = _CAST.sub("", expression, count=1) if expression.startswith("(") else expression
        made = re.fullmatch(r"new\s+([\w\s]+?)\s*\[(.*)\]\s*(?:\(\s*\)|\{\s*\})?", text, re.DOTALL)
        called = re.fullmatch(r"(?:std::)?(malloc|calloc)\s*\((.*)\)", text, re.DOTALL)
        if made is not None:
            size = f"({made[2].strip()}) * sizeof({made[1]})"
            parts = [made[2]]
        elif called is not None:
            parts = pieces(called[2])
            if len(parts) != (1 if called[1] == "malloc" else 2):
                return None
            size = parts[0] if len(parts) == 1 else f"({parts[0]}) * ({parts[1]})"
        else:
            return None
        if any(_CHANGES.search(p) or set(_CALLED.findall(p)) - {"sizeof"} for p in parts):
            return None
        if any(part.count("(") != part.count(")") for part in parts):
            return None
        return " ".join(size.split()), made is not None


def _expression(text: str) -> str:
    """What an assignment sets: the text up to the next comma or semicolon outside parentheses."""
    return pieces(text.partition(";")[0])[0]


def declarations(source: SourceFile, routine: Routine, lines: list[str]) -> list[Edit]:
    """Declarations of Fortran, behind those that a routine has."""
    if not lines or routine.declare_after < 0:
        return []
    end = routine.declare_after
    indent = indent_at(source.data, line_start(source.data, max(end - 1, 0)))
    fixed = source.language is Language.FORTRAN_FIXED
    indent = indent if not fixed or len(indent) >= 6 else " " * 6
    behind = source.data.find(b"\n", end)
    return [Edit(behind, behind, "".join(f"\n{indent}{line}" for line in lines))]
