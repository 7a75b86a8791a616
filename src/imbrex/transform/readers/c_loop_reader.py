"""Loops of C and C++ as statements: by their counters, by iterators, over a range."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_formulas, c_methods
from imbrex.transform.readers.c_copies import converts_by_code, copied_by_code, copied_with
from imbrex.transform.readers.c_expressions import ExpressionReader
from imbrex.transform.readers.c_loops import begun_at_remainder, counted
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.cxx_library import is_library


class LoopReader(ABC):
    """What the reader of statements does with loops."""

    expressions: ExpressionReader

    @abstractmethod
    def _declaration(self, cursor: Any, statement: Statement, effects: Effects) -> None: ...

    @abstractmethod
    def _body(self, cursor: Any) -> Block: ...

    @abstractmethod
    def _terminate(self, statement: Statement) -> None: ...

    def _loop(self, cursor: Any, statement: Statement, effects: Effects) -> None:
        statement.kind = Kind.LOOP
        children = list(cursor.children)
        if cursor.kind is ck.DO_STMT:
            children.reverse()
            self._terminate(statement)
        *control, body = children
        outer = self.expressions.lifetime
        self.expressions.lifetime = (statement.start, statement.end)
        iterators = self.expressions.iterate(control, body, effects)
        for part in [] if iterators else control:
            if part.kind is ck.DECL_STMT:
                self._declaration(part, Statement(Kind.DECLARE, 0, 0, 0, 0), effects)
            elif part.kind in ck.EXPRESSIONS:
                self.expressions.read(part, effects)
            else:
                effects.stop = effects.stop or ReasonKind.CONSTRUCT()
        if cursor.kind is ck.FOR_STMT and len(control) == 3 and not iterators:
            statement.loop = counted(self.expressions, *control)
            if statement.loop is None:
                statement.reach = begun_at_remainder(self.expressions, *control)
            statement.span = c_formulas.span(self.expressions, *control)
        statement.blocks = [self._body(body)]
        self.expressions.lifetime = outer

    @staticmethod
    def _are_objects(variable: Any, container: Any) -> bool:
        """Whether a loop goes over the program's objects in a container of the library."""
        if variable.kind is not ck.VAR_DECL or not c_methods.names_object(variable):
            return False
        record = container.type.record
        return record is not None and is_library(record)

    def _range_loop(self, cursor: Any, statement: Statement, effects: Effects) -> None:
        """`for (T &x : v)` over an array or a vector."""
        statement.kind = Kind.LOOP
        *control, body = cursor.children
        elements = self.expressions.whole(control[-1], effects) if len(control) == 2 else None
        outer = self.expressions.lifetime
        self.expressions.lifetime = (statement.start, statement.end)
        if elements is None and len(control) == 2 and self._are_objects(*control):
            self.expressions.read(control[-1], effects)
            elements = Memory(UNKNOWN_MEMORY, False)
        if elements is None or control[0].kind is not ck.VAR_DECL:
            effects.stop = effects.stop or ReasonKind.CONSTRUCT()
            self.expressions.hide(cursor)
        else:
            key = self.expressions.key_of(control[0])
            value = control[0].initializer
            if value is not None and converts_by_code(value):
                effects.stop = effects.stop or ReasonKind.OBJECT()
                self.expressions.hide(value)
            if not control[0].type.is_reference:
                self.expressions.program.copied_records |= copied_with(control[0].type)
                if copied_by_code(control[0].type):
                    effects.stop = effects.stop or ReasonKind.OBJECT()
            if c_methods.names_object(control[0]):
                self.expressions.bind_to(key, elements)
                effects.accesses.append(Access(key, False, True, control[0].location.line))
            elif control[0].type.is_reference:
                self.expressions.bound[key] = elements
            else:
                self.expressions.copy_each(elements, control[0], effects)
        statement.blocks = [self._body(body)]
        self.expressions.lifetime = outer
