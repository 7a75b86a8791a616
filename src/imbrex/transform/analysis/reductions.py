"""Scalars that a loop nest reduces values into: `s = s + x`, `m = max(m, x)`.

Each iteration adds to what the others have made of the scalar, in whatever order they come.
"""

from __future__ import annotations

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.reductions_c import reductions_of_c
from imbrex.transform.analysis.reductions_fortran import reductions_of_fortran
from imbrex.transform.model.program import Program, Routine, Statement
from imbrex.transform.model.reduction import Reduction


def reductions(
    program: Program, footprints: Footprints, routine: Routine, body: list[Statement]
) -> dict[str, Reduction]:
    """The scalars that the statements of a loop's body reduce into, and use in no other way."""
    source = program.files.get(routine.file)
    if source is not None and source.is_fortran:
        return reductions_of_fortran(program, footprints, source, body, routine.file)
    return reductions_of_c(program, footprints, routine, body)
