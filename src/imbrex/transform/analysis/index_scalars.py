"""Elements of arrays whose index a scalar holds: `at = (j - 1) * 5 + m`, then `buf(at) = ...`.

Such an index is told in terms of what the scalar was set to, wherever neither it nor any part of
that has changed since, so that a loop nest tells which elements it touches.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine, Range, Section
from imbrex.transform.model.memory import Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement


def tell_indices(program: Program, footprints: Footprints) -> None:
    """Replace such scalars in the sections of routines of Fortran; footprints become stale."""
    for routine in program.routines.values():
        if program.in_fortran(routine.file):
            found = [(block, _told(footprints, routine, block)) for block in routine.body.every()]
            for _, told in found:
                for statement, held in told:
                    statement.accesses = [_access(access, held) for access in statement.accesses]


def _told(
    footprints: Footprints, routine: Routine, block: Block
) -> list[tuple[Statement, dict[str, Affine]]]:
    """The statements of a block, and those inside them, with what scalars hold there."""
    held: dict[str, Affine] = {}
    found = []
    for statement in block.statements:
        footprint = footprints.of(statement, routine.file)
        if footprint.stop is not None or statement.text == "terminal":
            held = {}  # control may come in here from elsewhere
            continue
        changed = footprints.changed_by([statement], routine.file)
        held = {
            key: value
            for key, value in held.items()
            if key not in changed and not value.variables() & changed
        }
        if held:
            found += [(inner, held) for inner in statement.walk()]
        if statement.kind is Kind.SIMPLE and statement.sets is not None:
            key, value = statement.sets
            settled = _replaced(value, held)
            known = settled is not None and key not in settled.variables()
            if known and settled is not None and _is_plain(footprints.program, key):
                held = {**held, key: settled}
    return found


def _is_plain(program: Program, key: str) -> bool:
    """Whether a variable is a local scalar that nothing else may set."""
    variable = program.variables.get(key)
    if variable is None or variable.kind != "local" or variable.element != "integer":
        return False
    return not (variable.volatile or variable.bounds or variable.pointer or key in program.overlays)


def _access(access: Access, held: dict[str, Affine]) -> Access:
    section = access.section
    if section is None or access.strides or not any(r.variables() & held.keys() for r in section):
        return access
    return access.at(_section(section, held))


def _section(section: Section, held: dict[str, Affine]) -> Section:
    return tuple(Range(_replaced(span.low, held), _replaced(span.high, held)) for span in section)


def _replaced(index: Affine | None, held: dict[str, Affine]) -> Affine | None:
    if index is None:
        return None
    return index.replace(lambda name: held.get(name, Affine.variable(name)))
