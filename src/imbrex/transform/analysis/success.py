"""Variables and functions that hold and return no other error code than MPI_SUCCESS.

An error code of MPI is that of success wherever the error handler ends the program.
"""

from __future__ import annotations

import re

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.begun_as_success import begins_otherwise, begun_otherwise
from imbrex.transform.analysis.grouped import grouped
from imbrex.transform.analysis.passed_codes import PassedCodes
from imbrex.transform.analysis.taken import returns_taken
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.model.statements import Kind, Statement

_OF_THE_FILE = ("local", "host", "static")  # kinds of variables that no other file sets
_ANYWHERE = (*_OF_THE_FILE, "global")
# What gives the program error codes: handlers, and calls whose errors end nothing.
_HANDLERS = re.compile(rb"errhandler|MPI_ERRORS_RETURN", re.IGNORECASE)
STATUS = re.compile(rb"\b\w*stat\s*=\s*(\w+)", re.IGNORECASE)  # of input, output, allocation
_NAME = re.compile(rb"[A-Za-z]\w*")
# Of these it is not read what they set.
_INPUT = re.compile(rb"\b(?:read|inquire|open|accept|decode)\b", re.IGNORECASE)
_CONSTRUCTS = (ReasonKind.NAMED_CONSTRUCT, ReasonKind.CONSTRUCT)
# In front of a call whose code is taken: successes added up, or joined by their bits, are one too.
_TAKEN = re.compile(rb"(?:(?:const\s+)?(?:int|auto)\s+(?:const\s+)?)?(\w+)\s*[|+]?=\s*", re.ASCII)
_TAKEN_AND_ASKED = re.compile(
    rb"if\s*\(\s*(?:(?:MPI_SUCCESS|0)\s*!=\s*)?\(\s*(\w+)\s*=\s*", re.ASCII
)
SUCCESS = rb"(?:MPI_SUCCESS|0)"
_RETURNS = re.compile(rb"return\s+")
_RETURNED = re.compile(rb"return\s*\(?\s*(\w+)\s*\)?\s*;?")
_COPY = re.compile(rb"\s*(\w+)\s*=\s*(\w+)\s*")
_GIVEN = re.compile(rb"[=({]")
_SUCCESS = re.compile(rb"(?:=\s*(?:MPI_SUCCESS|0)\s*;?)?\s*", re.IGNORECASE)


def handles_errors(program: Program) -> bool:
    """Whether the program may have an error handler that does not end it."""
    named = any(_HANDLERS.search(source.data) for source in program.files.values())
    # Headers are no files of the program's, but what they define is read.
    return named or any("errhandler" in call.name.lower() for call in program.calls())


def gives_codes(program: Program, unseen: Reason | None) -> bool:
    """Whether a call of MPI may return another code than MPI_SUCCESS.

    `unseen`: why not all code of the program is known, which may set a handler as well.
    """
    return handles_errors(program) or not (unseen is None or program.errors_are_fatal)


def always_success(
    program: Program, addressed: frozenset[str], unseen: Reason | None
) -> frozenset[str]:
    """Variables that never hold anything but MPI_SUCCESS, once they are set.

    `addressed` are variables whose address is taken, `unseen` is why not all code is known.
    """
    if gives_codes(program, unseen):
        return frozenset()
    if any(_by_keyword(call) for call in program.calls()):
        return frozenset()
    functions = _asked(program)
    while True:  # what is not shown to return another value, until nothing is
        found = _holding(program, addressed, unseen, functions)
        left = frozenset(f for f in functions if _returns(program, f, found, functions))
        if left == functions:
            return found
        functions = left


def _holding(
    program: Program, addressed: frozenset[str], unseen: Reason | None, functions: frozenset[str]
) -> frozenset[str]:
    """The variables that hold nothing but that, where these functions return nothing else."""
    codes: set[str] = set()
    other: set[str] = set(addressed) | program.overlays.keys()
    passed = PassedCodes(program, other)
    statuses = _statuses(program)
    other |= statuses
    passed.set_here |= statuses
    for routine in program.routines.values():
        source = program.files.get(routine.file)
        for statement in routine.statements():
            if statement.kind is Kind.INSERTED:
                continue
            if source is None:
                other |= {access.variable for access in statement.accesses if access.write}
            elif source.is_fortran:
                _fortran(statement, source, routine.interface, codes, passed)
            else:
                _c(program, statement, source, functions, codes, other)
    passed.settle(codes)
    other |= begun_otherwise(program, codes)
    passed.settle(codes)
    seen = _OF_THE_FILE if unseen is not None else (*_ANYWHERE, "dummy")
    return frozenset(
        key
        for key in codes - other
        if (variable := program.variables.get(key)) is not None
        and not (variable.volatile or variable.pointer or variable.bounds)
        and variable.kind in seen
    )


