"""Datatypes of the program's own whose layout is seen: MPI_Type_contiguous and MPI_Type_vector.

A handle has a layout if one statement of the program makes it and nothing else sets it: every
message that uses it then moves these elements (MPI 4.0, section 5.1.2). Sizes are constants, or
variables of the routine that both makes and uses the type, which keep their values from there on,
or variables that routines share and that are set for the last time before.
A field, and a variable that routines share, may be made of others that are set just in front of it
(`analysis.derived`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.derived import Derived
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.sections import handle
from imbrex.transform.analysis.words import words_in
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Layout
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement

# Constructor: positions of count, length of a block, stride, old type and new type.
_MAKERS: dict[str, tuple[int, int | None, int | None, int, int]] = {
    "MPI_Type_contiguous": (0, None, None, 1, 2),
    "MPI_Type_vector": (0, 1, 2, 3, 4),
}
# Where a handle's address may be passed besides: what leaves the layout as it is.
_KEEPS = {"MPI_Type_commit": 0, "MPI_Type_free": 0}
# Calls of MPI that keep no address of what they set.
_SETS_AT_ONCE = ("MPI_Bcast", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Recv", "MPI_Allreduce")


def find_layouts(program: Program, footprints: Footprints) -> dict[str, Layout]:
    """The layout of each handle, by its variable; nothing where code is not seen."""
    if not program.is_whole:
        return {}
    made: dict[str, list[tuple[Routine, Statement, Call]]] = {}
    for routine in program.routines.values():
        for statement in routine.statements():
            for call in statement.calls:
                if call.name in _MAKERS and len(call.arguments) > _MAKERS[call.name][4]:
                    key = call.arguments[_MAKERS[call.name][4]].base or ""
                    made.setdefault(key, []).append((routine, statement, call))
    found = {}
    shared = Derived(program, footprints)
    of_main = Derived(program, footprints, shared.setters)
    for key, makers in made.items():
        layout = None
        if len(makers) == 1 and _set_by_one(program, key):
            layout = _layout(program, footprints, shared, key, *makers[0])
        for each in (shared, of_main) if layout is None and len(makers) == 1 else ():
            layout = layout or _derived(program, each, key, *makers[0])
        if layout is not None:
            found[key] = layout
    passed = found
    while passed:
        passed = _received(program, footprints, found)
        found |= passed
    return found


def _received(
    program: Program, footprints: Footprints, known: dict[str, Layout]
) -> dict[str, Layout]:
    """Parameters not yet known that every call gives a handle of one layout."""
    found: dict[str, Layout] = {}
    calls: dict[str, list[Call]] = {}
    for user in program.routines.values():
        for call in _calls(user.body.statements):
            calls.setdefault("?" if call.unknown else call.name, []).append(call)
    for routine in program.routines.values():
        if routine.address_taken or "?" in calls or routine.name not in calls:
            continue
        for position, key in enumerate(routine.parameters):
            if key in known or not all(len(c.arguments) > position for c in calls[routine.name]):
                continue
            handed = [known.get(handle(c.arguments[position]) or "") for c in calls[routine.name]]
            if None in handed or not _set_by_one(program, key):
                continue
            kept = _kept_parameters(program, footprints, routine)
            layouts = {
                _in_terms(layout, call, kept)
                for layout, call in zip(handed, calls[routine.name], strict=True)
                if layout is not None
            }
            layout = layouts.pop()
            if layout is not None and not layouts:
                found[key] = layout
    return found


def _kept_parameters(
    program: Program, footprints: Footprints, routine: Routine
) -> list[tuple[int, str]]:
    """Plain parameters whose values stay, by position."""
    plain = {key for key in routine.parameters if _plain(program, key)} - footprints.addressed
    plain -= _set_in(program, footprints, plain, routine, routine.body.statements)
    return [(n, key) for n, key in enumerate(routine.parameters) if key in plain]


def _set_in(
    program: Program,
    footprints: Footprints,
    names: set[str],
    routine: Routine,
    statements: list[Statement],
) -> set[str]:
    """Which plain variables the statements may set, also where they are not analysed."""
    found = names & footprints.changed_by(statements, routine.file)
    for call in _calls(statements):
        seen = call.name in program.routines or call.name.startswith("MPI_")
        stop = footprints.of_call(call, routine.file).stop
        if not seen or (stop is not None and call.name not in _MAKERS):
            found |= {a.base for a in call.arguments if a.base in names}
    data = program.files[routine.file].data.lower()
    if b"namelist" in data:
        return names
    for statement in statements:
        for inner in statement.walk():
            if inner.stop:  # input, allocation with a status, ...
                identifiers = words_in(program, routine, inner)
                found |= {
                    n for n in names if program.variables[n].name.lower().encode() in identifiers
                }
    return found


def _in_terms(layout: Layout, call: Call, kept: list[tuple[int, str]]) -> Layout | None:
    """A layout as the routine called may name it: by parameters that get its sizes."""
    names = {
        value: key
        for position, key in kept
        if position < len(call.arguments)
        if (value := call.arguments[position].value) is not None
    }

    def named(factor: str) -> Affine | None:
        key = names.get(Affine.variable(factor))
        return None if key is None else Affine.variable(key)

    count, length, stride = (
        value.replace(named) for value in (layout.count, layout.length, layout.stride)
    )
    if count is None or length is None or stride is None:
        return None
    return Layout(layout.element, count, length, stride)


def _plain(program: Program, key: str) -> bool:
    variable = program.variables.get(key)
    if variable is None or variable.kind not in ("local", "parameter", "dummy"):
        return False
    return not (variable.pointer or variable.volatile or variable.bounds or key in program.overlays)


def _set_by_one(program: Program, key: str) -> bool:
    """Whether nothing but its constructor, or the call, gives the handle a value."""
    variable = program.variables.get(key)
    if variable is None or variable.kind in ("field", "heap"):
        return False
    if key in program.overlays or key.startswith("common:"):
        return False
    for target, form, source in program.pointer_facts:
        if source == key and form == "addr" and not _harmless(target):
            return False
    for routine in program.routines.values():
        fortran = program.files[routine.file].language is not Language.C
        for statement in routine.statements():
            written = any(a.variable == key and a.write for a in statement.accesses)
            if written and statement.kind is not Kind.DECLARE:
                return False
            if statement.stop and variable.name.lower().encode() in words_in(
                program, routine, statement
            ):
                return False
            if fortran and not all(_only_used(program, call, key) for call in statement.calls):
                return False
    return not _given_value(program, variable.name)


def _harmless(target: str) -> bool:
    kind, _, rest = target.partition(":")
    name, _, position = rest.partition(":")
    place = _KEEPS.get(name, _MAKERS[name][4] if name in _MAKERS else -1)
    return kind == "argument" and position == str(place)


def _only_used(program: Program, call: Call, key: str) -> bool:
    """Fortran passes the variable itself: whether a call only reads the handle, or makes it."""
    reading = {part.datatype for part in mpi_calls.TOLD.get(call.name, ())}
    routine = program.routines.get(call.name)
    if routine is not None:  # whose parameter is looked at in the same way
        passed = [n for n, a in enumerate(call.arguments) if a.base == key]
        own = [routine.parameters[n] for n in passed if n < len(routine.parameters)]
        return len(own) == len(passed) and all(_set_by_one(program, p) for p in own)
    if call.name in _KEEPS:
        reading = {_KEEPS[call.name]}
    elif call.name in _MAKERS:
        reading = {_MAKERS[call.name][4]}
    return all(position in reading for position, a in enumerate(call.arguments) if a.base == key)


def _given_value(program: Program, name: str) -> bool:
    """Whether some declaration of that name may give another handle than the empty one."""
    value = rb"\s*(?:=(?!=)(?!\s*MPI_DATATYPE_NULL\b)|[({])"
    other = re.compile(rb"(?i)(?<![\w.>%])" + re.escape(name.encode()) + value)
    in_data = re.compile(rb"(?im)^\s*data\b.*\b" + re.escape(name.encode()) + rb"\b")
    return any(other.search(s.data) or in_data.search(s.data) for s in program.files.values())


def _derived(
    program: Program,
    derived: Derived,
    key: str,
    routine: Routine,
    statement: Statement,
    call: Call,
) -> Layout | None:
    """The layout of a field, by fields of its object, or of a handle that routines share."""
    made = _sizes(call)
    owner = derived.owner_of(routine, statement, call.arguments[_MAKERS[call.name][4]].text)
    owner = "" if owner and program.is_of_single(key) else owner
    if made is None or owner is None or not derived.is_shared(owner, key):
        return None
    element, sizes = made
    settled = derived.settled(routine, statement, owner, key, sizes, made=True)
    if settled is None:
        return None
    # Of C no message uses a handle that is 0 still.
    unset = bool(owner) and program.in_c(routine.file)
    if not (unset or derived.first.never_read(routine, statement, owner, key)):
        return None
    return _of_sizes(call, element, settled)


def _layout(
    program: Program,
    footprints: Footprints,
    derived: Derived,
    key: str,
    routine: Routine,
    statement: Statement,
    call: Call,
) -> Layout | None:
    made = _sizes(call)
    if made is None:
        return None
    element, sizes = made
    names = {name for value in sizes for name in value.variables()}
    shared = {name for name in names if derived.is_shared("", name)}
    if shared and derived.possible and derived.last_from(routine, statement, shared):
        names -= shared
    if names and not _keep(program, footprints, key, names, routine, statement):
        return None
    return _of_sizes(call, element, sizes)


def _sizes(call: Call) -> tuple[str, list[Affine]] | None:
    """The type of the elements; count, length and stride of the blocks."""
    count_at, length_at, stride_at, old_at, _ = _MAKERS[call.name]
    values = [
        Affine(1) if position is None else call.arguments[position].value
        for position in (count_at, length_at, stride_at)
    ]
    known = [value for value in values if value is not None]
    old = call.arguments[old_at].constant
    return (old, known) if len(known) == 3 and old in mpi_calls.ELEMENT_OF else None


def _of_sizes(call: Call, element: str, sizes: list[Affine]) -> Layout:
    count, length, stride = sizes
    if call.name == "MPI_Type_contiguous" or stride == length:
        return Layout(element, Affine(1), count.product(length), Affine(1))
    return Layout(element, count, length, stride)


def _keep(
    program: Program,
    footprints: Footprints,
    key: str,
    names: set[str],
    routine: Routine,
    statement: Statement,
) -> bool:
    """Whether the sizes keep their values while the type is used, in this routine alone."""
    if program.variables[key].kind != "local" or statement.parent is not routine.body:
        return False
    for name in names:
        if not _plain(program, name):
            return False
        for target, form, source in program.pointer_facts:
            if source == name and form == "addr" and not _evaluated_now(target):
                return False
    index = routine.body.statements.index(statement)
    before, behind = routine.body.statements[:index], routine.body.statements[index:]
    if any(key in (handle(a), a.base) for call in _calls(before) for a in call.arguments):
        return False
    return not _set_in(program, footprints, names, routine, behind)


def _evaluated_now(target: str) -> bool:
    return target.startswith("argument:") and target.split(":")[1] in _SETS_AT_ONCE


def _calls(statements: list[Statement]) -> Iterator[Call]:
    for statement in statements:
        for inner in statement.walk():
            yield from inner.calls
