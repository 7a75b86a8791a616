"""The reader of Fortran, fixed and free form: the routines of all files, and what they share."""

from __future__ import annotations

import re
from functools import partial

from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import BY_EQUIVALENCE
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement
from imbrex.transform.readers.ending import drop_last_return
from imbrex.transform.readers.fortran_access import access_of
from imbrex.transform.readers.fortran_binding import bind_components
from imbrex.transform.readers.fortran_body import Body
from imbrex.transform.readers.fortran_bound import Bindings, note_unknown
from imbrex.transform.readers.fortran_first_values import first_values
from imbrex.transform.readers.fortran_hosts import find_hosts
from imbrex.transform.readers.fortran_lines import LogicalLine
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_owned import constructed_words, own_pointers
from imbrex.transform.readers.fortran_procedures import Procedures, bound_keys, tell_apart
from imbrex.transform.readers.fortran_scopes import Scope
from imbrex.transform.readers.fortran_separate import UNREAD, body_of, take_arguments
from imbrex.transform.readers.fortran_single import single_types
from imbrex.transform.readers.fortran_types import Types
from imbrex.transform.readers.fortran_units import Units

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_INCLUDE = re.compile(r"include['\"]|#\s*include(?!\s*[\"<]mpif\.h)")
_STANDARD = re.compile(r"iso_(?:c_binding|fortran_env)|ieee_\w+|omp_lib(?:_kinds)?|openacc")
_WILDCARD = re.compile(r"mpi_any_(source|tag)")
_NULL_RANK = re.compile(r"mpi_(proc_null|cart_shift)")


def read_fortran(units: list[Units], program: Program, shared: set[str]) -> None:
    """Enter the scopes of all Fortran files of a program.

    `shared`: names that procedures share in what was read so far, to which more are added.
    """
    scopes = [scope for unit in units for scope in unit.scopes]
    modules = {scope.name: scope for scope in scopes if scope.kind == "module"}
    names = Names(program, modules)
    find_hosts(scopes, modules)
    take_arguments(scopes, names)
    for unit in units:
        names.own.add(unit.own)
        program.inactive |= unit.conditionals.inactive
        program.included += unit.declarations.included
        asked = unit.conditionals.undefined
        for macro, number in asked.items():
            if not macro.startswith("_"):
                program.undefined.setdefault(macro, Location(unit.source.name, number))
    names.own.functions |= {scope.name for scope in scopes if scope.kind == "function"}
    definitions = [definition for unit in units for definition in unit.types]
    procedures = Procedures(units, scopes, definitions, names, shared)
    unclear = tell_apart(procedures, program)
    shared |= procedures.shared
    _check_commons(scopes, program)
    for scope in scopes:
        for module, _ in scope.uses:
            if module not in modules and not _STANDARD.fullmatch(module):
                place = Location(scope.file, scope.line)
                program.missing_modules.setdefault(module, place)
    swaps = [swap for scope in scopes for swap in scope.swaps]
    names.swapped = {name.rpartition("%")[2] for swap in swaps for name in (swap.kept, *swap.ring)}
    undeclared = _undeclared(scopes, program)
    program.moved |= any(unit.moved for unit in units)
    linked = [unit.linked for unit in units]
    owning = False
    if not undeclared and not program.skipped and None not in linked:
        words = set(program.inactive).union(*(each for each in linked if each is not None))
        lines = (line for unit in units for line in unit.lines)
        made = constructed_words(lines, scopes, definitions)
        if made is not None and any(scope.kind == "program" for scope in scopes):
            owning = own_pointers(scopes, definitions, names, words | made)
    for scope in scopes if not owning else ():
        scope.views = []
    entered = [scope for scope in scopes if scope.kind != UNREAD]
    whole = any(scope.kind == "program" for scope in scopes) and not program.skipped
    whole = whole and len(entered) == len(scopes)
    names.types = Types(scopes, definitions, undeclared, whole=whole)
    program.record_types = names.types.of_records()
    names.bindings = Bindings.of(scopes, definitions, known=whole and not undeclared)
    if whole:
        names.single = program.single = single_types(scopes, definitions, names)
    read = {id(line) for scope in entered for line in scope.body if not line.directive}
    note_unknown(names, (line for u in units for line in u.lines if id(line) not in read))
    names.note_targets()
    for unit in units:
        program.files[unit.source.name] = unit.source
        identifiers = frozenset(
            identifier.lower()
            for identifier in _IDENTIFIER.findall(unit.source.data.decode("latin-1"))
        )
        for scope in unit.scopes:
            _inherit_missing(scope, modules)
            if scope.missing:
                place = Location(scope.file, scope.line)
                program.missing_includes.setdefault(scope.missing, place)
            if scope.hidden:
                place = Location(scope.file, scope.line)
                program.hidden_code.append(Reason(scope.hidden, place))
            for line in scope.body:
                if _INCLUDE.match(line.directive or line.masked):
                    place = Location(scope.file, line.line)
                    program.hidden_code.append(Reason(ReasonKind.INCLUDED_UNREAD(), place))
            if scope.kind in ("program", "subroutine", "function"):
                broken = _enter(scope, names, program, identifiers)
                if broken and unit.source.name not in program.skipped:
                    program.skipped[unit.source.name] = f"{unit.source.name}: {broken}"
            for line in scope.body:
                _note_ranks(line, scope, program)
    for scope in scopes:
        for specifics in scope.generics.values():
            for name in (specifics or set()) & program.routines.keys():
                program.routines[name].generic = True
    for name in (names.own.specifics | bound_keys(definitions)) & program.routines.keys():
        program.routines[name].bound = True
    if not (names.own.operators or names.own.assignment):
        for each in definitions:
            program.binding_lines.setdefault(each.scope.file, []).extend(each.binding_lines)
    unread = {s.name: Location(s.file, s.line) for s in scopes if s.kind == UNREAD}
    program.unread_procedures = unread
    for name in (names.own.generics | unread.keys()) & program.routines.keys():
        _stop(program.routines[name], ReasonKind.NAME_TWICE(routine=name))
    for name in unclear & program.routines.keys():
        changes = ReasonKind.NAME_CHANGES(routine=name)
        _stop(program.routines[name], changes)
        program.routines[name].problem = program.routines[name].problem or changes
    _leave_out(program)
    if unread:
        program.has_main = False  # what they do is not known
    bind_components(program)


