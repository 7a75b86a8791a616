"""Statements of C that take the value of one call: a part of it may run in front of them."""

from __future__ import annotations

import re

from imbrex.transform.model.program import Call, Kind, Program, Routine, Statement
from imbrex.transform.model.sources import Language

# Up to the call: a declaration or an assignment without further effects, or `return`.
_HEAD = re.compile(r"(?:return\b[^=]*|[\w\s:.*&<>\[\]-]*?[\w\]]\s*[-+*/]?=[^=]*)", re.DOTALL)
_TAIL = re.compile(r"(?:\s*[-+*/]\s*[\w.]+)*(?:\s*,\s*\w+)*\s*;")
_EFFECT = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")


def value_is_taken(program: Program, routine: Routine, statement: Statement, call: Call) -> bool:
    """Whether a statement calls once, in each case, and nothing in it has effects for the call."""
    source = program.files.get(routine.file)
    if source is None or source.language is not Language.C or call.macro:
        return False
    if statement.kind not in (Kind.SIMPLE, Kind.DECLARE, Kind.JUMP) or call.unknown:
        return False
    start, end = statement.code_start, statement.end
    if not start <= call.start < call.end <= end:
        return False
    head, own, tail = (
        source.data[first:last].decode(errors="replace")
        for first, last in ((start, call.start), (call.start, call.end), (call.end, end))
    )
    if any(mark in head for mark in ("++", "--", "?", "&&", "||", "(", ",", '"', "'")):
        return False
    return bool(_HEAD.fullmatch(head) and _TAIL.fullmatch(tail)) and not _EFFECT.search(own)
