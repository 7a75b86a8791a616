"""Functions that algorithms of the C++ library apply to elements: which they are, what they do.

They are lambdas, objects of the library that compute a number, functions of the program, and plain
objects of its classes that have one `operator()`. What converts an element to the type of a
parameter may be code of the program, so that both have to be of one type, or numbers.
"""

from __future__ import annotations

import re
from abc import ABC
from dataclasses import dataclass
from typing import Any

from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods, c_vectors
from imbrex.transform.readers.c_closures import VALUE, ClosureReader, forgotten
from imbrex.transform.readers.c_copies import copied_with
from imbrex.transform.readers.c_lambdas import lambda_given
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.cxx_library import is_library

# Objects of the library that compute a number of numbers.
_COMPUTE = re.compile(
    r"(?:const )?std::(?:plus|minus|multiplies|divides|modulus|negate|equal_to|not_equal_to|less"
    r"|less_equal|greater|greater_equal|logical_\w+|bit_\w+)<"
)


@dataclass(frozen=True, slots=True)
class Passed:
    """What an algorithm gives a function: elements, or a value, which has no memory."""

    memory: Memory | None = None
    structure: str = ""  # the type of the elements, where these are structures


class AppliedReader(ClosureReader, ABC):
    """What the reader of expressions does with such functions."""

    def applied(self, argument: Any, passed: list[Passed], effects: Effects) -> bool:
        """Read what a function does that is applied to elements; False where that is not known."""
        code = lambda_given(argument)
        if code is not None:
            formals = [child for child in code.children if child.kind is ck.PARM_DECL]
            given = [each.memory for each in passed]
            return _need_no_conversion(formals, passed) and self.run(code, given, effects)
        if _COMPUTE.match(argument.type.canonical.spelling) is not None:
            return not any(each.structure for each in passed)
        function = _named(argument) or _operator(argument)
        if function is None or not self._may_be_given(function, passed):
            return False
        self.read(argument, effects)
        self._call(argument, function, passed, effects)
        return True

    def _may_be_given(self, function: Any, passed: list[Passed]) -> bool:
        formals = function.arguments
        if is_library(function) or function.in_system_header or not c_methods.is_read(function):
            return False
        if len(formals) != len(passed) or any(map(c_vectors.declared, formals)):
            return False
        if not function.returns_number_or_nothing or not _need_no_conversion(formals, passed):
            return False
        return self.takes(formals, [each.memory for each in passed])

    def _call(self, argument: Any, function: Any, passed: list[Passed], effects: Effects) -> None:
        """Record the calls of a function that an algorithm makes, any number of times."""
        name = c_methods.routine_name(function)
        start, end = cc.spelled(argument)
        of_object = c_methods.has_object(function)
        referred: list[Memory | None] = [VALUE] if of_object else []  # the algorithm has a copy
        for formal, each in zip(function.arguments, passed, strict=True):
            if formal.type.is_reference:
                referred.append(each.memory or VALUE)
                continue
            referred.append(None)
            if each.memory is not None:
                self._record(effects, each.memory, argument, write=False)
                self.program.copied_records |= copied_with(formal.type)
        arguments = []
        for position, memory in enumerate(referred):
            made = Argument("", start, start)
            if memory is not None:
                made.pointer, made.base, made.through = True, memory.key, memory.through
                made.owner = memory.owner if memory.through else ""
                cell = f"argument:{name}:{position}"
                self._note(cell, memory.key, memory.through, begins=False)
            arguments.append(made)
        call = Call(name, arguments, start, end, argument.location.line)
        effects.calls.append(forgotten(call))


def _need_no_conversion(formals: list[Any], passed: list[Passed]) -> bool:
    """Whether each parameter has the type of what it is given, or both are numbers."""
    return len(formals) == len(passed) and all(
        _is_of(formal.type, each.structure) for formal, each in zip(formals, passed, strict=True)
    )


def _is_of(kind: Any, structure: str) -> bool:
    target = kind.canonical.pointee.canonical if kind.is_reference else kind.canonical
    if c_vectors.is_vector(target):
        return c_vectors.structure_in(target) == structure
    if structure:
        return bool(target.spelling.removeprefix("const ") == structure)
    return target.record is None or target.is_complex or is_library(target.record)


def _named(argument: Any) -> Any | None:
    """The function of the program that an argument names, or is the address of."""
    inner = argument.stripped
    if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator == cc.ADDRESS_OF:
        inner = inner.operands[0].stripped
    named = inner.referenced if inner.kind is ck.DECL_REF_EXPR else None
    return named if named is not None and named.kind is ck.FUNCTION_DECL else None


def _operator(argument: Any) -> Any | None:
    """The one `operator()` of an object whose making, copying and end run no code."""
    kind = argument.type.canonical
    record = kind.record
    if record is None or not c_methods.is_own(record) or not kind.is_plain:
        return None
    children = record.children
    if any(child.kind is ck.CXX_BASE_SPECIFIER for child in children):
        return None
    if kind.fields and not kind.is_record_of_numbers:
        return None
    found = [child for child in children if child.spelling == "operator()"]
    if len(found) != 1 or found[0].kind is not ck.CXX_METHOD or not found[0].keeps_object:
        return None
    return found[0]
