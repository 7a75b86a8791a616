"""What is surely not below 0 behind and inside the conditions of a program that ask for it.

`if (n < 1) return;` makes `n - 1` such an expression for the statements that follow in its block,
as long as none of them changes `n`; `if (n >= 1) { ... }` does for those inside.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_ENDING = frozenset({"exit", "abort", "_Exit", "MPI_Abort"})
_ENTERED = frozenset({ReasonKind.LABEL, ReasonKind.CASE_LABEL})


def note_known(program: Program, footprints: Footprints) -> None:
    """Note with each statement what conditions say of it; footprints become stale."""
    for routine in program.routines.values():
        if not any(s.holding or s.failing for s in routine.statements()):
            continue
        for block in routine.body.every():
            for index, statement in enumerate(block.statements):
                if statement.kind is Kind.IF:
                    _note(footprints, routine, statement, block.statements[index + 1 :])


def _note(
    footprints: Footprints, routine: Routine, statement: Statement, behind: list[Statement]
) -> None:
    inside = statement.blocks[0].statements
    _add(footprints, routine, inside, statement.holding)
    if len(statement.blocks) == 2:
        _add(footprints, routine, statement.blocks[1].statements, statement.failing)
    elif _leaves(footprints.program, inside):
        _add(footprints, routine, behind, statement.failing)


def _add(
    footprints: Footprints,
    routine: Routine,
    statements: list[Statement],
    facts: tuple[Affine, ...],
) -> None:
    if not facts:
        return
    each = [inner for statement in statements for inner in statement.walk()]
    if any(inner.stop is not None and inner.stop.kind in _ENTERED for inner in each):
        return  # they may be come to otherwise
    changed = footprints.changed_by(statements, routine.file)
    kept = frozenset(fact for fact in facts if fact.terms and not fact.variables() & changed)
    for inner in each:
        inner.known |= kept
        for call in inner.calls:
            call.known |= kept


def _leaves(program: Program, statements: list[Statement]) -> bool:
    """Whether what follows in the block around is not reached behind these statements."""
    if not statements:
        return False
    last = statements[-1]
    if last.kind is Kind.JUMP:
        return True
    return last.kind is Kind.SIMPLE and any(
        call.is_statement and call.name in _ENDING and call.name not in program.routines
        for call in last.calls
    )
