"""Scalars that the statements of a loop of Fortran reduce values into, as their text says.

Of integers and logical values the outcome is the same in each order. Sums of floating-point numbers
are rounded in the order of the iterations; which of two zeros, or of a number and a NaN, `max`
takes may depend on it. `if (abs(x) > m) m = abs(x)` takes no NaN, and no zero with a sign.
"""

from __future__ import annotations

import re

from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Kind, Program, Statement
from imbrex.transform.model.reduction import Reduction
from imbrex.transform.model.sources import Language, SourceFile

_EXACT = ("integer", "logical")
_FLOATING = ("real", "double")
_INTRINSIC = {"max", "min", "abs", "dabs"}
_CONTINUED = re.compile(r"&[ \t]*\n[ \t]*&?")
_COMMENT = re.compile(r"![^\n]*")


def reductions_of_fortran(
    program: Program, footprints: Footprints, source: SourceFile, body: list[Statement], file: str
) -> dict[str, Reduction]:
    """The scalars that the statements of a loop's body reduce into, and use in no other way."""
    found: dict[str, Reduction] = {}
    spoilt: set[str] = set()
    for statement in body:
        accesses = footprints.of(statement, file).accesses
        written = {a.variable for a in accesses if a.write}
        keys = {a.variable for a in accesses}
        names = {program.variables[k].name.lower() for k in keys if k in program.variables}
        if names & _INTRINSIC:  # an array of that name
            return {}
        for key in keys:
            variable = program.variables.get(key)
            mine = None
            if key in written and variable is not None and _is_plain(variable):
                element = variable.element.lower()
                mine = _of(source, statement, variable.name.lower(), element)
            if mine is None or found.setdefault(key, mine) != mine:
                spoilt.add(key)
    overlaid = program.overlays.keys() | footprints.addressed
    return {k: each for k, each in found.items() if k not in spoilt and k not in overlaid}


def _is_plain(variable: Variable) -> bool:
    """Whether a variable is a scalar, there for certain, that nothing else changes."""
    return not (
        variable.bounds
        or variable.volatile
        or variable.pointer
        or variable.optional
        or variable.allocatable
        or variable.kind == "field"
    )


def _of(source: SourceFile, statement: Statement, name: str, element: str) -> Reduction | None:
    """What a statement reduces into the scalar of a name, if that is all it does with it."""
    if not element.startswith(_EXACT + _FLOATING):
        return None
    if any(inner.stop or inner.calls for inner in statement.walk()):
        return None
    text = _plain(source, statement)
    if text is None:
        return None
    exact = element.startswith(_EXACT)
    scalar = rf"(?<![\w%]){re.escape(name)}(?![\w%(])"
    if statement.kind is Kind.IF:
        return _chosen(text, scalar, exact)
    if statement.kind is not Kind.SIMPLE or len(re.findall(scalar, text)) != 2:
        return None
    sides = re.fullmatch(rf"{scalar}=(.+)", text)
    if sides is None:
        return None
    value = sides[1]
    inside = re.fullmatch(rf"(?:max|min)\((?:{scalar},(.+)|(.+),{scalar})\)", value)
    if inside is not None and _balanced(inside[1] or inside[2]):
        return Reduction(f"extreme {value[:3]}", exact)
    if element.startswith("logical"):
        joined = re.fullmatch(rf"{scalar}(\.or\.|\.and\.)(.+)", value)
        other = {".or.": r"\.n?eqv\.", ".and.": r"\.n?eqv\.|\.or\."}
        if joined is None or re.search(other[joined[1]], joined[2]):
            return None
        return Reduction(f"logical {joined[1]}", True)
    added = re.fullmatch(rf"{scalar}[+-](.+)", value) or re.fullmatch(rf"(.+)\+{scalar}", value)
    if added is not None and _balanced(added[1]) and not re.search(r"[<>=]|//|\.[a-z]+\.", value):
        return Reduction("sum", exact)
    return None


def _chosen(text: str, scalar: str, exact: bool) -> Reduction | None:
    """`if (x > m) m = x`: what is compared, with its sign or without."""
    form = re.fullmatch(rf"if\((.+)\)(?:then;+)?({scalar})=([^;]+)(?:;+endif)?", text)
    if form is None or len(re.findall(scalar, text)) != 2:
        return None
    value = re.escape(form[3])
    larger = rf"{value}(?:>|\.gt\.){scalar}|{scalar}(?:<|\.lt\.){value}"
    smaller = rf"{value}(?:<|\.lt\.){scalar}|{scalar}(?:>|\.gt\.){value}"
    size = re.fullmatch(r"d?abs\((.+)\)", form[3])
    without_sign = size is not None and _balanced(size[1])
    for side, pattern in (("max", larger), ("min", smaller)):
        if re.fullmatch(pattern, form[1]):
            return Reduction(f"chosen {side}", exact or without_sign)
    return None


def _plain(source: SourceFile, statement: Statement) -> str | None:
    """The text in one line, without blanks, in small letters, `;` for a new line.

    None where it holds strings.
    """
    text = source.data[statement.start : statement.end].decode("latin-1").lower()
    if any(mark in text for mark in "'\"#\t"):
        return None
    if source.language is Language.FORTRAN_FIXED:
        text = _joined(text)
    else:
        text = _CONTINUED.sub("", _COMMENT.sub("", text))
    return re.sub(r"\s+", "", text.strip().replace("\n", ";"))


def _joined(text: str) -> str:
    """Fixed form without comments, each line behind the one that it continues."""
    first, *rest = text.split("\n")
    found = first.partition("!")[0]
    for line in rest:
        if line[:1] in ("c", "*", "!"):
            continue
        continued = len(line) > 5 and not line[:5].strip() and line[5] not in " 0"
        found += line[6:].partition("!")[0] if continued else "\n" + line.partition("!")[0]
    return found


def _balanced(text: str) -> bool:
    """Whether each parenthesis of a text is closed in it, and none of its commas stands open."""
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0 or (letter == "," and not depth):
            return False
    return depth == 0
