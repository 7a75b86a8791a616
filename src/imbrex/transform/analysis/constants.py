"""Integer variables that keep the value of their declaration; expressions that are not negative.

`int nx = b->nx;` makes `nx` another name of `b->nx` where neither changes in the routine: sizes
that are written in two ways can then be compared.
"""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.renaming import Renaming
from imbrex.transform.analysis.sections import layout_of
from imbrex.transform.analysis.set_once import set_once
from imbrex.transform.analysis.vector_sizes import exchanged_unevenly, kept_sizes
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.memory import is_size
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind


def name_constants(program: Program, footprints: Footprints) -> None:
    """Replace such variables in all sections, bounds and arguments; footprints become stale.

    Those of an inner block are replaced in that block, which is all where they are known.
    """
    addressed = {source for _, form, source in program.pointer_facts if form == "addr"}
    in_c: dict[str, Affine] = {}
    for routine in program.routines.values():
        source = program.files.get(routine.file)
        if source is not None and source.is_fortran:
            values, choices = set_once(program, footprints, routine, source)
            program.set_once.update(values)
            program.chosen_once.update(choices)
        else:
            values = _constants(program, footprints, routine, addressed)
            in_c |= values
        if values:
            renaming = _renaming(values)
            for statement in routine.statements():
                renaming.statement(statement)
    if in_c:  # of Fortran each is looked up where it is asked for
        _renaming(in_c).bounds(program)


def _renaming(values: dict[str, Affine]) -> Renaming:
    named = (Affine.variable(key).variables() for key in values)
    return Renaming(values.get, frozenset().union(*named))


def _constants(
    program: Program, footprints: Footprints, routine: Routine, addressed: set[str]
) -> dict[str, Affine]:
    declared = _declared(program, routine.body)
    for statement in routine.statements():
        for block in statement.blocks:
            inner = _declared(program, block).items()
            declared |= {n: at for n, at in inner if program.variables[n].kind == "local"}
    if not declared:
        return {}
    written: dict[str, int] = {}
    for statement in routine.statements():
        for access in statement.accesses:
            if access.write and not access.through:
                written[access.variable] = written.get(access.variable, 0) + 1
    kept = kept_sizes(program, declared.keys())
    single = {key for key in declared.keys() - addressed if written[key] == 1 or key in kept}
    single -= {key for key in single if is_size(key) and key not in kept}
    while True:
        values = _values(program, footprints, routine, declared, single)
        uneven = exchanged_unevenly(program, values)
        if not uneven:
            break
        single -= uneven
    program.sizes |= {key: value for key, value in values.items() if is_size(key)}
    return values


def _values(
    program: Program,
    footprints: Footprints,
    routine: Routine,
    declared: dict[str, tuple[Block, int]],
    single: set[str],
) -> dict[str, Affine]:
    """What the variables in `single` are, of those whose values keep what they are made of."""
    not_single = [a for a in footprints.of_routine(routine).accesses if a.variable not in single]
    changed = footprints.changed(not_single)
    values: dict[str, Affine] = {}

    def keeps(key: str, value: Affine) -> bool:
        """Whether nothing that the value is made of changes where the variable is known."""
        if program.variables[key].kind != "local":
            return value.variables().isdisjoint(changed)
        block, position = declared[key]
        behind = footprints.changed_by(block.statements[position:], routine.file)
        return value.variables().isdisjoint(behind - single)

    # What is made of others may be looked at before them: it is told in the terms of the last.
    for _ in range(len(single)):
        before = dict(values)
        for key in sorted(single):
            value = program.definitions[key]
            known = value.replace(lambda factor: values.get(factor, Affine.variable(factor)))
            if known is not None and keeps(key, known):
                values[key] = known
        if values == before:
            break
    return values


def _declared(program: Program, block: Block) -> dict[str, tuple[Block, int]]:
    """The variables that are declared in a block, with a value that is known, and where."""
    return {
        access.variable: (block, position)
        for position, statement in enumerate(block.statements)
        if statement.kind is Kind.DECLARE
        for access in statement.accesses
        if access.write and access.variable in program.definitions
    }


def nonnegative(program: Program, footprints: Footprints) -> frozenset[Affine]:
    """Counts of messages that a routine passes to MPI whenever it is called, and how far their
    first elements are from the bounds of an array of assumed shape.

    Only of variables that belong to the routine and keep their values in it, so that the fact
    holds wherever the expression can stand.
    """
    found: set[Affine] = set()
    for routine in program.routines.values():
        counts: list[Affine] = []
        told = [
            s for s in routine.body.statements if any(c.name in mpi_calls.TOLD for c in s.calls)
        ]
        for statement in routine.body.statements if told else ():
            if footprints.of(statement, routine.file).leaves:
                break
            for call in statement.calls:
                for part in mpi_calls.TOLD.get(call.name, ()):
                    if call.is_statement and len(call.arguments) > part.communicator:
                        values = [call.arguments[part.count].value]
                        layout = layout_of(program, call.arguments[part.datatype])
                        values += [] if layout is None else [layout.count]
                        values += _distances(program, call.arguments[part.buffer])
                        counts += [v for v in values if v is not None and v.terms]
        if not counts:
            continue
        changed = footprints.changed(footprints.of_routine(routine).accesses)
        for value in counts:
            if not value.variables() & changed and _own(program, value):
                found.add(value)
    return frozenset(found)


def _distances(program: Program, buffer: Argument) -> list[Affine | None]:
    """What is between a message's first element and the bounds of its array, of assumed shape."""
    variable = program.variables.get(buffer.base or "")
    if variable is None or not variable.assumed_shape or buffer.origin is None or buffer.whole:
        return []
    found: list[Affine | None] = []
    for index, (low, high) in zip(buffer.origin, variable.bounds, strict=False):
        if index is not None and low is not None and high is not None:
            found += [index.plus(low, -1), high.plus(index, -1)]
    return found


def _own(program: Program, value: Affine) -> bool:
    """Whether each factor begins with a variable of the routine."""
    for term, _ in value.terms:
        for factor in term.split("\u00b7"):
            variable = program.variables.get(factor.split("\u2192")[0])
            if variable is None or variable.kind not in ("local", "parameter", "dummy"):
                return False
    return True
