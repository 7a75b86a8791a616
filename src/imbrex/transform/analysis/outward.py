"""How a call that stands in a routine reads at a caller of the routine."""

from __future__ import annotations

import re

from imbrex.transform.analysis.summary import Footprint
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement

_NUMBER = re.compile(r"-?\d+|\.(?:true|false)\.|MPI_[A-Z_]+", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(-?\d+)\s*;?\s*")


class Outward:
    """What the first and last calls of a routine name."""

    def __init__(self, program: Program, routine: Routine) -> None:
        self.program = program
        self.routine = routine
        self.data = program.files[routine.file].data
        self.fortran = program.files[routine.file].language is not Language.C

    def sets_constant(self, statement: Statement) -> bool:
        """Whether a statement does nothing but set a local scalar to a number."""
        return self._constant(statement) is not None

    def _constant(self, statement: Statement) -> tuple[str, str] | None:
        """The key of a local scalar that a statement sets, and the number."""
        if statement.kind is not Kind.SIMPLE or statement.calls or len(statement.accesses) != 1:
            return None
        match = _CONSTANT.fullmatch(self.data[statement.code_start : statement.end].decode())
        access = statement.accesses[0]
        variable = self.program.variables.get(access.variable)
        if match is None or variable is None or variable.kind != "local" or variable.bounds:
            return None
        if not access.write or access.through or access.variable in self.program.overlays:
            return None
        return (access.variable, match[2]) if variable.element.startswith("int") else None

    def value_at(self, key: str, statement: Statement) -> str | None:
        """The number that a local scalar holds at a statement, set right in front of it."""
        block = statement.parent
        assert block is not None
        index = block.statements.index(statement) - 1
        while index >= 0:
            found = self._constant(block.statements[index])
            if found is None:
                return None
            if found[0] == key:
                return found[1]
            index -= 1
        return None


def said_at(
    program: Program,
    routine: Routine,
    moved: Statement,
    caller: Routine,
    call: Call,
    body: Footprint,
) -> str | None:
    """The text of a routine's first or last call at a caller; None where it cannot be said there.

    `call`: the call of the routine; `body`: what the routine does.
    """
    inner = moved.calls[0]
    target = program.callee(inner.name, routine.file)
    source, other = program.files[routine.file], program.files[caller.file]
    if target is None or "::" in inner.name:  # a method: only its class may know it
        return None
    if (source.language is Language.C) is not (other.language is Language.C):
        return None
    if len(call.arguments) != len(routine.parameters):
        return None
    if len(inner.arguments) != len(target.parameters):
        return None
    outward = Outward(program, routine)
    if not callable_in(program, target, routine, caller, inner.name):
        return None
    texts = []
    for position, argument in enumerate(inner.arguments):
        dummy = program.variables.get(target.parameters[position])
        text = _argument(outward, argument, dummy, target, moved, caller, call, body)
        if text is None:
            return None
        texts.append(text)
    said = f"{inner.name}({', '.join(texts)})"
    if not outward.fortran:
        return said + ";"
    return f"call {said}" if texts else f"call {inner.name}"


def callable_in(
    program: Program, target: Routine, routine: Routine, caller: Routine, name: str
) -> bool:
    """Whether the name of the called routine means the same in the caller."""
    if program.files[routine.file].language is Language.C:
        return _c_meaning(program, routine, caller, name)
    if target.host and not target.host == routine.host == caller.host:
        return False
    if target.host != routine.host and routine.host and not caller.host:
        return False
    assert caller.meaning is not None
    return caller.meaning(name.lower()) is None


def _c_meaning(program: Program, routine: Routine, caller: Routine, name: str) -> bool:
    """Whether a name of file scope that a routine of C uses is known in a caller further down.

    Nothing else in the program may have that name.
    """
    if caller.file != routine.file or caller.line <= routine.line:
        return False
    variables = [v for v in program.variables.values() if v.name == name and v.kind != "field"]
    if name in program.routines:
        return not variables
    if len(variables) == 1:
        return _of_file_scope(program, variables[0], routine.file)
    data = program.files[routine.file].data
    defined = list(re.finditer(rb"(?m)^[ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"\b", data))
    undone = re.search(rb"(?m)^[ \t]*#[ \t]*undef[ \t]+" + name.encode() + rb"\b", data)
    if variables or len(defined) != 1 or undone is not None:
        return False
    return defined[0].start() < routine.body.start


def _of_file_scope(program: Program, variable: Variable, file: str) -> bool:
    if variable.kind == "global":
        return True
    where, _, offset = variable.key.rpartition(":")
    if variable.kind != "static" or not offset.isdigit() or not where.endswith(f"@{file}"):
        return False
    bodies = [r.body for r in program.routines.values() if r.file == file]
    return not any(body.start <= int(offset) < body.end for body in bodies)


def _argument(
    outward: Outward,
    argument: Argument,
    dummy: Variable | None,
    target: Routine,
    moved: Statement,
    caller: Routine,
    call: Call,
    body: Footprint,
) -> str | None:
    """An argument of the moved call, as the caller may write it."""
    program, routine = outward.program, outward.routine
    text = argument.text.strip()
    if _NUMBER.fullmatch(text):
        return text
    if not _NAME.fullmatch(text) or argument.problem is not None or dummy is None:
        return None
    key = _key_of(program, routine, text, argument)
    if key in routine.parameters:
        return _actual(outward, key, dummy, target, call, body)
    value = outward.value_at(key, moved)
    if value is not None:
        return value if not _written(program, target, dummy) else None
    if not outward.fortran:
        return text if _c_meaning(program, routine, caller, text) else None
    assert routine.meaning is not None and caller.meaning is not None
    here = routine.meaning(text.lower())
    if here is None or here != caller.meaning(text.lower()):
        return None
    return text


def _key_of(program: Program, routine: Routine, text: str, argument: Argument) -> str:
    """The variable that an argument which is a name alone stands for."""
    if argument.base is not None:
        return argument.base
    for key in routine.parameters:
        variable = program.variables.get(key)
        if variable is not None and variable.name == text:
            return key
    for access in argument.reads:
        return access.variable
    return ""


def _actual(
    outward: Outward,
    key: str,
    dummy: Variable,
    target: Routine,
    call: Call,
    body: Footprint,
) -> str | None:
    """What the caller passes for a parameter that the routine passes on as it is."""
    program, routine = outward.program, outward.routine
    parameter = program.variables[key]
    given = call.arguments[routine.parameters.index(key)]
    if parameter.optional or given.problem is not None or parameter.volatile:
        return None
    actual = program.variables.get(given.base or "")
    array = bool(parameter.bounds) or parameter.pointer
    if not array and key in body.written():
        return None
    if outward.fortran:
        if actual is not None and actual.element != parameter.element:
            return None
        if dummy.element != parameter.element:
            return None
        # An array of assumed shape takes the shape of what it is given.
        open_ended = dummy.assumed_shape or any(high is None for _, high in dummy.bounds)
        if open_ended and target.host:
            return None
        return given.text.strip()
    if parameter.pointer and key in body.written():
        return None
    if dummy.element != parameter.element or dummy.pointer is not parameter.pointer:
        return None
    if array:
        return given.text.strip()
    # A number is converted on its way in; it must not be converted otherwise now.
    text = given.text.strip()
    value = given.value
    if value is not None and not value.terms and parameter.element == "int":
        return text
    read = [program.variables.get(access.variable) for access in given.reads]
    alike = len(read) == 1 and read[0] is not None and read[0].element == parameter.element
    return text if alike and _NAME.fullmatch(text) else None


def _written(program: Program, target: Routine, dummy: Variable) -> bool:
    """Whether a routine may set one of its dummy arguments."""
    return any(
        access.variable == dummy.key and access.write
        for statement in target.statements()
        for access in statement.accesses
    ) or any(
        argument.base == dummy.key
        for statement in target.statements()
        for call in statement.calls
        for argument in call.arguments
        if not call.name.startswith("MPI_")
    )
