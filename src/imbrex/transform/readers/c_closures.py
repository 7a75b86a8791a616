"""Lambdas of more than one expression, read for what they do where they run.

That is where one is written as the argument of an algorithm of the library, and where one that a
local variable holds is called. What it names of the function around it has the same name in it;
its parameters are variables of its own, that hold or refer to what it is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Access
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_vectors
from imbrex.transform.readers.c_copies import copied_by_code, copied_with
from imbrex.transform.readers.c_exchanges import ExchangeReader
from imbrex.transform.readers.c_lambdas import called_lambda, is_plain
from imbrex.transform.readers.c_memory import Effects, Memory

VALUE = Memory("string", False)  # stands for the temporary object that holds a value


def forgotten(call: Call) -> Call:
    """A call that is made with other values each time."""
    arguments = [
        replace(
            argument,
            reads=[access.anywhere() for access in argument.reads],
            origin=None,
            first=None,
            strides=(),
            slot=(),
            value=None,
            formula=None,
        )
        for argument in call.arguments
    ]
    # No statement is this call: none is divided by it.
    return replace(call, arguments=arguments, is_statement=False, checked="", repeats=True)


class ClosureReader(ExchangeReader, ABC):
    """What the reader of expressions does with the code of lambdas."""

    code_of: Callable[[Any], list[Statement]]  # the statements of a body, one after the other

    @abstractmethod
    def _note(self, cell: str, key: str, through: bool, *, begins: bool) -> None: ...

    @abstractmethod
    def _bound_to(self, cursor: Any, effects: Effects) -> Memory: ...

    def run(self, code: Any, given: list[Memory | None], effects: Effects) -> bool:
        """Read what a lambda does, maybe many times or never; False where that is not known.

        `given`: what its parameters refer to, or None for a value, which is read elsewhere.
        """
        bodies = [child for child in code.children if child.kind is ck.COMPOUND_STMT]
        formals = [child for child in code.children if child.kind is ck.PARM_DECL]
        if len(bodies) != 1 or len(formals) != len(given):
            return False
        text = self.source.data[slice(*cc.spelled(code))]
        if code.location.file != self.source.name or not is_plain(code, text):
            return False
        if not self.takes(formals, given):
            return False
        inner = Effects()
        for formal, memory in zip(formals, given, strict=True):
            self._give(formal, memory, inner)
        for statement in self.code_of(bodies[0]):
            inner.computes = inner.computes or statement.computes or statement.kind is Kind.LOOP
            inner.accesses += self._may_happen(statement, cc.spelled(bodies[0]))
            inner.calls += [forgotten(call) for call in statement.calls]
            inner.stop = inner.stop or statement.stop
        inner.accesses = self._of_given(inner.accesses, formals, given)
        if inner.stop is not None:
            self._let_go(formals, given)
        effects.take(inner)
        effects.computes = effects.computes or inner.computes
        return True

    def run_held(self, cursor: Any, effects: Effects) -> bool:
        """Read the call of a lambda that a local variable holds; False where it is none."""
        variable = called_lambda(cursor)
        if variable is None:
            return False
        formals = [c for c in variable.held_lambda.children if c.kind is ck.PARM_DECL]
        actuals = cursor.arguments[1:]
        if len(formals) != len(actuals):
            return False  # some have values of their own
        inner = Effects()
        given: list[Memory | None] = []
        for formal, actual in zip(formals, actuals, strict=True):
            if not formal.type.is_reference:
                self.read(actual, inner)
                given.append(None)
            elif c_vectors.declared(formal):
                if c_vectors.named(actual) is None:
                    return False
                given.append(self._elements(actual, inner))
            else:
                given.append(self._bound_to(actual, inner))
        key = self.key_of(variable)
        inner.accesses.append(Access(key, False, False, cursor.location.line))
        if not self.run(variable.held_lambda, given, inner):
            return False
        effects.take(inner)
        effects.computes = effects.computes or inner.computes
        return True

    @staticmethod
    def takes(formals: list[Any], given: list[Memory | None]) -> bool:
        """Whether it is known what becomes of what a lambda is given."""
        for formal, memory in zip(formals, given, strict=True):
            kind = formal.type
            if not kind.is_reference:
                if not kind.is_number and not (kind.is_record_of_numbers and memory is not None):
                    return False
                if copied_by_code(kind):
                    return False
                continue
            target = kind.canonical.pointee
            if c_vectors.declared(formal):
                if memory is None or memory.indices:
                    return False
            elif not (target.is_number or target.is_record_of_numbers):
                return False
        return True

    def _give(self, formal: Any, memory: Memory | None, effects: Effects) -> None:
        """A parameter of a lambda becomes a copy of what is given, or refers to it."""
        key = self.key_of(formal)
        line = formal.location.line
        if formal.type.is_reference:
            found = memory or VALUE
            self._note(key, found.key, found.through, begins=c_vectors.declared(formal))
        elif memory is not None:
            self._record(effects, memory, formal, write=False)
            self.program.copied_records |= copied_with(formal.type)
        effects.accesses.append(Access(key, False, True, line))

    def _of_given(
        self, accesses: list[Access], formals: list[Any], given: list[Memory | None]
    ) -> list[Access]:
        """Accesses with the vectors that are given in the place of what refers to them."""
        meant = {
            self.key_of(formal): memory
            for formal, memory in zip(formals, given, strict=True)
            if memory is not None and c_vectors.declared(formal)
        }
        found = []
        for access in accesses:
            memory = meant.get(access.variable)
            if memory is not None:
                access = access._replace(variable=memory.key, owner=memory.owner)
            found.append(access)
        return found

    def _let_go(self, formals: list[Any], given: list[Memory | None]) -> None:
        """What may move a vector that a parameter names may give others its memory."""
        for formal, memory in zip(formals, given, strict=True):
            if memory is not None and c_vectors.declared(formal):
                self.program.pointer_facts.append(("escape", "addr", memory.key))
                self.program.resized_vectors.add(memory.key)

    def _may_happen(self, statement: Statement, span: tuple[int, int]) -> list[Access]:
        """What a statement touches, wherever its indices have come to, if it runs at all.

        What it may set keeps the value that it had where the statement does not run.
        """
        found = [access.anywhere() for access in statement.accesses]
        kept = [
            access._replace(write=False)
            for access in found
            if access.write and not self._is_of(access.variable, span)
        ]
        return kept + found

    def _is_of(self, key: str, span: tuple[int, int]) -> bool:
        """Whether a variable is one of the lambda's own."""
        variable = self.program.variables.get(key)
        lifetime = None if variable is None else variable.lifetime
        return lifetime is not None and span[0] <= lifetime[0] and lifetime[1] <= span[1]
