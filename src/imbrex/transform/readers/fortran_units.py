"""The program units of a Fortran file: scopes, their declarations and their executable lines."""

from __future__ import annotations

import codecs
import contextlib
import re
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.readers.fortran_conditionals import Conditionals, conditionals
from imbrex.transform.readers.fortran_defined import Own
from imbrex.transform.readers.fortran_imports import clash, imports_of
from imbrex.transform.readers.fortran_lines import (
    LogicalLine,
    closing,
    form_of,
    is_fixed_form,
    linked_names,
    logical_lines,
    split_arguments,
    without_associates,
)
from imbrex.transform.readers.fortran_scopes import (
    INCLUDED,
    Declarations,
    Scope,
    is_assignment,
    is_specification,
)
from imbrex.transform.readers.fortran_separate import InterfaceBodies, begun, has_prefix
from imbrex.transform.readers.fortran_swaps import find_pointings, find_swaps
from imbrex.transform.readers.fortran_types import Definition
from imbrex.transform.readers.fortran_views import find_views

FORTRAN_SUFFIXES = frozenset({".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08"})

_MACRO = re.compile(r"#\s*(?:define|undef)\s+(\w+)")
_PREFIX = r"(?:recursive|pure|elemental|impure|module|non_recursive)*"
_RECURSIVE = re.compile(r".*(?<!non_)recursive\w*(?:subroutine|function)[a-z]")
_SUBROUTINE = re.compile(rf"{_PREFIX}subroutine([a-z]\w*)(\(.*\))?$")
_FUNCTION = re.compile(
    rf"{_PREFIX}((?:doubleprecision|doublecomplex|integer|real|complex|logical|character|type)"
    rf"(?:\*\d+|\([^()]*(?:\([^()]*\))?[^()]*\))?)?{_PREFIX}function([a-z]\w*)(\(.*\))$"
)
_ELEMENTAL = re.compile(r".*?elemental\w*?(?:subroutine|function)[a-z]")
_UNTYPED = re.compile(rb"(?i)ignore_tkr|no_arg_check")
_HOLLERITH = re.compile(r"(?<!\w)\d+h")  # characters without quotes, parentheses among them
_WORD = re.compile(r"[a-z_]\w*")
_END = re.compile(r"end(program|subroutine|function|module|submodule|blockdata|procedure)?\w*$")
_INNER_END = re.compile(
    r"end(if|do|select|where|forall|type|interface|associate|block|critical|team|enum)\w*$"
)
_GENERIC = re.compile(r"interface(?!operator\(|assignment\()([a-z]\w*)")
_PROCEDURES = re.compile(r"(?:module)?procedure(?:::)?([a-z]\w*(?:,[a-z]\w*)*)")
_POINTED = re.compile(r"pointer|target")
_INNER = re.compile(r"end(subroutine|function|procedure)?\w*$")
_TYPE_DEFINITION = re.compile(r"type(,[^:]*)?(::)?[a-z]\w*$")


