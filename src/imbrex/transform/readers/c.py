"""The reader of C, and of C++ as far as functions, methods, arrays and vectors go, on libclang."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from clang.cindex import LinkageKind

from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import IN_TEMPLATE, ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.row_pointers import RowLengths
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Kind
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_declarations, c_methods, c_vectors
from imbrex.transform.readers.c_built import made_by
from imbrex.transform.readers.c_check_functions import CheckingFunctions
from imbrex.transform.readers.c_checks import checked_calls, checking_macros, without_checks
from imbrex.transform.readers.c_code_checks import asserted_calls, asserts, code_checks
from imbrex.transform.readers.c_headers import header_of, identifiers_of, note_headers
from imbrex.transform.readers.c_initializers import add_initializers
from imbrex.transform.readers.c_instances import is_specialization, runs_by_instances
from imbrex.transform.readers.c_lambdas import note_lambdas
from imbrex.transform.readers.c_macros import mpi_macros
from imbrex.transform.readers.c_memory import Effects
from imbrex.transform.readers.c_mpi_headers import as_of_the_system, is_of_a_library
from imbrex.transform.readers.c_node import Tree
from imbrex.transform.readers.c_parsing import parsed
from imbrex.transform.readers.c_request_lists import request_lists
from imbrex.transform.readers.c_same import read_again
from imbrex.transform.readers.c_scopes import scope_of
from imbrex.transform.readers.c_source import HEADERS, is_of_the_system
from imbrex.transform.readers.c_statements import StatementReader
from imbrex.transform.readers.c_unread import Unread
from imbrex.transform.readers.ending import drop_last_return

_CLASSES = frozenset({ck.CLASS_DECL, ck.STRUCT_DECL})
# What runs where an object begins or ends: read for what it does, not rewritten.
_MADE_UNSEEN = {ck.CONSTRUCTOR: "a constructor", ck.DESTRUCTOR: "a destructor"}
_ROUTINES = frozenset({ck.FUNCTION_DECL, ck.CXX_METHOD, *_MADE_UNSEEN})


@dataclass(frozen=True, slots=True)
class Asked:
    """How files of C are to be read.

    `checks`: errors of MPI end the program, so that what checks error codes does nothing;
    `not_codes`: names of variables that hold something else. `aborts`: see Program, as
    `row_lengths`.
    """

    checks: bool = False
    not_codes: frozenset[str] = frozenset()
    aborts: bool = True
    row_lengths: RowLengths = field(default_factory=dict)


def read_c(
    path: Path,
    flags: list[str],
    data: bytes,
    asked: Asked,
    contents: Mapping[Path, bytes] = MappingProxyType({}),
) -> Program:
    """What one C file says, its headers among it, whatever other files say.

    `contents`: what to read in the place of files on disk, headers among them.
    Raises ImbrexError with the compiler's first message where the file cannot be parsed.
    """
    program = Program(aborts=asked.aborts, row_lengths=asked.row_lengths)
    flags = as_of_the_system(flags)
    source = SourceFile(path, str(path), data, Language.C)
    unit = parsed(path, flags, data, contents)
    texts = _own_texts(unit, source, flags, contents)
    if asked.checks:
        functions = CheckingFunctions(unit, source.name, texts)
        macros = checking_macros(texts, flags)
        source.checking = frozenset(macros)
        source.checked = checked_calls(data, macros, functions)
        asserted = asserts(texts, flags)
        if asserted:
            source.checked |= {check.call: check for check in asserted_calls(data)}
        source.code_checks = code_checks(data, macros, functions, asserted, asked.not_codes)
        if source.checked or source.code_checks:
            plain = without_checks(data, source.checked.values(), source.code_checks.values())
            unit = parsed(path, flags, plain, contents)
    source.mpi_known_from = _includes_mpi(unit)
    program.files[source.name] = source
    note_headers(program, unit, source, texts)
    _Unit(program, source, mpi_macros(texts.values(), flags), texts).read(unit)
    _find_ranks(texts, program)
    return program


def _includes_mpi(unit: Any) -> int:
    """Byte offset of the file's own directive that brings in mpi.h; -1 where none does."""
    own = -1
    for include in unit.get_includes():
        if include.depth == 1:
            own = int(include.location.offset)
        if Path(str(include.include.name)).name == "mpi.h":
            return own
    return -1


