"""Whether a receive may be from nobody: from MPI_PROC_NULL, which leaves its buffer as it is."""

from __future__ import annotations

import re

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.statements import Statement

_REMAINDER = re.compile(r"mod(?:ulo)?\s*\(.*\)", re.IGNORECASE | re.DOTALL)
_UNEQUAL = re.compile(r"\s*(?:!=|/=|\.ne\.)\s*", re.IGNORECASE)


def may_fill_nothing(footprints: Footprints, statement: Statement, call: Call, file: str) -> bool:
    """Whether a call that receives may leave its buffer as it was."""
    position = mpi_calls.SOURCE_POSITION.get(call.name)
    if position is None or position >= len(call.arguments):
        return False  # a collective
    source, program = call.arguments[position], footprints.program
    if source.text.strip().isdigit() or _is_computed(source.text):
        return False
    if program.is_whole and not program.null_ranks:
        return False
    return not _is_guarded(footprints, statement, source, file)


def _is_computed(source: str) -> bool:
    """Whether a rank is the result of arithmetic, which nobody does with MPI_PROC_NULL."""
    text = source.strip()
    if _REMAINDER.fullmatch(text):
        return True
    while text.startswith("(") and _outside(text) == "":
        text = text[1:-1].strip()
    outside = _outside(text.replace("->", "."))
    return "?" not in outside and any(operator in outside for operator in "+-*/%")


def _outside(text: str) -> str:
    """What stands in no brackets."""
    depth, found = 0, []
    for character in text:
        depth += character in "(["
        if not depth:
            found.append(character)
        depth -= character in ")]"
    return "".join(found)


def _is_guarded(footprints: Footprints, statement: Statement, source: Argument, file: str) -> bool:
    """Whether the statement is done only where a condition says that there is somebody."""
    block = statement.parent
    owner = None if block is None else block.owner
    if block is None or owner is None or owner.condition is None or block is not owner.blocks[0]:
        return False
    condition = owner.condition.strip()
    if condition.startswith("(") and _outside(condition) == "":
        condition = condition[1:-1]
    sides = {_plain(side) for side in _UNEQUAL.split(condition)}
    if sides != {_plain(source.text), "mpi_proc_null"}:
        return False
    changed = footprints.changed_by(block.statements[: block.statements.index(statement)], file)
    return not any(access.variable in changed or access.through for access in source.reads)


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()