class Units:
    """Splits one file into scopes."""

    def __init__(
        self, path: Path, data: bytes, flags: list[str], fixed: bool | None = None
    ) -> None:
        """`fixed`: the form; None where the flags say it, or else the file's name."""
        self.path = path
        self.flags = flags
        self.form = form_of(flags) if fixed is None else fixed
        self.fixed = is_fixed_form(path.name) if self.form is None else self.form
        language = Language.FORTRAN_FIXED if self.fixed else Language.FORTRAN_FREE
        self.source = SourceFile(path, str(path), data, language)
        self.declarations = Declarations(path.parent, flags, fixed=self.fixed)
        self.bodies = InterfaceBodies(self._open, self.declarations)
        self.scopes: list[Scope] = []
        self.own = Own()
        self.types: list[Definition] = []
        self.conditionals = Conditionals("")
        self.macros: set[str] = set()
        # The words of statements that associate pointers; None where not all of these are known.
        self.linked: set[str] | None = set()
        self.lines: list[LogicalLine] = []
        self.moved = False  # `move_alloc` does something else than to swap arrays

    @staticmethod
    def of(path: Path, data: bytes, flags: list[str]) -> Units:
        """A file that is read, in the other form where it is not understood in its name's.

        Such a file compiles only with a flag that says its form. Raises ImbrexError as `read`.
        """
        unit = Units(path, data, flags)
        try:
            unit.read()
        except ImbrexError:
            if unit.form is not None:
                raise
            other = Units(path, data, flags, fixed=not unit.fixed)
            with contextlib.suppress(ImbrexError):
                other.read()
                return other
            raise
        return unit

    def read(self) -> list[Scope]:
        """All scopes of the file.

        Raises ImbrexError with the line where the file is not understood.
        """
        if b"\0" in self.source.data:
            at = self.source.data.index(b"\0")
            raise ImbrexError(f"{self.path} is not UTF-8 or Latin-1 (byte {at}): convert it first")
        if b"\r" in self.source.data and b"\n" not in self.source.data:
            raise ImbrexError(f"{self.path}: its lines end in CR alone: convert it first")
        text = self.source.data.decode("latin-1")
        if self.source.data.startswith(codecs.BOM_UTF8):
            # As many characters that say nothing; in fixed form only a comment can follow.
            text = ("!  " if self.fixed else "   ") + text[3:]
        self.missing = ""
        set_by_headers: set[str] = set()
        for line in re.findall(r"(?m)^#.*", text):
            set_by_headers |= self._macros_of(line, self.path.parent, set())
        if not self.missing:
            self.conditionals = conditionals(text, self.flags, set_by_headers)
        try:
            lines = logical_lines(self.conditionals.text or text, fixed=self.fixed)
        except ValueError as error:
            raise ImbrexError(f"{self.path}: {error}") from error
        self._mark_macros(lines)
        self.lines = lines
        self.own.untyped = _UNTYPED.search(self.source.data) is not None
        current: Scope | None = None
        skip = ""  # the end of a construct that declares nothing we need
        generic = ""  # the generic name that an interface block is about
        in_execution = False
        state: list[bool] = []
        held: list[LogicalLine] = []  # directives that may belong to the first statement
        # There a statement may be several, of which the compiler sees one.
        preprocessed = any(line.directive.startswith("#") for line in lines)
        for line in lines:
            text = line.masked
            if current is not None and current.parent is not None:
                self._note_words(current.parent, line)
            if skip == "endinterface" and _POINTED.search(text):
                self.linked = None  # of a procedure that may not be among the files
            if skip:
                if skip == "endinterface" and current is not None:
                    self.bodies.read(line, current)
                if text.startswith(skip):
                    skip = generic = ""
                elif generic and current is not None:
                    self._specific(current, generic, line)
                elif skip == "endtype":
                    if not line.directive:
                        self.own.component(text)
                    self.types[-1].read(line, self.declarations)
                continue
            if line.directive:
                if current is not None and self._directive(current, line, in_execution):
                    held.append(line)
                continue
            if (
                not preprocessed
                and text.count("(") != text.count(")")
                and not _HOLLERITH.search(text)
            ):
                raise ImbrexError(f"{self.path}: line {line.line}: its parentheses do not match")
            if not is_assignment(text):
                opened = self._open(text, line, current)
                if opened is None and not in_execution:
                    opened = begun(line, current, self.conditionals)
                if opened is not None:
                    state.append(in_execution)
                    self.scopes.append(opened)
                    current, in_execution = opened, False
                    held = []
                    continue
                if text == "contains":
                    if current is not None:
                        current.has_contained = True
                    in_execution = False
                    continue
                if _END.match(text) and not _INNER_END.match(text):
                    if current is None:
                        raise ImbrexError(f"{self.path}: line {line.line}: an END of nothing")
                    current.last_line = line.line
                    current = current.parent
                    in_execution = state.pop()
                    continue
                if not in_execution and re.match(r"(abstract)?interface\w*(\(.*\))?$", text):
                    skip = "endinterface"
                    self.own.interface(text)
                    named = _GENERIC.fullmatch(text)
                    generic = named[1] if named is not None else ""
                    if generic and current is not None:
                        current.generics.setdefault(generic, set())
                    continue
                if not in_execution and _TYPE_DEFINITION.match(text):
                    skip = "endtype"
                    name = text.rpartition("::")[2]
                    self.own.types |= {name, name.removeprefix("type")}
                    if "::" not in text:
                        name = name.removeprefix("type")
                    inner = Scope(name, "type", str(self.path), line.line, current)
                    self.types.append(Definition(text, inner))
                    continue
            if current is None:
                current = Scope("main", "program", str(self.path), line.line)
                state.append(False)
                self.scopes.append(current)
            if not in_execution and is_specification(text):
                held = []  # they were about declarations
                if text.startswith("generic"):
                    self.own.component(text)
                self.declarations.read(current, line)
                if text == "private" and line.alone:
                    current.withheld_at = line.end
                if text.startswith("use"):
                    current.imports = imports_of(line, current.imports)
                if not text.startswith(("data", "format")):
                    current.declare_after = line.end
                continue
            if text.startswith("entry") and not is_assignment(text):
                current.problem = current.problem or ReasonKind.ENTRY()
            in_execution = True
            current.body += [*held, line]
            held = []
        self._note_linked(lines)
        clashing = any(clash(name) for scope in self.scopes for name in scope.symbols)
        for scope in self.scopes:
            if clashing:
                scope.imports = None
            if self.missing and not scope.problem:
                # It may define macros, so that any line may read otherwise.
                scope.missing = self.missing
                scope.problem = ReasonKind.INCLUDE_MISSING(file=self.missing)
                scope.hidden = scope.hidden or scope.problem
        if current is not None and current.parent is not None:
            raise ImbrexError(f"{self.path}: {current.name} has no END")
        if skip:
            raise ImbrexError(f"{self.path}: a construct has no {skip.upper()}")
        return self.scopes

    def _note_linked(self, lines: list[LogicalLine]) -> None:
        """Note swaps of arrays, what points to variables, and the words of all else that links."""
        swapping = set()
        for scope in self.scopes:
            scope.swaps = find_swaps(scope.body)
            scope.pointings = find_pointings(scope.body, scope.swaps)
            runs = [*(swap.moves for swap in scope.swaps), *scope.pointings]
            swapping |= {id(move.line) for run in runs for move in run}
            scope.views = find_views(scope)
            swapping |= {id(view.line) for view in scope.views}
        alone = [line for line in lines if id(line) not in swapping]
        self.moved = any("move_alloc" in f"{line.masked} {line.directive}" for line in alone)
        if self.linked is not None:
            alone = without_associates(lines, alone)
            self.linked = self.linked.union(self.declarations.linked, *map(linked_names, alone))

    def _note_words(self, scope: Scope, line: LogicalLine) -> None:
        """Note what a line of a contained procedure may name of the units around it.

        In fixed form words need no blanks between them, and macros may stand for any.
        """
        where: Scope | None = scope
        hidden = self.fixed or line.directive or self.macros or line.masked.startswith("include")
        text = self.source.data[line.start : line.end].decode("latin-1").lower()
        while where is not None:
            if hidden or where.named_inside is None:
                where.named_inside = None
            else:
                where.named_inside |= set(_WORD.findall(text))
            where = where.parent

    @staticmethod
    def _specific(scope: Scope, generic: str, line: LogicalLine) -> None:
        """A line of an interface block: the procedures that it adds to the generic name."""
        known, text = scope.generics[generic], line.masked
        if known is None or _INNER.match(text):
            return
        listed = _PROCEDURES.fullmatch(text)
        if listed is not None:
            known |= set(listed[1].split(","))
        elif (header := _SUBROUTINE.match(text)) is not None:
            known.add(header[1])
        elif (header := _FUNCTION.match(text)) is not None:
            known.add(header[2])
        elif text.startswith("include") or not is_specification(text):
            scope.generics[generic] = None

    def _mark_macros(self, lines: list[LogicalLine]) -> None:
        """A line that a preprocessor macro may change is not what the compiler reads."""
        self.missing = ""  # what stands in code that is not compiled is not needed
        macros = {m[1] for line in lines if (m := _MACRO.match(line.directive))}
        for line in lines:
            macros |= self._macros_of(line.directive, self.path.parent, set())
        macros |= {re.split(r"[=(]", flag[2:])[0] for flag in self.flags if flag.startswith("-D")}
        self.macros = macros
        if not macros:
            return
        for line in lines:
            text = self.source.data[line.start : line.end].decode("latin-1")
            used = macros & set(re.findall(r"[A-Za-z_]\w*", text))
            if used and not line.directive:
                line.directive = f"macro {min(used)}"

    def _macros_of(self, directive: str, folder: Path, seen: set[Path]) -> set[str]:
        """The macros that an included file defines; a file that is not found is noted."""
        match = INCLUDED.match(directive)
        if match is None or match[1].lower() in ("mpif.h", "mpif-config.h"):
            return set()
        for place in (folder, *self.declarations.folders):
            path = (place / match[1]).resolve()
            if not path.is_file():
                continue
            found: set[str] = set()
            if path in seen:
                return found
            seen.add(path)
            for line in path.read_text(errors="replace").splitlines():
                if macro := _MACRO.match(line.strip()):
                    found.add(macro[1])
                found |= self._macros_of(line.strip(), path.parent, seen)
            return found
        self.missing = self.missing or match[1]
        return set()

    def _directive(self, scope: Scope, line: LogicalLine, in_execution: bool) -> bool:
        """Note a directive; True where it may belong to the statement that follows."""
        include = INCLUDED.match(line.directive)
        if include is not None and not in_execution:
            self.declarations.include(scope, include[1], self.macros)
            scope.declare_after = line.end
        elif in_execution:
            scope.body.append(line)
        elif line.directive.startswith(("#", "macro")):
            scope.problem = scope.problem or ReasonKind.DECLARATIONS_HOLD(line=line.directive)
        else:
            return True
        return False

    def _open(self, text: str, line: LogicalLine, parent: Scope | None) -> Scope | None:
        """The scope that a header opens; None where the line is no header."""
        result = ""
        type_name = ""
        header = re.sub(r"bind\(.*\)$", "", text)
        if (found := re.search(r"result\(([a-z]\w*)\)$", header)) is not None:
            result, header = found[1], header[: found.start()]
        if (match := re.fullmatch(r"program([a-z]\w*)", text)) is not None:
            kind, name, arguments = "program", match[1], ""
        elif parent is None and (match := re.fullmatch(r"module([a-z]\w*)", text)) is not None:
            kind, name, arguments = "module", match[1], ""
        elif text.startswith(("submodule(", "blockdata")):
            kind, name, arguments = "submodule", text, ""
        elif (match := _SUBROUTINE.match(header)) is not None:
            kind, name, arguments = "subroutine", match[1], match[2] or ""
        elif (match := _FUNCTION.match(header)) is not None:
            kind, name, arguments = "function", match[2], match[3]
            type_name, result = match[1] or "", result or match[2]
        else:
            return None
        scope = Scope(name, kind, str(self.path), line.line, parent)
        scope.elemental = _ELEMENTAL.match(header) is not None
        scope.recursive = _RECURSIVE.match(header) is not None
        scope.conditional = self.conditionals.hold(line.line)
        scope.declare_after = line.end
        scope.behind_head = line.end if line.alone else -1
        if parent is not None and parent.implicit is None:
            scope.implicit = None
        if kind in ("subroutine", "function"):
            scope.of_interface = has_prefix(text, scope)
        if arguments:
            inner = arguments[1 : closing(arguments, 0)]
            scope.dummies = [inner[a:b] for a, b in split_arguments(inner)]
            for dummy in scope.dummies:
                if dummy == "*":
                    scope.problem = ReasonKind.ALTERNATE_RETURNS()
                else:
                    scope.symbol(dummy)
        if result:
            scope.result = result
            symbol = scope.symbol(result)
            symbol.type = self.declarations._type_name(scope, type_name) if type_name else ""
        return scope
