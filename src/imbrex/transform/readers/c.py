"""The reader of C (and of C++ as far as plain functions and arrays go), on libclang."""

from __future__ import annotations

import bisect
import re
from pathlib import Path
from typing import Any

from clang import cindex
from clang.cindex import CursorKind, LinkageKind

from imbrex.errors import ImbrexError
from imbrex.transform.model.program import (
    Access,
    Block,
    Kind,
    Language,
    Location,
    Program,
    Routine,
    SourceFile,
    Statement,
)
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.c_expressions import ExpressionReader
from imbrex.transform.readers.c_loops import counted
from imbrex.transform.readers.c_node import Tree
from imbrex.transform.readers.c_source import (
    CXX_SUFFIXES,
    HEADERS,
    Directive,
    compiler_headers,
    directives,
)
from imbrex.transform.readers.c_vector_reader import Effects

_BLANK = re.compile(rb"(?:\s|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_JUMPS = frozenset(
    {
        CursorKind.BREAK_STMT,
        CursorKind.CONTINUE_STMT,
        CursorKind.RETURN_STMT,
        CursorKind.GOTO_STMT,
        CursorKind.INDIRECT_GOTO_STMT,
    }
)


def read_c(path: Path, flags: list[str], program: Program, data: bytes | None = None) -> None:
    """Read one C file into `program`.

    Raises ImbrexError with the compiler's first message where the file cannot be parsed.
    """
    if data is None:
        data = path.read_bytes()
    source = SourceFile(path, str(path), data, Language.C)
    language = ["-x", "c++"] if path.suffix in CXX_SUFFIXES else ["-x", "c"]
    arguments = [*language, *flags, *compiler_headers(), "-idirafter", str(HEADERS)]
    index = cindex.Index.create()
    try:
        unit = index.parse(
            str(path), args=arguments, unsaved_files=[(str(path), data.decode("utf-8"))]
        )
    except UnicodeDecodeError as error:
        raise ImbrexError(f"{path} is not UTF-8 (byte {error.start}): convert it first") from error
    except cindex.TranslationUnitLoadError as error:
        raise ImbrexError(f"{path} cannot be read by libclang: {error}") from error
    for message in unit.diagnostics:
        if message.severity >= cindex.Diagnostic.Error:
            place = message.location
            raise ImbrexError(
                f"{place.file or path}:{place.line}: {message.spelling} "
                "(give the compiler's flags after --, or -p compile_commands.json)"
            )
    source.mpi_known_from = _includes_mpi(unit)
    program.files[source.name] = source
    _Unit(program, source).read(unit)
    _find_wildcards(unit, source, program)


def _includes_mpi(unit: Any) -> int:
    """Byte offset of the file's own directive that brings in mpi.h; -1 where none does."""
    own = -1
    for include in unit.get_includes():
        if include.depth == 1:
            own = int(include.location.offset)
        if Path(str(include.include.name)).name == "mpi.h":
            return own
    return -1


def _find_wildcards(unit: Any, source: SourceFile, program: Program) -> None:
    """Note wildcards that may reach a variable or a macro, also in the user's own headers."""
    texts = {source.name: source.data}
    for include in unit.get_includes():
        name = str(include.include.name)
        if not name.startswith(("/usr/", str(HEADERS))) and "mpi.h" not in name:
            texts[name] = Path(name).read_bytes()
    for name, data in texts.items():
        for match in re.finditer(rb"\bMPI_ANY_(?:SOURCE|TAG)\b", data):
            before = data[: match.start()].rstrip()
            after = data[match.end() :].lstrip()
            line_start = data.rfind(b"\n", 0, match.start()) + 1
            in_macro = data[line_start : match.start()].lstrip().startswith(b"#")
            if in_macro or not (before.endswith(b",") and after.startswith(b",")):
                line = data.count(b"\n", 0, match.start()) + 1
                program.stray_wildcards.append(Location(name, line))


