"""Fortran program units and what their declarations say of each name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from imbrex.transform.model.causes import Cause
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.readers.fortran_imports import Imports
from imbrex.transform.readers.fortran_kinds import of_kind
from imbrex.transform.readers.fortran_lines import (
    LogicalLine,
    at_depth_zero,
    closing,
    linked_names,
    logical_lines,
    split_arguments,
)
from imbrex.transform.readers.fortran_swaps import Move, Swap
from imbrex.transform.readers.fortran_views import View

OWNS = "owns"  # an attribute of no compiler: a pointer that is told apart as what is allocatable
_NAME = r"[a-z_]\w*"
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
INCLUDED = re.compile(r"#\s*include\s+[\"<]([^\">]+)")
_KEPT = 1 << 10  # answers on statements that are kept: each is asked about several times in turn
_VARIABLE = re.compile(rf"{_NAME}(%{_NAME}|\(.*\))*")
_INDEX = re.compile(rf"do(\d*,?)?{_NAME}$")
_TYPE = re.compile(
    r"(doubleprecision|doublecomplex|integer|real|complex|logical|character|type(?=\()|class(?=\()"
    r"|procedure(?=\())"
)
_SPECIFICATION = re.compile(
    r"(use|import|implicit|parameter|dimension|common|equivalence|save|external|intrinsic|data|include"
    r"|pointer|target|allocatable|optional|intent|public|private|namelist|format|asynchronous"
    r"|volatile|contiguous|protected|value|bind|enum|enumerator|endenum|codimension|static|automatic"
    r"|generic|procedure|sequence|contains)"
)


@dataclass(slots=True)
class Symbol:
    name: str
    type: str = ""
    bounds: list[tuple[str, str]] = field(default_factory=list)  # texts; "" where not given
    attributes: set[str] = field(default_factory=set)
    common: str | None = None
    value: str | None = None  # of a named constant
    line: int = 0


@dataclass(slots=True)
class Scope:
    """A program unit."""

    name: str
    kind: str
    file: str
    line: int
    parent: Scope | None = None
    symbols: dict[str, Symbol] = field(default_factory=dict)
    implicit: dict[str, str] | None = field(default_factory=dict)  # None: implicit none
    uses: list[tuple[str, dict[str, str] | None]] = field(default_factory=list)
    dummies: list[str] = field(default_factory=list)
    result: str = ""
    interface: str = ""  # how MPI was made known as a whole
    imports: Imports | None = None  # names of MPI that are made known one by one
    mpi_types: set[str] = field(default_factory=set)  # what `use mpi_f08, only:` names
    behind_head: int = -1  # behind the statement that begins it, which has lines of its own
    withheld_at: int = -1  # of a module: behind its statement PRIVATE
    withholds: bool = False  # of a module: names of MPI may not be known where it is used
    hidden: Cause | None = None  # why some of its code is not read
    missing: str = ""  # an include file that is not found
    problem: Cause | None = None
    # The procedures that a generic name of this scope stands for; None where not all are known.
    generics: dict[str, set[str] | None] = field(default_factory=dict)
    # What interface bodies say of the procedures of a module or a submodule; each is a scope.
    interface_bodies: dict[str, Scope] = field(default_factory=dict)
    of_interface: bool = False  # a procedure that has such a body, or such a body itself
    separate: bool = False  # a procedure whose arguments stand in such a body alone
    has_contained: bool = False
    # The words of the procedures that it contains; None where these may have others too.
    named_inside: set[str] | None = field(default_factory=set)
    conditional: bool = False  # it stands between `#if` and `#endif`
    commons: dict[str, list[str]] = field(default_factory=dict)
    equivalences: set[str] = field(default_factory=set)
    body: list[LogicalLine] = field(default_factory=list)
    swaps: list[Swap] = field(default_factory=list)
    pointings: list[tuple[Move, ...]] = field(default_factory=list)
    views: list[View] = field(default_factory=list)  # pointers that are read as names of arrays
    declare_after: int = -1
    last_line: int = 0
    saves_all: bool = False
    recursive: bool = False
    elemental: bool = False
    key: str = ""  # of a procedure, its name where no other one has it
    # Names of procedures that stand for those of other keys in it.
    meant: dict[str, str] = field(default_factory=dict)
    # Its statements that bring names in, or say which ones a module gives out.
    listing: list[LogicalLine] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.key = self.key or self.name

    def shares(self, name: str) -> bool:
        """Whether a procedure that the scope contains may use a variable of it."""
        inside = self.named_inside
        return self.has_contained and (inside is None or name in inside)

    def symbol(self, name: str) -> Symbol:
        """The symbol of this very scope, entered if new."""
        return self.symbols.setdefault(name, Symbol(name))


@lru_cache(_KEPT)
def depth_zero_equals(text: str) -> int:
    """Position of the `=` of an assignment in masked text; -1 where there is none."""
    position = next(at_depth_zero(text, "="), -1)
    if position >= 0 and text[position + 1 : position + 2] in ("=", ">"):
        return -1
    if position > 0 and text[position - 1] in "=<>/":
        return -1
    return position


@lru_cache(_KEPT)
def is_assignment(text: str) -> bool:
    """Whether a compact statement is `name... = expression` and not a DO or an IF."""
    position = depth_zero_equals(text)
    if position <= 0:
        return False
    left, right = text[:position], text[position + 1 :]
    if not _VARIABLE.fullmatch(left):
        return False
    if _INDEX.match(left) and len(split_arguments(right)) > 1:
        return False
    if left.startswith(("if(", "where(", "forall(")):
        inside = closing(left, left.index("("))
        return inside == len(left) - 1 or left[inside + 1 : inside + 2] == "%"
    return "::" not in left


def is_call(text: str, at: int) -> bool:
    """Whether a CALL begins at a place of a statement: `call g%exchange()` has lost its blanks."""
    if not text.startswith("call", at) or is_assignment(text):
        return False
    return at == 0 or (text.startswith("if(") and closing(text, 2) == at - 1)


def is_specification(text: str) -> bool:
    if is_assignment(text):
        return False
    return _TYPE.match(text) is not None or _SPECIFICATION.match(text) is not None


class Declarations:
    """Reads specification statements into a scope."""

    def __init__(self, folder: Path, flags: list[str], *, fixed: bool) -> None:
        """`fixed`: the form of the file and of what it includes."""
        self.fixed = fixed
        self.linked: set[str] = set()  # words of what associates pointers in included files
        self.included: list[bytes] = []
        self.folders = [folder, *(Path(flag[2:]) for flag in flags if flag.startswith("-I"))]

    def read(self, scope: Scope, line: LogicalLine) -> None:
        text = line.masked
        if text.startswith(("use", "public", "private")):
            scope.listing.append(line)
        if text.startswith("include"):
            self.include(scope, line.text[8:-1])
        elif text.startswith("use"):
            self._use(scope, text)
        elif text.startswith("private"):
            if text == "private" or "mpi_" in text:
                scope.withholds = True
        elif text.startswith("implicit"):
            self._implicit(scope, text[8:])
        elif text.startswith("parameter("):
            for start, end in split_arguments(text[10:-1]):
                name, _, value = text[10:-1][start:end].partition("=")
                scope.symbol(name).value = value
        elif text.startswith("common"):
            self._common(scope, text[6:])
        elif text.startswith("pointer("):  # of Cray's kind: what it points to is any memory
            scope.hidden = ReasonKind.LINE(line=line.text.strip())
            scope.problem = scope.problem or scope.hidden
        elif text.startswith("intent("):
            stop = closing(text, 6)
            for name in re.findall(_NAME, text[stop + 1 :]):
                scope.symbol(name).attributes |= {"intent", text[: stop + 1]}
        elif text.startswith("value::"):
            for name in re.findall(_NAME, text[7:]):
                scope.symbol(name).attributes.add("value")
        elif text.startswith("equivalence"):
            scope.equivalences |= set(re.findall(_NAME, text[11:]))
        elif text.startswith("data"):
            for name in re.findall(rf"(?<![\w.]){_NAME}", re.sub(r"/[^/]*/", " ", text[4:])):
                scope.symbol(name).attributes.add("save")
        elif (
            attribute := re.match(
                r"(dimension|save|external|intrinsic|pointer|target|allocatable|asynchronous|volatile"
                r"|contiguous|optional|codimension)(::)?",
                text,
            )
        ) is not None:
            if attribute[1] == "save" and attribute.end() == len(text):
                scope.saves_all = True
            for name in self._entities(scope, text[attribute.end() :], "", set()):
                scope.symbol(name).attributes.add(attribute[1])
        elif _TYPE.match(text):
            self._typed(scope, line)

    def include(self, scope: Scope, name: str, macros: set[str] | None = None) -> None:
        """Read a file of declarations.

        `macros`: those that its text may name, where the preprocessor includes it; None where the
        language does.
        """
        if name.lower() in ("mpif.h", "mpif-config.h"):
            scope.interface = scope.interface or "mpif.h"
            return
        for folder in self.folders:
            path = folder / name
            if path.is_file():
                self.included.append(path.read_bytes())
                text = self.included[-1].decode("latin-1")
                nested = re.search(r"(?m)^#\s*include", text)
                if macros is not None and not nested and not _without_macros(text).strip():
                    return  # what it defines is known by the lines that name it
                if macros is not None and macros & set(_IDENTIFIER.findall(text)):
                    self._hide(scope, ReasonKind.INCLUDED_CODE(file=name))
                for inner in logical_lines(text, fixed=self.fixed):
                    self.linked |= linked_names(inner)
                    deeper = INCLUDED.match(inner.directive)
                    if macros is not None and deeper is not None:
                        self.include(scope, deeper[1], macros)
                    elif inner.directive or not is_specification(inner.masked):
                        self._hide(scope, ReasonKind.INCLUDED_CODE(file=name))
                    else:
                        self.read(scope, inner)
                return
        scope.missing = name
        self._hide(scope, ReasonKind.INCLUDE_MISSING(file=name))

    @staticmethod
    def _hide(scope: Scope, cause: Cause) -> None:
        scope.hidden = cause
        scope.problem = scope.problem or cause

    def _use(self, scope: Scope, text: str) -> None:
        match = re.match(rf"use(?:,\w+)?(?:::)?({_NAME})(?:,(only:)?(.*))?$", text)
        if match is None:
            return
        module = match[1]
        if module in ("mpi", "mpi_f08"):
            if not match[3]:  # what is added needs names of its own
                scope.interface = module
            elif module == "mpi_f08" and match[2]:
                scope.mpi_types |= set(match[3].split(","))
            return
        names: dict[str, str] = {}
        for item in (match[3] or "").split(","):
            local, _, remote = item.partition("=>")
            if local:
                names[local] = remote or local
        scope.uses.append((module, names if match[2] else None))
        if match[3] and not match[2]:
            scope.uses.append((module, names))

    def _implicit(self, scope: Scope, text: str) -> None:
        if text.startswith("none"):
            scope.implicit = None
            return
        for kind, letters in re.findall(r"([a-z]+(?:\*\d+|\([^()]*\))?)\(([a-z,-]+)\)", text):
            for part in letters.split(","):
                first, _, last = part.partition("-")
                for code in range(ord(first), ord(last or first) + 1):
                    if scope.implicit is not None:
                        scope.implicit[chr(code)] = self._type_name(scope, kind)

    def _common(self, scope: Scope, text: str) -> None:
        if not text.startswith("/"):
            text = "//" + text
        for block, names in re.findall(r"/(\w*)/((?:[^/])*)", text):
            for name in self._entities(scope, names.strip(","), "", set()):
                scope.symbol(name).common = block
                scope.commons.setdefault(block, []).append(name)

    def _typed(self, scope: Scope, line: LogicalLine) -> None:
        text = line.masked
        match = _TYPE.match(text)
        assert match is not None
        rest = text[match.end() :]
        kind = match[1]
        if rest.startswith("("):
            end = closing(rest, 0)
            kind, rest = kind + rest[: end + 1], rest[end + 1 :]
        elif (star := re.match(r"\*(\d+|\(\*\))", rest)) is not None:
            kind, rest = kind + star[0], rest[star.end() :]
        attributes: set[str] = set()
        dimension = ""
        if "::" in rest:
            head, _, rest = rest.partition("::")
            for start, end in split_arguments(head):
                attribute_text = head[start:end]
                if attribute_text.startswith("dimension("):
                    dimension = attribute_text[10:-1]
                elif attribute_text.startswith("intent("):
                    attributes |= {"intent", attribute_text}
                elif attribute_text:
                    attributes.add(re.sub(r"[(\[].*", "", attribute_text))
        name_of = self._type_name(scope, kind)
        for name in self._entities(scope, rest.lstrip(","), dimension, attributes):
            symbol = scope.symbol(name)
            symbol.type, symbol.line = name_of, line.line
            symbol.attributes |= attributes

    def _type_name(self, scope: Scope, kind: str) -> str:
        if kind in ("doubleprecision", "real*8"):
            return "double precision"
        if kind in ("doublecomplex", "complex*16"):
            return "double complex"
        match = re.match(r"(real|complex|integer|logical)(?:\*(\d+)|\((?:kind=)?(.*)\))?$", kind)
        if match is None:
            return kind
        size = match[2] or match[3]
        if not size:
            return match[1]
        return of_kind(match[1], self.constant(scope, size) if match[3] else size)

    @staticmethod
    def constant(scope: Scope, text: str) -> str:
        """The text of a named constant's value, as far as it can be followed."""
        for _ in range(5):
            where: Scope | None = scope
            while where is not None:
                symbol = where.symbols.get(text)
                if symbol is not None and symbol.value:
                    text = symbol.value
                    break
                where = where.parent
            else:
                break
        return text

    def _entities(self, scope: Scope, text: str, dimension: str, attributes: set[str]) -> list[str]:
        """Enter the names of a declaration list; shapes and values are taken along."""
        names = []
        for start, end in split_arguments(text):
            match = re.match(rf"({_NAME})(.*)$", text[start:end])
            if match is None:
                continue
            name, rest = match[1], match[2]
            symbol = scope.symbol(name)
            shape = dimension
            if rest.startswith("("):
                stop = closing(rest, 0)
                shape, rest = rest[1:stop], rest[stop + 1 :]
            if rest.startswith("["):
                symbol.attributes.add("codimension")
            if (length := re.match(r"\*(\d+|\([^()]*\))", rest)) is not None:
                rest = rest[length.end() :]
            if shape:
                symbol.bounds = [_bound(shape[a:b]) for a, b in split_arguments(shape)]
            if rest.startswith("=") and not rest.startswith("=>"):
                if "parameter" in attributes:
                    symbol.value = rest[1:]
                else:
                    symbol.attributes.add("save")
            names.append(name)
        return names


def _bound(text: str) -> tuple[str, str]:
    """Lower and upper bound of one dimension; `:` alone gives two empty texts."""
    low, colon, high = text.partition(":")
    if not colon:
        return "1", text
    return (low or ("1" if high else "")), high


def _without_macros(text: str) -> str:
    """The text of an included file without the preprocessor's lines and C's comments."""
    return re.sub(r"(?m)^#(?:.*\\\n)*.*", "", re.sub(r"(?s)/\*.*?\*/", "", text))
