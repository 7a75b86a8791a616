"""Functions of Fortran that say what an object holds: `rows = self%ny`.

A reference to one, `g%rows()`, is as good as the component where nothing but this is done, so that
sizes are known which a program asks for in this way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from imbrex.transform.model.affine import Affine
from imbrex.transform.readers.fortran_lines import split_arguments
from imbrex.transform.readers.fortran_scopes import Scope

if TYPE_CHECKING:
    from imbrex.transform.readers.fortran_names import Names

_OBJECT = re.compile(r"[a-z_]\w*(?:%[a-z_]\w*)*")
_TERM = re.compile(r"([a-z_]\w*)(?=%)|(?<=%)[a-z_]\w*|[%+*()-]|\d+")


def value_of(names: Names, scope: Scope, name: str, arguments: str) -> Affine | None:
    """The integer that a reference in a scope stands for; None where that is not known."""
    function = names.bindings.procedures.get(names.procedure(scope, name))
    if function is None or function.kind != "function" or len(function.body) != 1:
        return None
    if names.find(scope, name) is not None or names.specifics(scope, name):
        return None
    result = names.variable(function, function.result)
    if result is None or result.bounds or not result.element.startswith("integer"):
        return None
    if function.problem is not None or function.hidden is not None:
        return None
    given = [arguments[a:b] for a, b in split_arguments(arguments)]
    if len(given) != len(function.dummies) or not all(map(_OBJECT.fullmatch, given)):
        return None
    target, equals, expression = function.body[0].masked.partition("=")
    if target != function.result or not equals:
        return None
    actual = dict(zip(function.dummies, given, strict=True))
    found = []
    at = 0
    while at < len(expression):
        term = _TERM.match(expression, at)
        if term is None or (term[1] is not None and term[1] not in actual):
            return None
        found.append(actual[term[1]] if term[1] is not None else term[0])
        at = term.end()
    return names.affine(scope, "".join(found))