def other_codes(program: Program, unseen: Reason | None) -> frozenset[str]:
    """The names of variables that are read as checked codes, and may hold another than success.

    `unseen` is why not all code of the program is known.
    """
    if not any(source.code_checks for source in program.files.values()):
        return frozenset()
    addressed = frozenset(source for _, form, source in program.pointer_facts if form == "addr")
    success = always_success(program, addressed, unseen)
    found: set[str] = set()
    for source in program.files.values():
        names = {
            check.start: source.data[check.name : check.name_end].decode()
            for check in source.code_checks.values()
        }
        known: set[int] = set()
        for routine in program.routines.values():
            for statement in routine.statements() if routine.file == source.name else ():
                if statement.start in names:
                    known.add(statement.start)
                    read = [access.variable for access in statement.accesses]
                    if len(read) != 1 or read[0] not in success:
                        found.add(names[statement.start])
        found |= {name for start, name in names.items() if start not in known}
    return frozenset(found)


def _asked(program: Program) -> frozenset[str]:
    """The functions of C whose value something asks for, by their keys in the program."""
    found: set[str] = set()
    for routine in program.routines.values():
        if not program.in_c(routine.file):
            continue
        for statement in routine.statements():
            for call in statement.calls:
                if not (call.is_statement or call.unknown):
                    callee = program.callee(call.name, routine.file)
                    if callee is not None and program.in_c(callee.file) and not callee.problem:
                        found.add(call.name)
    return frozenset(found)


def _gives(call: Call, functions: frozenset[str]) -> bool:
    """Whether what a call returns is the code of success."""
    return returns_code(call) or (call.name in functions and not call.unknown)


def _returns(program: Program, name: str, codes: frozenset[str], functions: frozenset[str]) -> bool:
    """Whether a function returns nothing but that code: one of these variables, or what MPI or one
    of these functions returns."""
    routine = program.routines[name]
    source = program.files.get(routine.file)
    body = routine.body.statements
    if source is None or not body or body[-1].kind is not Kind.JUMP:
        return False
    if any(statement.stop is not None for statement in routine.statements()):
        return False
    return all(
        _is_success(program, statement, source, codes, functions)
        for statement in returns_taken(routine, dict.fromkeys(codes, 0))
    )


def _is_success(
    program: Program,
    statement: Statement,
    source: SourceFile,
    codes: frozenset[str],
    functions: frozenset[str],
) -> bool:
    """Whether a return gives that code."""
    data = source.data
    if statement.calls:
        call = statement.calls[0]
        alone = _RETURNS.fullmatch(data, statement.code_start, call.start) is not None
        ends = data[call.end : statement.end].strip() in (b"", b";")
        return alone and ends and not call.macro and _gives(call, functions)
    value = _RETURNED.fullmatch(data, statement.code_start, statement.end)
    if value is None:
        return False
    return value[1] in (b"0", b"MPI_SUCCESS") or is_code(program, statement, value[1], codes)


def _name(program: Program, key: str) -> str:
    """The name of a variable; of memory that is not known, what stands for it."""
    variable = program.variables.get(key)
    return key if variable is None else variable.name


def is_code(program: Program, statement: Statement, name: bytes, codes: frozenset[str]) -> bool:
    """Whether a name is that of one of these variables, and of all that a statement reads."""
    read = {access.variable for access in statement.accesses}
    return len(read) == 1 and read <= codes and _name(program, min(read)) == name.decode()


def _statuses(program: Program) -> set[str]:
    """The variables that input, output and allocations set, and what no statement tells of."""
    found: set[str] = set()
    names: set[str] = set()  # of what is not known by more
    for routine in program.routines.values():
        source = program.files.get(routine.file)
        if source is None or not source.is_fortran:
            continue
        names |= {name.decode() for name in grouped(source.data)}
        for statement in routine.statements():
            end = statement.blocks[0].start if statement.blocks else statement.end
            text = source.data[statement.start : end]
            stop = None if statement.stop is None else statement.stop.kind
            hidden = stop in _CONSTRUCTS
            hidden = hidden or (stop is ReasonKind.INPUT_OUTPUT and _INPUT.search(text) is not None)
            for each in _NAME.findall(text) if hidden else STATUS.findall(text):
                name = each.decode().lower()
                key = None if routine.meaning is None else routine.meaning(name)
                if key is None:
                    names.add(name)
                else:
                    found.add(key)
    return found | {key for key, known in program.variables.items() if known.name.lower() in names}


