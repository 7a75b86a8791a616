"""Statements of a loop's body as they read for another iteration, with other buffers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import replace

from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.text.layout import indent_at, line_start, whole_lines
from imbrex.transform.text.loop_guards import LoopGuards
from imbrex.transform.text.pieces import pieces
from imbrex.transform.text.wrapping import wrapped

_WIDTH = {Language.C: 10_000, Language.FORTRAN_FIXED: 72, Language.FORTRAN_FREE: 132}
_GOES_ON = {
    Language.FORTRAN_FIXED: re.compile(r"[ \t]*\n(?: {5}[^ 0\n]|\t[1-9])[ \t]*"),
    Language.FORTRAN_FREE: re.compile(r"[ \t]*&[ \t]*\n[ \t]*&?[ \t]*"),
}
_NAME = re.compile(r"[A-Za-z_]\w*")
_DIRECTIVE = re.compile(rb"#|(?m:^[cC*!]\$|!\$|![dD][iI][rR])")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINED = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?((?:\\\r?\n|[^\n])*)")
# In front of a name that is not a member's; the size of an array is asked of the array.
_FRONT_C = r"(?<![\w.])(?<!->)(?<!sizeof )(?<!sizeof\()"
_WORDS = """
if else for while do return sizeof int long short char float double unsigned signed const size_t
ptrdiff_t struct static_cast reinterpret_cast NULL nullptr std auto true false bool int32_t int64_t
uint32_t uint64_t data size begin end copy fill min max void
"""
_KNOWN = frozenset(re.findall(r"\w+", _WORDS))


class AheadText:
    """Says the statements of one loop's body anew."""

    def __init__(
        self,
        program: Program,
        source: SourceFile,
        routine: Routine,
        loop: Statement,
        guards: LoopGuards,
        kind: str,
    ) -> None:
        """`kind`: the type of the loop's index."""
        self.program = program
        self.source = source
        self.routine = routine
        self.body: Block = loop.blocks[0]
        self.header = loop.accesses
        self.guards = guards
        self.kind = kind.strip().lower() if source.is_fortran else kind.strip()

    def movable(
        self, statements: list[Statement], names: Set[str], arrays: Set[str] = frozenset()
    ) -> bool:
        """Whether statements stand on lines of their own, and say by name what they use.

        `names`: what gets other names, `arrays`: of these, arrays that become pointers. A macro may
        say one, or the index, without its being seen.
        """
        c = self.source.language is Language.C
        fold = str if c else str.lower
        inside = self._declared_inside(statements) - names
        mine = {fold(name) for name in (*names, self.guards.index)}
        for statement in statements:
            start, end = whole_lines(self.source.data, *self._span(statement))
            if (start, end) == self._span(statement) or self._follows_directive(statement):
                return False
            text = self.text_of(statement)
            if re.search(r"[\"']|\n[ \t]*#", text) or (not c and re.search(r"[!&;]", text)):
                return False
            used = {fold(name) for name in _NAME.findall(text)}
            if used & {fold(name) for name in inside}:
                return False
            if c and not self._without_macros(statement, used, mine):
                return False
            keyword = "|".join(map(re.escape, mine))
            if not c and re.search(rf"[(,]\s*(?:{keyword})\s*=(?!=)", text, re.IGNORECASE):
                return False
            if not c and re.search(rf"%\s+(?:{keyword})\b", text, re.IGNORECASE):
                return False
            if any(not self._as_pointer(text, name, used) for name in arrays):
                return False
            if c and re.search(rf"->\s*(?:{keyword})\b|\.\s+(?:{keyword})\b", text):
                return False
        return True

    def _span(self, statement: Statement) -> tuple[int, int]:
        return statement.code_start, statement.end

    def text_of(self, statement: Statement) -> str:
        data = self.source.data[statement.code_start : statement.end]
        if self.source.language is Language.C:
            data = _COMMENT.sub(b"", data)
        goes_on = _GOES_ON.get(self.source.language)
        text = data.decode(errors="replace")
        return text if goes_on is None else goes_on.sub(" ", text)

    def _follows_directive(self, statement: Statement) -> bool:
        """Whether something that is for the compiler belongs to a statement."""
        if statement.code_start != statement.start:
            return True
        index = self.body.statements.index(statement)
        start = self.body.statements[index - 1].end if index else self.body.start
        return _DIRECTIVE.search(self.source.data[start : statement.start]) is not None

    def _declared_inside(self, statements: list[Statement]) -> set[str]:
        """The names that mean something else in front of the loop than in its body."""
        body, found = self.body, set()
        for variable in self.program.variables.values():
            if variable.lifetime is None or variable.key.startswith("field:"):
                continue
            begins, ends = variable.lifetime
            if not (body.start <= begins and ends <= body.end):
                continue
            visible = any(begins <= s.start and s.end <= ends for s in statements)
            if visible or variable.name == self.guards.index:
                found.add(variable.name)
        for statement in body.statements:
            if statement.kind is Kind.DECLARE and statement not in statements:
                for declarator in pieces(self.text_of(statement).rstrip(";")):
                    found |= set(_NAME.findall(re.split(r"[=\[({]", declarator)[0])[-1:])
        return found

    def _without_macros(self, statement: Statement, used: set[str], mine: set[str]) -> bool:
        """Whether all macros of a statement are seen, and none stands for a name of `mine`."""
        known = {variable.name for variable in self.program.variables.values()}
        known |= {call.name.rpartition("::")[2] for s in statement.walk() for call in s.calls}
        macros = self._macros()
        every = self._said(used, macros)
        said = {name for each in every for name in _NAME.findall(macros.get(each, ""))}
        plain = {name for name in every - _KNOWN - known if not name.startswith("MPI_")}
        return not said & mine and plain <= macros.keys()

    def _as_pointer(self, text: str, name: str, used: set[str]) -> bool:
        """Whether a text means the same where a pointer stands for the array `name`."""
        rest = re.sub(rf"\bsizeof(?: {name}\b(?!\s*\[)|\({name}\))", "", text)
        if re.search(rf"\b(?:sizeof|alignof|typeof|decltype)\b[\s(]*{name}\b", rest):
            return False
        if re.search(rf"&\s*\(?\s*{name}\b(?!\s*\[)", rest):
            return False
        if re.search(rf"\b(?:begin|end|size|ssize|data|swap)\s*\(\s*{name}\b|:\s*{name}\b", rest):
            return False
        macros = self._macros()
        every = self._said(used, macros)
        return not any(re.search(r"of\b|[&#]", macros.get(each, "")) for each in every)

    @staticmethod
    def _said(used: set[str], macros: dict[str, str]) -> set[str]:
        """The names in a text and in the macros that it uses, and that these use."""
        found, waiting = set(used), list(used)
        while waiting:
            new = set(_NAME.findall(macros.get(waiting.pop(), ""))) - found
            found |= new
            waiting += new
        return found

    def _macros(self) -> dict[str, str]:
        """The macros of all files of the program, by name: all that any definition says."""
        found: dict[str, str] = {}
        for source in self.program.sources():
            for name, _, text in _DEFINED.findall(source.data):
                found[name.decode()] = f"{found.get(name.decode(), '')} {text.decode('latin-1')}"
        return found

    def lines(
        self,
        statements: list[Statement],
        names: dict[str, str],
        indent: str,
        *,
        first: bool,
        types: Mapping[int, str],
    ) -> list[str] | None:
        """Statements for the first iteration, or for the one that follows; None: no room.

        `types`: of statements of C that become declarations, their types.
        """
        found: list[str] = []
        width = _WIDTH[self.source.language]
        for statement in statements:
            here = indent_at(self.source.data, line_start(self.source.data, statement.code_start))
            text = self.text_of(statement)
            c = self.source.language is Language.C
            flags, front = (0, _FRONT_C) if c else (re.IGNORECASE, r"(?<![\w%])")
            for old, new in names.items():
                one = re.compile(rf"{front}{re.escape(old)}(?!\w)", flags)
                text = one.sub(new, text)
            text = f"{types.get(id(statement), '')}{self._of_iteration(text, first=first)}"
            for number, line in enumerate(text.split("\n")):
                inner = line.removeprefix(here) if number else line
                code = inner.lstrip()
                lead = indent + inner[: len(inner) - len(code)]
                found += broken(self.source.language, code.rstrip(), lead)
        return None if any(len(line) > width for line in found) else found

    def _of_iteration(self, text: str, *, first: bool) -> str:
        """A text for the first iteration or the one that follows, without idle parentheses."""
        guards = self.guards if not first else replace(self.guards, low=self._low())
        value = guards.low if first else guards.advanced
        text = guards.at_first(text) if first else guards.at_next(text)
        idle = rf"(?:(?<=[,=.] )|(?<=\w\())\({re.escape(value)}\)(?=\s*[,)])"
        return re.sub(idle, lambda _: value, text)

    def _is_of_kind(self, name: str) -> bool:
        """Whether a text is the name of a variable of the index's type."""
        fold = str.lower if self.source.is_fortran else str
        for access in self.header:
            variable = self.program.variables.get(access.variable)
            if variable is None or access.through or fold(variable.name) != fold(name):
                continue
            return fold(variable.element.strip()) == self.kind
        return False

    def _low(self) -> str:
        """The first value of the index, as a number of the index's type."""
        low = self.guards.low
        if re.fullmatch(r"-?\d+", low) and self.kind in ("int", "integer"):
            return low
        if self._is_of_kind(low):
            return low
        if self.source.is_fortran:
            return f"int({low})"
        return f"({self.kind}){low}" if re.fullmatch(r"\w+", low) else f"({self.kind})({low})"


def broken(language: Language, code: str, indent: str) -> list[str]:
    """The lines of a statement; those of C stay as they are."""
    if language is Language.C:
        return [f"{indent}{code}"]
    return f"{indent}{wrapped(language, code, len(indent), indent)}".split("\n")
