"""What the condition of an IF says of integers: what is not below 0 where it holds."""

from __future__ import annotations

import re

from imbrex.transform.model.affine import Affine
from imbrex.transform.readers.fortran_names import Names
from imbrex.transform.readers.fortran_scopes import Scope

_COMPARED = re.compile(r"(.+?)(<=|>=|==|<|>|\.(?:le|ge|eq|lt|gt)\.)(.+)")
_OTHER = re.compile(r"\.(?:or|eqv|neqv|not)\.")
_SIGNS = {"<=": "le", ">=": "ge", "==": "eq", "<": "lt", ">": "gt"}


def not_negative(names: Names, scope: Scope, condition: str) -> tuple[Affine, ...]:
    """Of a condition in small letters, without blanks: comparisons that `.and.` joins."""
    if _OTHER.search(condition):
        return ()
    found: list[Affine] = []
    for part in condition.split(".and."):
        compared = _COMPARED.fullmatch(part)
        if compared is None:
            continue
        left, right = (names.affine(scope, side) for side in (compared[1], compared[3]))
        if left is None or right is None:
            continue
        sign = _SIGNS.get(compared[2], compared[2].strip("."))
        above, below = left.plus(right, -1), right.plus(left, -1)
        if sign in ("le", "eq"):
            found.append(below)
        if sign in ("ge", "eq"):
            found.append(above)
        if sign == "lt":
            found.append(below.plus(Affine(-1)))
        if sign == "gt":
            found.append(above.plus(Affine(-1)))
    return tuple(found)