def _own_texts(
    unit: Any, source: SourceFile, flags: list[str], contents: Mapping[Path, bytes]
) -> dict[str, bytes]:
    """The source and the headers of the program that it includes, by name."""
    texts = {source.name: source.data}
    for include in unit.get_includes():
        name = str(include.include.name).removeprefix("./")
        foreign = is_of_the_system(name) or is_of_a_library(name, flags)
        if not (foreign or name.startswith(str(HEADERS)) or "mpi.h" in name):
            texts[name] = contents.get(Path(name)) or Path(name).read_bytes()
    return texts


def _find_ranks(texts: dict[str, bytes], program: Program) -> None:
    """Note wildcards and MPI_PROC_NULL that may reach a variable or a macro, also in headers."""
    for name, data in texts.items():
        wildcards, null_ranks = _rank_lines(data)
        program.stray_wildcards += [Location(name, line) for line in wildcards]
        program.null_ranks += [Location(name, line) for line in null_ranks]


@lru_cache(maxsize=1024)
def _rank_lines(data: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lines of stray wildcards, and of ranks that may be null; many files share one header."""
    wildcards = []
    for match in re.finditer(rb"\bMPI_ANY_(?:SOURCE|TAG)\b", data):
        before = data[: match.start()].rstrip()
        after = data[match.end() :].lstrip()
        line_start = data.rfind(b"\n", 0, match.start()) + 1
        in_macro = data[line_start : match.start()].lstrip().startswith(b"#")
        if in_macro or not (before.endswith(b",") and after.startswith(b",")):
            wildcards.append(data.count(b"\n", 0, match.start()) + 1)
    null_ranks = [
        data.count(b"\n", 0, match.start()) + 1
        for match in re.finditer(rb"\bMPI_(?:PROC_NULL|Cart_shift)\b", data)
    ]
    return tuple(wildcards), tuple(null_ranks)


class _Unit(StatementReader):
    """Reads the functions of one translation unit."""

    def __init__(
        self,
        program: Program,
        source: SourceFile,
        macros: dict[str, str],
        texts: Mapping[str, bytes],
    ) -> None:
        """`macros`: MPI's names by the macros that stand for them. `texts`: of its own files."""
        super().__init__(program, source)
        self.expressions.macros = macros
        self.texts = texts
        self.names = frozenset().union(*(identifiers_of(data) for data in texts.values()))

    def read(self, unit: Any) -> None:
        with Tree(unit, self.data, plus_plus=self.plus_plus, texts=self.texts) as tree:
            self._read(tree)

    def _read(self, tree: Tree) -> None:
        for cursor in tree.top(c_declarations.headers()):
            self._top(cursor)
            cursor.forget()  # what is read is in the model
        read: set[str] = set()
        while waiting := self.expressions.wanted.keys() - read:
            for usr in sorted(waiting):
                read.add(usr)
                instance = self.expressions.wanted[usr]
                self._note_instance(instance, usr)
                if c_methods.is_read(instance):
                    self._function(instance, instance=True)
                else:
                    self.program.unread_code = True
                    self.expressions.unread = Unread(instance.spelling, instance=True)
                    self.expressions.hide(instance)

    def _note_instance(self, instance: Any, usr: str) -> None:
        """Note whose text an instance is. Constructors are not rewritten in any class."""
        for child in [] if instance.kind in _MADE_UNSEEN else instance.children:
            if child.kind is ck.COMPOUND_STMT:
                place = (instance.location.file, child.span[1])
                self.program.instances[place].add(usr)

    def _top(self, cursor: Any) -> None:
        if cursor.location.file is None or cursor.in_system_header:
            return
        if cursor.kind in (
            ck.NAMESPACE,
            ck.LINKAGE_SPEC,
            ck.UNEXPOSED_DECL,
        ):
            for child in cursor.children:
                self._top(child)
        elif cursor.kind is ck.VAR_DECL:
            self.expressions.lifetime = None
            key = self.expressions.key_of(cursor)
            if c_vectors.declared(cursor):
                self.expressions.construct(cursor, Effects())
                return
            value = cursor.initializer
            if self.plus_plus:
                self.expressions.objects(cursor.type, key)
            made = self.expressions.constructed(value)
            if made is not None:
                self.expressions.make(made, Effects())
                return
            if value is not None:
                effects = Effects()
                self.expressions.read(value, effects)
                for call in effects.calls:  # of no routine
                    function = f"function:{call.name}"
                    self.program.pointer_facts.append(("initializer", "addr", function))
                self.expressions.initialize(cursor.type, value)
            if value is not None and cursor.type.is_address:
                self.expressions.points(key, value)
        elif cursor.kind in _ROUTINES and c_methods.is_read(cursor):
            if cursor.is_definition():
                # With a precompiled header instances stand among the declarations as well.
                self._function(cursor, instance=self.plus_plus and cursor.is_instance)
        elif self.plus_plus:
            if cursor.kind in _CLASSES and (
                "<" not in cursor.type.spelling or is_specialization(cursor)
            ):
                for child in cursor.children:
                    self._top(child)
                return
            idle = runs_by_instances(cursor)
            self.program.unread_code |= not idle and _has_code(cursor)
            self.expressions.unread = Unread("", idle=idle)
            self.expressions.hide(cursor)  # templates, virtual methods, operators

    def _function(self, cursor: Any, *, instance: bool = False) -> None:
        """`instance`: of a template, whose text other instances share."""
        name = c_methods.routine_name(cursor)
        body = [c for c in cursor.children if c.kind is ck.COMPOUND_STMT]
        if not body:
            return
        if name.startswith("operator new"):
            self.program.unread_code = True  # it may give the same memory twice
        outer = self.source
        if cursor.location.file != outer.name:
            self.enter(header_of(self.program, cursor.location.file))
        try:
            self._definition(cursor, name, body[0], instance=instance)
        finally:
            self.enter(outer)

    def _definition(self, cursor: Any, name: str, body: Any, *, instance: bool) -> None:
        problem = IN_TEMPLATE if instance else None
        parameters = []
        self.expressions.this = ""
        if self.plus_plus and c_methods.has_object(cursor):
            self.expressions.this = self.expressions.enter_this(name, cursor)
            parameters.append(self.expressions.this)
        parameters += [self.expressions.key_of(parameter) for parameter in cursor.arguments]
        for position, key in enumerate(parameters):
            self.program.pointer_facts.append((key, "copy", f"argument:{name}:{position}"))
        if self.plus_plus and cursor.kind is ck.CXX_METHOD and cursor.is_virtual:
            self.expressions.open_virtual(cursor)
        if cursor.kind in _MADE_UNSEEN:
            problem = problem or ReasonKind.IN_CONSTRUCT(construct=_MADE_UNSEEN[cursor.kind])
        self.function = self.expressions.function = name
        self.return_cell = f"return:{name}"
        self.expressions.unread = Unread(name)
        self.returns_reference = cursor.returns_reference
        self.returns_constant = self.returns_reference and cursor.returns_constant
        if self.plus_plus:
            note_lambdas(body, self.data)
        self.expressions.lists = request_lists(body, self.data) if self.plus_plus else frozenset()
        block = self.block(body)
        if cursor.kind is ck.CONSTRUCTOR:
            add_initializers(self.expressions, cursor, block)
            self.program.made[name] = made_by(self.expressions, cursor)
        self.expressions.this = ""
        drop_last_return(block, self.data)
        routine = Routine(
            name,
            name,
            cursor.location.file,
            cursor.location.line,
            parameters,
            block,
            visible=cursor.linkage == LinkageKind.EXTERNAL,
            problem=problem,
            exported=self.names,
            scope=scope_of(cursor),
        )
        known = self.program.routines.get(name)
        if known is not None:
            read_again(known, routine)
            return
        leading = -1
        for statement in block.statements:
            if statement.kind is not Kind.DECLARE:
                break
            leading = statement.end
        routine.declare_after = leading
        routine.first_executable = block.statements[0].start if block.statements else -1
        self.program.routines[name] = routine
        if name == "main":
            self.program.has_main = True


def _has_code(cursor: Any) -> bool:
    """Whether functions are defined in a declaration."""
    return cursor.kind in (ck.COMPOUND_STMT, ck.LAMBDA_EXPR) or any(
        _has_code(child) for child in cursor.children
    )
