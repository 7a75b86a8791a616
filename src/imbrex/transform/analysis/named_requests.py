"""Whether the name of a request means one object over several statements."""

from __future__ import annotations

import re

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.handles import Handle
from imbrex.transform.analysis.request_arguments import request_argument
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Kind, Statement

_NAME = re.compile(r"[A-Za-z_]\w*")


def _is_array(variable: Variable | None, name: str) -> bool:
    """Whether a name is that of an array, which means the same memory whatever is in it."""
    if variable is None or variable.name != name or variable.pointer:
        return False
    return bool(variable.bounds) and variable.kind in ("local", "static", "global")


def stays(
    footprints: Footprints, routine: Routine, wait: Handle, statements: list[Statement]
) -> bool:
    """Whether the name of a wait's request means the same memory up to the last statement."""
    variables = footprints.program.variables
    names = set(_NAME.findall(wait.name)) - {"this"}
    data = footprints.program.files[routine.file].data
    for statement in statements[:-1]:
        text = data[statement.start : statement.end].decode(errors="replace")
        if statement.kind is Kind.DECLARE and names & set(_NAME.findall(text)):
            return False
    argument = request_argument(wait.call)
    changed = set(footprints.changed_by(statements, routine.file))
    if not argument.through:
        changed -= {argument.base or ""}
    # Of a list what changes is what it holds, wherever it is named.
    own = re.split(r"\.|::", wait.name)[-1]
    lists = footprints.program.request_vectors
    changed -= {key for key in changed & lists if variables[key].name == own}
    changed -= {key for key in changed if _is_array(variables.get(key), wait.name)}
    return not any(key in variables and variables[key].name in names for key in changed)