def _sets_success(statement: Statement, data: bytes) -> bool:
    """An assignment of MPI_SUCCESS or 0, or a declaration without a value."""
    text = data[statement.start : statement.end]
    if statement.kind is Kind.DECLARE and not _GIVEN.search(text):
        return True
    equals = text.find(b"=")
    return equals >= 0 and _SUCCESS.fullmatch(text[equals:]) is not None


def _c(
    program: Program,
    statement: Statement,
    source: SourceFile,
    functions: frozenset[str],
    codes: set[str],
    other: set[str],
) -> None:
    data = source.data
    written = {a.variable for a in statement.accesses if a.write and not a.through}
    if not written:
        return
    call = statement.calls[0] if len(statement.calls) == 1 else None
    if call is not None and _gives(call, functions):
        name = _taken_by(statement, call, data)
        taking = {key for key in written if _name(program, key) == name}
        codes |= taking
        written -= taking  # an argument may count: `&requests[n++]`
        if not written:
            return
    plain = (
        len(written) == 1 and not statement.calls and statement.kind in (Kind.SIMPLE, Kind.DECLARE)
    )
    if plain and _sets_success(statement, data):
        if b"MPI_SUCCESS" in data[statement.start : statement.end]:
            codes |= written
        return
    if statement.kind is Kind.DECLARE:
        text = data[statement.start : statement.end]
        written = {k for k in written if begins_otherwise(text, _name(program, k))}
    other |= written


def _taken_by(statement: Statement, call: Call, data: bytes) -> str | None:
    """The variable that gets what a call returns, of a statement that does nothing else with it,
    as `rc = MPI_Wait(...);` or `if ((rc = MPI_Wait(...)) != MPI_SUCCESS)`."""
    before, behind = data[statement.start : call.start], data[call.end : statement.end]
    found, ends = None, False
    if statement.kind in (Kind.SIMPLE, Kind.DECLARE):
        found, ends = _TAKEN.fullmatch(before), behind.strip() in (b";", b"")
    elif statement.kind is Kind.IF:
        found, ends = _TAKEN_AND_ASKED.fullmatch(before), behind.lstrip().startswith(b")")
    return found[1].decode() if found and ends else None


def _by_keyword(call: Call) -> bool:
    """Whether a call of MPI may set anything by an argument's name."""
    return call.name.startswith("MPI_") and any(
        argument.problem is not None
        and argument.problem.kind is ReasonKind.KEYWORD_ARGUMENT
        and not argument.text.strip().lower().startswith(("ierr", "status"))
        for argument in call.arguments
    )


def _fortran(
    statement: Statement,
    source: SourceFile,
    interface: str,
    codes: set[str],
    passed: PassedCodes,
) -> None:
    other = passed.other
    for call in statement.calls:
        if not call.name.startswith("MPI_"):
            passed.passed(call, source.name)
            continue
        expected = mpi_calls.error_position(call.name)
        if expected is None and call.name in ("MPI_Init", "MPI_Finalize"):
            expected = 0
        for position, argument in enumerate(call.arguments):
            if argument.base is None:
                continue
            last = position == len(call.arguments) - 1
            # Of mpi_f08 it is optional: the last argument may be another one.
            known = position == expected or (expected is None and interface != "mpi_f08")
            if last and known and returns_code(call):
                codes.add(argument.base)
            elif call.name != "MPI_Abort":
                other.add(argument.base)
            passed.set_here.add(argument.base)
    given = {argument.base for call in statement.calls for argument in call.arguments}
    written = {a.variable for a in statement.accesses if a.write} - given
    passed.set_here |= written
    if not written or _sets_success(statement, source.data):
        return
    copied = _copied(statement, source.data, passed.program)
    if copied is None:
        other |= written
    else:
        passed.copied(*copied)


def _copied(statement: Statement, data: bytes, program: Program) -> tuple[str, str] | None:
    """The variable whose value another one gets, of a statement that does nothing else."""
    found = _COPY.fullmatch(data, statement.start, statement.end)
    places = [(a.variable, a.write) for a in statement.accesses]
    if found is None or statement.calls or statement.kind is not Kind.SIMPLE or len(places) != 2:
        return None
    read = [key for key, write in places if not write]
    written = [key for key, write in places if write]
    if len(read) != 1 or len(written) != 1:
        return None
    names = [_name(program, key).lower() for key in (*written, *read)]
    known = names == [found[1].decode().lower(), found[2].decode().lower()]
    return (read[0], written[0]) if known else None


def returns_code(call: Call) -> bool:
    """Whether a call of MPI returns a code that is that of success, unless it ends the program."""
    return (
        call.name.startswith("MPI_")
        and not call.name.startswith((*mpi_calls.ERRORS_RETURN, "MPI_Aint_"))
        and call.name not in ("MPI_Wtime", "MPI_Wtick")
    )
