"""What statements of Fortran name whose accesses are not told: input and output, constructs."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_NAME = re.compile(r"[a-z]\w*")
_SET = re.compile(r"\b\w*stat\s*=\s*\w+")
# What these stop is read all the same.
_READ = (ReasonKind.LABEL, ReasonKind.SEVERAL_ON_LINE)


def names_untold(program: Program, routine: Routine, statement: Statement) -> frozenset[str]:
    """The names in a statement that may read what they stand for without an access of its own."""
    source = program.files.get(routine.file)
    if source is None or not source.is_fortran or statement.kind is Kind.INSERTED:
        return frozenset()
    stopped = statement.stop is not None and statement.stop.kind not in _READ
    if not stopped and statement.kind not in (Kind.OPAQUE, Kind.JUMP):
        return frozenset()
    end = statement.end
    if statement.blocks and statement.blocks[0].start > statement.start:
        end = statement.blocks[0].start
    text = source.data[statement.start : end].decode("latin-1").lower()
    return frozenset(_NAME.findall(_SET.sub(" ", text)))
