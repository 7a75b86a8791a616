"""Arrays of Fortran without a fixed size that a caller has: the start of a routine allocates them.

The finish declares them as the routine did, with the extents that they have in its arguments.
Arrays that the routine allocates by itself are allocatable in both: at the start they have no
memory, as they had none when the routine began.
"""

from __future__ import annotations

import re

from imbrex.transform.model.memory import Variable
from imbrex.transform.text.pieces import pieces
from imbrex.transform.text.specification import plain_declaration


def allocating(
    lines: list[str], arrays: list[Variable], indent: str, *, start: bool
) -> tuple[list[str], list[str]]:
    """Declarations in which these arrays are allocatable arguments, and what allocates them.

    `start`: of the start, which has what an earlier call left freed.
    """
    statements: list[str] = []
    for variable in arrays:
        if not (start or variable.allocatable):
            continue
        found = without_entity(lines, variable.name)
        assert found is not None  # asked for before the routine is divided
        lines, kind, extents = found
        rank = ", ".join(":" for _ in variable.bounds)
        lines.append(f"{indent}{kind}, allocatable, intent(inout) :: {variable.name}({rank})")
        if start:
            statements.append(f"if (allocated({variable.name})) deallocate({variable.name})")
        if not variable.allocatable:
            statements.append(f"allocate({variable.name}({extents}))")
    return lines, statements


def without_entity(lines: list[str], name: str) -> tuple[list[str], str, str] | None:
    """Declarations without one array, and the texts of its type and of its extents.

    None where it is not declared on one line that says nothing else of it.
    """
    for number in range(len(lines)):
        match = plain_declaration(lines, number, fixed=False)
        if match is None or not match["head"]:
            continue
        entities = pieces(match["rest"])
        for entity in entities:
            found = re.fullmatch(r"(\w+)\s*(?:\((.*)\))?", entity, re.DOTALL)
            if found is None or found[1].lower() != name.lower():
                continue
            kind, *attributes = pieces(match["head"].partition("::")[0])
            shapes = [re.fullmatch(r"(?i)dimension\s*\((.*)\)", each) for each in attributes]
            known = [shape[1] for shape in shapes if shape is not None]
            extents = found[2] or "".join(known)
            other = [each for each in attributes if each.strip().lower() != "allocatable"]
            if len(known) < len(other) or not extents:
                return None
            rest = [each for each in entities if each is not entity]
            kept = [match["head"] + ", ".join(rest)] if rest else []
            return [*lines[:number], *kept, *lines[number + 1 :]], kind, extents
    return None