def _undeclared(scopes: list[Scope], program: Program) -> str:
    """Why objects may be declared that are not seen; "" where all are."""
    if program.missing_modules:
        return f"the module `{min(program.missing_modules)}` is not among the files"
    if any(scope.hidden or scope.missing for scope in scopes):
        return "a file that is included, or a procedure, is not read"
    return ""


def _stop(routine: Routine, cause: Cause) -> None:
    statement = Statement(Kind.OPAQUE, 0, 0, routine.line, routine.line)
    statement.stop = cause
    routine.body.statements.append(statement)


def _inherit_missing(scope: Scope, modules: dict[str, Scope]) -> None:
    """What a host or a used module declares is not known either, where an include is missing."""
    seen: set[int] = set()
    work = [scope]
    while work and not scope.missing:
        outer = work.pop()
        if id(outer) in seen:
            continue
        seen.add(id(outer))
        if outer.missing:
            scope.missing = outer.missing
            scope.hidden = ReasonKind.INCLUDE_MISSING(file=outer.missing)
            scope.problem = scope.problem or scope.hidden
        work += [modules[name] for name, _ in outer.uses if name in modules]
        work += [] if outer.parent is None else [outer.parent]


def _leave_out(program: Program) -> None:
    """Take files with an unfinished construct out again: nothing in them is as it seems."""
    for name in program.skipped:
        program.files.pop(name, None)
    for key, routine in list(program.routines.items()):
        if routine.file in program.skipped:
            del program.routines[key]


def _note_ranks(line: LogicalLine, scope: Scope, program: Program) -> None:
    for match in _WILDCARD.finditer(line.masked):
        direct = "callmpi_" in line.masked
        alone = line.masked[match.start() - 1] == "," and line.masked[match.end()] == ","
        if not (direct and alone):
            program.stray_wildcards.append(Location(scope.file, line.line))
    if _NULL_RANK.search(line.masked):
        program.null_ranks.append(Location(scope.file, line.line))


def _check_commons(scopes: list[Scope], program: Program) -> None:
    """Members of a block that two units lay out differently share memory in unknown ways."""
    layouts: dict[str, set[tuple[object, ...]]] = {}
    equivalent = set()
    for scope in scopes:
        for block, members in scope.commons.items():
            layout = tuple(
                (name, tuple(scope.symbols[name].bounds), scope.symbols[name].type)
                for name in members
            )
            layouts.setdefault(block, set()).add(layout)
            if scope.equivalences & set(members):
                equivalent.add(block)
    for scope in scopes:
        for block, members in scope.commons.items():
            for name in members:
                key = f"common:{block}.{name}"
                if len(layouts[block]) > 1:
                    how = ReasonKind.COMMON_LAYOUTS(block=block).text
                    program.overlays.setdefault(key, set()).add(how)
                if block in equivalent:
                    program.overlays.setdefault(key, set()).add(BY_EQUIVALENCE)


