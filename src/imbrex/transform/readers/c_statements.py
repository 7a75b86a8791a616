"""C statements: blocks and control flow, with the preprocessor's lines among them."""

from __future__ import annotations

import bisect
import re
from typing import Any

from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import CXX_SUFFIXES, SourceFile
from imbrex.transform.model.statements import Block, Kind, Statement, walk
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_formulas, c_methods, c_vectors
from imbrex.transform.readers.c_built import built
from imbrex.transform.readers.c_copies import copied_with, leaves_unset
from imbrex.transform.readers.c_expressions import ExpressionReader
from imbrex.transform.readers.c_loop_reader import LoopReader
from imbrex.transform.readers.c_memory import Effects
from imbrex.transform.readers.c_moves import move_of
from imbrex.transform.readers.c_reductions import counted_array, reduction
from imbrex.transform.readers.c_remainders import congruence
from imbrex.transform.readers.c_request_values import begin_unused
from imbrex.transform.readers.c_source import Directive, directives
from imbrex.transform.readers.c_switches import as_conditionals
from imbrex.transform.readers.c_tries import guarded

_BLANK = re.compile(rb"(?:\s|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
# Attributes after which nothing runs at the end of a variable; also as names of macros.
_IDLE = re.compile(rb"_*(?:\w*unused|used|may_alias|nonstring|uninitialized)_*", re.IGNORECASE)
AS_BEFORE = re.compile(rb"\{\s*/\* imbrex: as before\b")  # beside what `versioning` has changed
_JUMPS = frozenset(
    {
        ck.BREAK_STMT,
        ck.CONTINUE_STMT,
        ck.RETURN_STMT,
        ck.GOTO_STMT,
        ck.INDIRECT_GOTO_STMT,
    }
)

# `switch (int k = f(); k)` and, in C++20, `for (int k = f(); int each : list)`.
_MAY_BEGIN = frozenset({ck.SWITCH_STMT, ck.CXX_FOR_RANGE_STMT})


class StatementReader(LoopReader):
    """Reads the statements of one translation unit."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        self.program = program
        self.source = source
        self.data = source.data
        self.expressions = ExpressionReader(program, source)
        self.directives = directives(source.data)
        self.starts = [directive.start for directive in self.directives]
        self.plus_plus = source.path.suffix in CXX_SUFFIXES
        self.function = ""  # the function that is read
        self.return_cell = ""  # what the function that is read returns
        self.returns_reference = False
        self.returns_constant = False
        self.endings = False  # whether code runs where the block that is read ends
        self.of_macro: tuple[int, int] | None = None  # the span of the block, with its brackets
        self.noted = len(program.pointer_facts)  # those whose addresses are noted
        self.expressions.code_of = self.code_of

    def enter(self, source: SourceFile) -> None:
        """Take the text of spans from this file."""
        if source is not self.source:
            self.source = self.expressions.source = source
            self.data = source.data
            self.directives = directives(source.data)
            self.starts = [directive.start for directive in self.directives]

    def block(self, cursor: Any) -> Block:
        start, end = cc.spelled(cursor)
        braced = self.data[start : start + 1] == b"{" and self.data[end - 1 : end] == b"}"
        outer = self.expressions.lifetime, self.endings, self.of_macro
        self.expressions.lifetime, self.endings = (start, end), False
        self.of_macro = None if braced else (start, end)
        statements = [self._statement(child) for child in cursor.children]
        if self.endings:
            line = cursor.span[2]
            stop = ReasonKind.OBJECT()
            statements.append(Statement(Kind.OPAQUE, end - 1, end - 1, line, line, stop=stop))
        self.expressions.lifetime, self.endings, self.of_macro = outer
        return self._assemble(statements, start, end, braced)

    def code_of(self, cursor: Any) -> list[Statement]:
        """The statements of a lambda's body, which runs within the statement that is read."""
        outer = self.return_cell, self.returns_reference, self.noted
        self.return_cell, self.returns_reference = "lambda", False
        block = self.block(cursor)
        # What becomes known in it becomes known in the statement around it.
        self.return_cell, self.returns_reference, self.noted = outer
        return walk(block.statements)

    def _assemble(self, statements: list[Statement], start: int, end: int, braced: bool) -> Block:
        """A block with its preprocessor lines as statements, and its spans checked."""
        copied = AS_BEFORE.match(self.data, start) is not None
        block = Block([], start, end, insertable=braced, as_before=copied)
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
            stop=ReasonKind.PREPROCESSOR_LINE(line=directive.text),
        )

    def _statement(self, cursor: Any) -> Statement:
        kind = cursor.kind
        first_line, start, last_line, end = cursor.span
        statement = Statement(Kind.SIMPLE, start, end, first_line, last_line)
        statement.code_start = start
        effects = Effects()
        if kind in _MAY_BEGIN and b";" in self.data[start : cursor.children[-1].span[1]]:
            effects.stop = ReasonKind.CONSTRUCT()  # what stands in front of it is not shown
        if kind is ck.COMPOUND_STMT:
            statement.kind = Kind.BLOCK
            statement.blocks = [self.block(cursor)]
        elif kind is ck.DECL_STMT:
            self._declaration(cursor, statement, effects)
        elif kind is ck.IF_STMT:
            self._if(cursor, statement, effects)
        elif kind in (ck.FOR_STMT, ck.WHILE_STMT, ck.DO_STMT):
            self._loop(cursor, statement, effects)
        elif kind is ck.CXX_FOR_RANGE_STMT:
            self._range_loop(cursor, statement, effects)
        elif kind is ck.CXX_TRY_STMT and (body := guarded(cursor, self.function)) is not None:
            statement.kind = Kind.TRY
            statement.stop = ReasonKind.CONSTRUCT()
            statement.blocks = [self.block(body)]
            for handler in cursor.children[1:]:
                self.expressions.hide(handler)
        elif kind is ck.SWITCH_STMT:
            statement.kind = Kind.SWITCH
            *conditions, body = cursor.children
            for condition in conditions:
                self.expressions.read(condition, effects)
            statement.blocks = [self._body(body)]
        elif kind in (ck.CASE_STMT, ck.DEFAULT_STMT):
            statement.kind = Kind.OPAQUE
            statement.stop = ReasonKind.CASE_LABEL()
            statement.blocks = [self._body(list(cursor.children)[-1])]
        elif kind in _JUMPS:
            statement.kind = Kind.JUMP
            statement.leaves = True
            statement.text = kind.name.split("_")[0].lower()
            for child in cursor.children:
                if child.kind in ck.EXPRESSIONS:
                    self.expressions.read(child, effects)
                    if kind is ck.RETURN_STMT and self.returns_reference:
                        constant = self.returns_constant
                        self.expressions.hand_out(child, self.function, constant=constant)
                    if kind is ck.RETURN_STMT and child.type.is_pointer:
                        self.expressions.points(self.return_cell, child)
            if "GOTO" in kind.name:
                statement.stop = ReasonKind.C_GOTO()
            self._terminate(statement)
        elif kind is ck.LABEL_STMT:
            statement.kind = Kind.OPAQUE
            statement.stop = ReasonKind.LABEL(label=cursor.spelling)
            statement.blocks = [self._body(child) for child in cursor.children]
        elif kind is ck.NULL_STMT:
            pass
        elif kind in ck.EXPRESSIONS:
            effects.alone = cursor.stripped
            self.expressions.read(cursor, effects)
            statement.assigned = c_formulas.assignments(self.expressions, cursor)
            statement.sets = self.expressions.sets(cursor)
            statement.moves = move_of(cursor)
            inner, whole = cursor.stripped, False
            statement.computes = effects.computes
            if inner.kind is ck.CALL_EXPR:
                statement.swaps, statement.list_change = effects.swaps, effects.list_change
                statement.exchanges = effects.exchanges
            if inner.kind is ck.CALL_EXPR and effects.calls:
                effects.calls[-1].is_statement = effects.calls[-1].start == cc.spelled(inner)[0]
                whole = self._with_check(statement, effects.calls[-1])
            elif (check := self.source.code_checks.get(start)) is not None:
                statement.start = statement.code_start = check.start
                statement.end = check.end
            if not whole:
                self._terminate(statement)
        else:
            statement.kind = Kind.OPAQUE
            statement.stop = ReasonKind.CONSTRUCT()
            self.expressions.hide(cursor)
        statement.accesses = effects.accesses
        statement.calls = effects.calls
        statement.stop = statement.stop or effects.stop
        for block in statement.blocks:
            block.owner = statement
            statement.end = max(statement.end, block.end)
        if kind is ck.IF_STMT or kind in ck.EXPRESSIONS:
            statement.reduces = reduction(self.expressions, cursor)
            statement.counts_in = counted_array(self.expressions, cursor)
        if statement.kind is Kind.SWITCH:
            as_conditionals(self.expressions, cursor, statement)
        self._check_directives(statement)
        self._note_addresses(statement)
        return statement

    def _note_addresses(self, statement: Statement) -> None:
        """Note of which locals the address becomes known in what was read last."""
        facts, known = self.program.pointer_facts, self.program.known_from
        for _, form, source in facts[self.noted :]:
            if form == "addr" and source in self.program.variables:
                known.setdefault(source, set()).add(statement.start)
        self.noted = len(facts)

    def _check_directives(self, statement: Statement) -> None:
        """A preprocessor line inside a statement hides code from the analysis."""
        covered = [(block.start, block.end) for block in statement.blocks if block.braced]
        for directive in self._between(statement.start, statement.end):
            inside = any(start <= directive.start < end for start, end in covered)
            if not inside and not directive.attached:
                statement.stop = statement.stop or ReasonKind.PREPROCESSOR_LINE(line=directive.text)

    def _with_check(self, statement: Statement, call: Call) -> bool:
        """Take what checks a call's error code into the span of its statement.

        True where that is all of the statement, with its semicolon.
        """
        check = self.source.checked.get(call.start) if call.is_statement else None
        if check is not None:
            call.checked = check.form
            statement.start = statement.code_start = check.start
            statement.end = check.end
        return check is not None and check.whole

    def _terminate(self, statement: Statement) -> None:
        """Take the semicolon behind an expression into its span.

        What comes from one macro with the block that it stands in has its own in there.
        """
        if (statement.start, statement.end) == self.of_macro:
            return
        gap = _BLANK.match(self.data, statement.end)
        position = gap.end() if gap else statement.end
        if self.data[position : position + 1] == b";":
            statement.end = position + 1
        elif self.data[statement.end - 1 : statement.end] != b";":
            statement.stop = statement.stop or ReasonKind.MACRO()

    def _body(self, cursor: Any) -> Block:
        if cursor.kind is ck.COMPOUND_STMT:
            return self.block(cursor)
        statement = self._statement(cursor)
        block = Block([statement], statement.start, statement.end, braced=False)
        statement.parent = block
        return block

    def _declaration(self, cursor: Any, statement: Statement, effects: Effects) -> None:
        statement.kind = Kind.DECLARE
        declared = [child for child in cursor.children if child.kind is ck.VAR_DECL]
        statement.begins_unused = begin_unused(declared, self.data)
        statement.moves = move_of(cursor)
        for child in cursor.children:
            if child.kind is not ck.VAR_DECL:
                self.expressions.hide(child)
                if child.kind in ck.DECLARATIONS and not _takes_apart(child):
                    continue
                effects.stop = effects.stop or ReasonKind.CONSTRUCT()
                continue
            key = self.expressions.key_of(child)
            value = child.initializer
            if value is None or leaves_unset(value.stripped):
                statement.unset |= {key}
            if child.tree.declaration(child.raw).held_lambda is not None:
                effects.accesses.append(Access(key, False, True, child.location.line))
                continue  # read where it is called
            if self._ends(child):
                self.endings = True
                effects.stop = effects.stop or ReasonKind.OBJECT()
            if c_vectors.declared(child) and not child.type.is_reference:
                self.expressions.construct(child, effects)
                effects.accesses.append(Access(key, False, True, child.location.line))
                effects.accesses.append(Access(key, True, True, child.location.line))
                continue
            made = self.expressions.constructed(value) if child.tree.plus_plus else None
            if made is not None:
                self.construct(made, effects)
                members = built(self.expressions, made)
                if members is not None:
                    self.program.built[key] = members
            for part in [] if made is not None else child.children:
                if part.kind in ck.EXPRESSIONS:
                    self.expressions.read(part, effects)
            effects.accesses.append(Access(key, False, True, child.location.line))
            if child.tree.plus_plus and not child.type.is_plain:
                self.expressions.objects(child.type, key)
            if value is not None:
                self.expressions.initialize(child.type, value)
            if value is not None and child.type.is_reference and c_vectors.is_alias(child):
                pass  # another name of a vector
            elif value is not None and c_methods.names_object(child):
                self.expressions.bind(key, value)
            elif value is not None and child.type.is_reference:
                self.expressions.give_away(value, constant=child.refers_to_constant)
            elif value is not None and child.type.is_address:
                self.expressions.points(key, value)
                meant = self.expressions.meant(child, value)
                if meant is not None:
                    statement.meant[key] = meant
            elif value is not None and cc.record_of(child.type):
                if c_methods.copies(value, cc.record_of(child.type)):
                    self.program.copied_records |= copied_with(child.type)
            elif value is not None:
                known = self.expressions.affine(value)
                if known is not None:
                    self.program.definitions[key] = known
                self.expressions.note_residue(key, value)
            statement.assigned += c_formulas.declared(self.expressions, child)

    def construct(self, made: Any, effects: Effects) -> None:
        """An object is made by a constructor of the program: what it is given may be kept."""
        effects.stop = effects.stop or ReasonKind.OBJECT()
        self.expressions.make(made, effects)

    def _ends(self, variable: Any) -> bool:
        """Whether code of the program may run where a local variable ends."""
        for part in variable.children:
            if part.kind is ck.UNEXPOSED_ATTR:
                first, last = cc.spelled(part)
                if not _IDLE.fullmatch(self.data[first:last]):
                    return True
        if not variable.tree.plus_plus or c_vectors.is_vector(variable.type):
            return False
        kind = variable.type.canonical
        return not (kind.pointee if kind.is_reference else kind).is_plain

    def _if(self, cursor: Any, statement: Statement, effects: Effects) -> None:
        statement.kind = Kind.IF
        condition, *branches = cursor.children
        if len(branches) not in (1, 2) or condition.kind not in ck.EXPRESSIONS:
            statement.kind = Kind.OPAQUE  # what it declares may end with code of its own
            statement.stop = ReasonKind.CONSTRUCT()
            branches = branches[-1:]
        self.expressions.read(condition, effects)
        statement.blocks = [self._body(branch) for branch in branches]
        start, end = cc.spelled(condition)
        before = self.data[statement.start : start].rstrip()
        gap = _BLANK.match(self.data, end)
        pure = not effects.calls and not any(access.write for access in effects.accesses)
        if pure and before.endswith(b"(") and gap and self.data[gap.end() : gap.end() + 1] == b")":
            statement.condition = self.data[start:end].decode()
            statement.more_conditions = [""] * (len(branches) - 1)
            statement.test = self.expressions.test(condition)
            statement.holding = self.expressions.not_negative(condition, holds=True)
            statement.failing = self.expressions.not_negative(condition, holds=False)
            statement.asks = c_formulas.formula(self.expressions, condition)
            statement.congruent = congruence(self.expressions, condition)


def _takes_apart(declared: Any) -> bool:
    """Whether it gives the parts of a value names: `auto [x, y] = f();`."""
    return any(part.kind in ck.EXPRESSIONS for part in declared.children)