class _Unit:
    """Reads the functions of one translation unit."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        self.program = program
        self.source = source
        self.data = source.data
        self.expressions = ExpressionReader(program, source)
        self.directives = directives(source.data)
        self.starts = [directive.start for directive in self.directives]
        self.plus_plus = source.path.suffix in CXX_SUFFIXES
        self.names = frozenset(m.decode() for m in _IDENTIFIER.findall(source.data))

    def read(self, unit: Any) -> None:
        for cursor in Tree(unit).node(unit.cursor).get_children():
            self._top(cursor)
            cursor.forget()  # what is read is in the model

    def _top(self, cursor: Any) -> None:
        if cursor.location.file is None or cursor.location.is_in_system_header:
            return
        if cursor.kind in (
            CursorKind.NAMESPACE,
            CursorKind.LINKAGE_SPEC,
            CursorKind.UNEXPOSED_DECL,
        ):
            for child in cursor.get_children():
                self._top(child)
        elif cursor.kind == CursorKind.VAR_DECL:
            self.expressions.lifetime = None
            key = self.expressions.key_of(cursor)
            if c_vectors.declared(cursor):
                self.expressions.construct(cursor, Effects())
                return
            value = cc.initializer(cursor)
            if value is not None and (cc.is_pointer(cursor.type) or cc.is_array(cursor.type)):
                self.expressions.points(key, value)
        elif cursor.kind == CursorKind.FUNCTION_DECL:
            if cursor.is_definition():
                self._function(cursor)
        elif self.plus_plus:
            self.expressions.hide(cursor)  # methods and templates

    def _function(self, cursor: Any) -> None:
        name = cursor.spelling
        body = [c for c in cursor.get_children() if c.kind == CursorKind.COMPOUND_STMT]
        if not body:
            return
        here = cursor.location.file.name == self.source.name
        outer = self.source
        if not here:
            self._enter(self._header(cursor.location.file.name))
        try:
            self._definition(cursor, name, body[0], here)
        finally:
            self._enter(outer)

    def _header(self, name: str) -> SourceFile:
        path = Path(name)
        return SourceFile(path, name, path.read_bytes(), Language.C)

    def _enter(self, source: SourceFile) -> None:
        """Take the text of spans from this file."""
        if source is not self.source:
            self.source = self.expressions.source = source
            self.data = source.data
            self.directives = directives(source.data)
            self.starts = [directive.start for directive in self.directives]

    def _definition(self, cursor: Any, name: str, body: Any, here: bool) -> None:
        problem = None if here else "it is defined in a header"
        parameters = []
        for position, parameter in enumerate(cursor.get_arguments()):
            key = self.expressions.key_of(parameter)
            parameters.append(key)
            self.program.pointer_facts.append((key, "copy", f"argument:{name}:{position}"))
        self.return_cell = f"return:{name}"
        block = self._block(body)
        if not here:
            block.insertable = False
        known = self.program.routines.get(name)
        if known is not None and not here and known.file == self.source.name:
            return  # the same inline function of the same header, seen from another file
        if known is not None:
            self.program.routines[name].problem = c_vectors.TWICE
            self.program.routines[name].body.statements.append(
                Statement(
                    Kind.OPAQUE,
                    block.start,
                    block.start,
                    0,
                    0,
                    stop=f"two functions are called {name}",
                )
            )
            return
        routine = Routine(
            name,
            name,
            cursor.location.file.name,
            cursor.location.line,
            parameters,
            block,
            visible=cursor.linkage == LinkageKind.EXTERNAL,
            problem=problem,
            exported=self.names,
        )
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

    # Statements ------------------------------------------------------------------------

    def _block(self, cursor: Any) -> Block:
        start, end = cc.spelled(cursor)
        braced = self.data[start : start + 1] == b"{" and self.data[end - 1 : end] == b"}"
        outer = self.expressions.lifetime
        self.expressions.lifetime = (start, end)
        statements = [self._statement(child) for child in cursor.get_children()]
        self.expressions.lifetime = outer
        return self._assemble(statements, start, end, braced)

    def _assemble(self, statements: list[Statement], start: int, end: int, braced: bool) -> Block:
        """A block with its preprocessor lines as statements, and its spans checked."""
        block = Block([], start, end, insertable=braced)
        last = start + 1
        for statement in statements:
            if statement.start < last or statement.end > end:
                # Spans of statements that come from one macro overlap.
                block.insertable = False
            for directive in self._between(last, statement.start):
                if directive.attached:
                    statement.start = min(statement.start, self._line_start(directive.start))
                else:
                    block.statements.append(self._opaque(directive))
            last = max(last, statement.end)
            block.statements.append(statement)
        block.statements.extend(self._opaque(directive) for directive in self._between(last, end))
        for statement in block.statements:
            statement.parent = block
        return block

    def _line_start(self, offset: int) -> int:
        line = self.data.rfind(b"\n", 0, offset) + 1
        return line + len(self.data[line:offset]) - len(self.data[line:offset].lstrip())

    def _between(self, start: int, end: int) -> list[Directive]:
        first = bisect.bisect_left(self.starts, start)
        last = bisect.bisect_left(self.starts, end)
        return self.directives[first:last]

    def _opaque(self, directive: Directive) -> Statement:
        line = self.source.line_of(directive.start)
        return Statement(
            Kind.OPAQUE,
            self._line_start(directive.end - len(directive.text.encode())),
            directive.end,
            line,
            line,
            stop=f"the preprocessor line `{directive.text}`",
        )

    def _statement(self, cursor: Any) -> Statement:
        kind = cursor.kind
        first_line, start, last_line, end = cursor.span
        statement = Statement(Kind.SIMPLE, start, end, first_line, last_line)
        statement.code_start = start
        effects = Effects()
        if kind == CursorKind.COMPOUND_STMT:
            statement.kind = Kind.BLOCK
            statement.blocks = [self._block(cursor)]
        elif kind == CursorKind.DECL_STMT:
            self._declaration(cursor, statement, effects)
        elif kind == CursorKind.IF_STMT:
            self._if(cursor, statement, effects)
        elif kind in (CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT):
            self._loop(cursor, statement, effects)
        elif kind == CursorKind.CXX_FOR_RANGE_STMT:
            self._range_loop(cursor, statement, effects)
        elif kind == CursorKind.SWITCH_STMT:
            statement.kind = Kind.SWITCH
            *conditions, body = cursor.get_children()
            for condition in conditions:
                self.expressions.read(condition, effects)
            statement.blocks = [self._body(body)]
        elif kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            statement.kind = Kind.OPAQUE
            statement.stop = "a case label"
            statement.blocks = [self._body(list(cursor.get_children())[-1])]
        elif kind in _JUMPS:
            statement.kind = Kind.JUMP
            statement.leaves = True
            statement.text = kind.name.split("_")[0].lower()
            for child in cursor.get_children():
                if child.kind.is_expression():
                    self.expressions.read(child, effects)
                    if kind == CursorKind.RETURN_STMT and cc.is_pointer(child.type):
                        self.expressions.points(self.return_cell, child)
            if "GOTO" in kind.name:
                statement.stop = "a goto"
            self._terminate(statement)
        elif kind == CursorKind.LABEL_STMT:
            statement.kind = Kind.OPAQUE
            statement.stop = f"the label {cursor.spelling}: control may enter here"
            statement.blocks = [self._body(child) for child in cursor.get_children()]
        elif kind == CursorKind.NULL_STMT:
            pass
        elif kind.is_expression():
            self.expressions.read(cursor, effects)
            inner = cc.strip(cursor)
            if inner.kind == CursorKind.CALL_EXPR and effects.calls:
                effects.calls[-1].is_statement = effects.calls[-1].start == cc.spelled(inner)[0]
            self._terminate(statement)
        else:
            statement.kind = Kind.OPAQUE
            statement.stop = "a construct that is not analysed"
            self.expressions.hide(cursor)
        statement.accesses = effects.accesses
        statement.calls = effects.calls
        statement.stop = statement.stop or effects.stop
        for block in statement.blocks:
            block.owner = statement
            statement.end = max(statement.end, block.end)
        self._check_directives(statement)
        return statement

    def _check_directives(self, statement: Statement) -> None:
        """A preprocessor line inside a statement hides code from the analysis."""
        covered = [(block.start, block.end) for block in statement.blocks if block.braced]
        for directive in self._between(statement.start, statement.end):
            inside = any(start <= directive.start < end for start, end in covered)
            if not inside and not directive.attached:
                statement.stop = statement.stop or f"the preprocessor line `{directive.text}`"

    def _terminate(self, statement: Statement) -> None:
        """Take the semicolon behind an expression into its span."""
        gap = _BLANK.match(self.data, statement.end)
        position = gap.end() if gap else statement.end
        if self.data[position : position + 1] == b";":
            statement.end = position + 1
        elif self.data[statement.end - 1 : statement.end] != b";":
            statement.stop = statement.stop or "a macro"

    def _body(self, cursor: Any) -> Block:
        if cursor.kind == CursorKind.COMPOUND_STMT:
            return self._block(cursor)
        statement = self._statement(cursor)
        block = Block([statement], statement.start, statement.end, braced=False)
        statement.parent = block
        return block

    def _declaration(self, cursor: Any, statement: Statement, effects: Effects) -> None:
        statement.kind = Kind.DECLARE
        for child in cursor.get_children():
            if child.kind != CursorKind.VAR_DECL:
                self.expressions.hide(child)
                if child.kind.is_declaration():
                    continue
                effects.stop = effects.stop or "a construct that is not analysed"
                continue
            key = self.expressions.key_of(child)
            value = cc.initializer(child)
            if c_vectors.declared(child):
                self.expressions.construct(child, effects)
                effects.accesses.append(Access(key, False, True, child.location.line))
                effects.accesses.append(Access(key, True, True, child.location.line))
                continue
            for part in child.get_children():
                if part.kind.is_expression():
                    self.expressions.read(part, effects)
            effects.accesses.append(Access(key, False, True, child.location.line))
            if value is not None and cc.is_reference(child.type):
                self.expressions.give_away(value)
            elif value is not None and (cc.is_pointer(child.type) or cc.is_array(child.type)):
                self.expressions.points(key, value)
            elif value is not None and cc.record_of(child.type):
                if cc.strip(value).kind != CursorKind.INIT_LIST_EXPR:
                    self.program.copied_records.add(cc.record_of(child.type))
            elif value is not None:
                known = self.expressions.affine(value)
                if known is not None:
                    self.program.definitions[key] = known

    def _if(self, cursor: Any, statement: Statement, effects: Effects) -> None:
        statement.kind = Kind.IF
        condition, *branches = cursor.get_children()
        if len(branches) not in (1, 2) or not condition.kind.is_expression():
            statement.stop = "a construct that is not analysed"
            branches = branches[-1:]
        self.expressions.read(condition, effects)
        statement.blocks = [self._body(branch) for branch in branches]
        start, end = cc.spelled(condition)
        before = self.data[statement.start : start].rstrip()
        gap = _BLANK.match(self.data, end)
        pure = not effects.calls and not any(access.write for access in effects.accesses)
        if pure and before.endswith(b"(") and gap and self.data[gap.end() : gap.end() + 1] == b")":
            statement.condition = self.data[start:end].decode()

    def _loop(self, cursor: Any, statement: Statement, effects: Effects) -> None:
        statement.kind = Kind.LOOP
        children = list(cursor.get_children())
        if cursor.kind == CursorKind.DO_STMT:
            children.reverse()
            self._terminate(statement)
        *control, body = children
        outer = self.expressions.lifetime
        self.expressions.lifetime = (statement.start, statement.end)
        for part in control:
            if part.kind == CursorKind.DECL_STMT:
                self._declaration(part, Statement(Kind.DECLARE, 0, 0, 0, 0), effects)
            elif part.kind.is_expression():
                self.expressions.read(part, effects)
            else:
                effects.stop = effects.stop or "a construct that is not analysed"
        if cursor.kind == CursorKind.FOR_STMT and len(control) == 3:
            statement.loop = counted(self.expressions, *control)
        statement.blocks = [self._body(body)]
        self.expressions.lifetime = outer

    def _range_loop(self, cursor: Any, statement: Statement, effects: Effects) -> None:
        """`for (T &x : v)` over an array or a vector."""
        statement.kind = Kind.LOOP
        *control, body = cursor.get_children()
        elements = self.expressions.whole(control[-1], effects) if len(control) == 2 else None
        outer = self.expressions.lifetime
        self.expressions.lifetime = (statement.start, statement.end)
        if elements is None or control[0].kind != CursorKind.VAR_DECL:
            effects.stop = effects.stop or "a construct that is not analysed"
            self.expressions.hide(cursor)
        else:
            key = self.expressions.key_of(control[0])
            if cc.is_reference(control[0].type):
                self.expressions.bound[key] = elements
            else:
                line = control[0].location.line
                effects.accesses.append(Access(elements.key, elements.through, False, line))
                effects.accesses.append(Access(key, False, True, line))
        statement.blocks = [self._body(body)]
        self.expressions.lifetime = outer