def _declared_by(scope: Scope, names: Names) -> tuple[str, ...]:
    """The integers that the bounds and the lengths of what a routine declares are made of."""
    texts = [text for symbol in scope.symbols.values() for ends in symbol.bounds for text in ends]
    texts += [symbol.type for symbol in scope.symbols.values() if symbol.type[:5] == "chara"]
    named = set().union(*map(_IDENTIFIER.findall, texts))
    variables = (names.variable(scope, name) for name in named if names.find(scope, name))
    return tuple(
        sorted(
            each.key
            for each in variables
            if each is not None and each.element.startswith("integer")
        )
    )


def _ends_objects(scope: Scope, block: Block, names: Names) -> bool:
    """Whether memory of objects begins or ends with a routine, and others may know of it."""
    own = set()
    for name, symbol in scope.symbols.items():
        if names.types.of(symbol.type) is None or scope.kind == "program":
            continue
        if "intent(out)" in symbol.attributes:
            return True  # its allocatable components are freed on entry
        saved = scope.saves_all or "save" in symbol.attributes
        if name not in scope.dummies and not saved:
            own.add(name)
    if own and scope.has_contained:
        return True
    passed = (
        _IDENTIFIER.match(argument.text)
        for statement in (inner for outer in block.statements for inner in outer.walk())
        for call in statement.calls
        for argument in call.arguments
    )
    return any(name is not None and name[0].lower() in own for name in passed)


def _enter(scope: Scope, names: Names, program: Program, identifiers: frozenset[str]) -> str:
    """Enter a routine; returns what construct in it has no end, if one has none."""
    reader = Body(scope, names)
    block = reader.read()
    drop_last_return(block, program.files[scope.file].data)
    parameters = []
    for dummy in scope.dummies:
        variable = names.variable(scope, dummy) if dummy != "*" else None
        parameters.append(variable.key if variable is not None else "")
    derived = any(symbol.type.startswith(("type(", "class(")) for symbol in scope.symbols.values())
    if names.own.finalizers and derived:
        ended = Statement(Kind.OPAQUE, 0, 0, scope.line, scope.line)
        ended.stop = ReasonKind.DERIVED_ASSIGNMENT()
        ended.parent = block
        block.statements.append(ended)
    if _ends_objects(scope, block, names):
        ended = Statement(Kind.OPAQUE, 0, 0, scope.line, scope.line)
        ended.stop = ReasonKind.OBJECT_ENDS()
        ended.parent = block
        block.statements.append(ended)
    renewed = first_values(scope, names)
    if renewed:
        at = block.statements[0].start if block.statements else block.start
        begun = Statement(Kind.DECLARE, at, at, scope.line, scope.line, renewed)
        begun.parent = block
        block.statements.insert(0, begun)
    if scope.hidden:
        unread = Statement(Kind.OPAQUE, 0, 0, scope.line, scope.line)
        unread.stop = scope.hidden
        unread.parent = block
        block.statements.append(unread)
    name = scope.key if scope.kind != "program" else "main"
    if name in program.routines:
        known = program.routines[name]
        known.problem = ReasonKind.TWICE_DEFINED()
        opaque = Statement(Kind.OPAQUE, 0, 0, scope.line, scope.line)
        opaque.stop = ReasonKind.NAME_TWICE(routine=name)
        known.body.statements.append(opaque)
        return reader.broken
    routine = Routine(name, scope.key, scope.file, scope.line, parameters, block)
    routine.shares_name = scope.key != scope.name
    routine.renames = frozenset(
        key for local, key in scope.meant.items() if key.rpartition("::")[2] != local
    )
    routine.problem = scope.problem
    routine.conditional = scope.conditional
    routine.visible = True
    routine.declare_after = scope.declare_after
    routine.first_executable = block.statements[0].start if block.statements else -1
    routine.views = {view.name: view.line.text.replace("=>", " => ") for view in scope.views}
    routine.interface = names.interface(scope)
    routine.exported = identifiers
    routine.host = "" if scope.parent is None else f"{scope.parent.key}@{scope.parent.file}"
    routine.interface_body = body_of(scope)
    routine.access = access_of(scope, names.modules)
    routine.declared_by = _declared_by(scope, names)
    routine.meaning = partial(names.meaning, scope)
    result = names.variable(scope, scope.result) if scope.kind == "function" else None
    routine.result = "" if result is None else result.key
    program.routines[name] = routine
    if scope.kind == "program":
        program.has_main = True
    return reader.broken
