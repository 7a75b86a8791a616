"""OpenMP's `parallel do` and hints of compilers in Fortran: the loop that stands behind them.

What the directives say of the loop leaves its meaning as it is written; so they belong to the
statement, as `#pragma omp parallel for` does in C.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from imbrex.transform.model.statements import Statement
from imbrex.transform.readers.fortran_lines import LogicalLine

_BEGIN = re.compile(r"[!c*]\$omp\s+(?:parallel\s*do(?:\s*simd)?|simd)\b", re.IGNORECASE)
_END = re.compile(r"[!c*]\$omp\s+end\s*(?:parallel\s*do(?:\s*simd)?|simd)\b", re.IGNORECASE)
_HINT = re.compile(
    r"[!c*](?:dir|dec|gcc)\$\s*(?:ivdep|simd|(?:no)?(?:unroll|vector|prefetch))\b", re.IGNORECASE
)
_MORE_FIXED = re.compile(r"[!c*]\$omp[^\s0]", re.IGNORECASE)
_MORE_FREE = re.compile(r"!\$omp\b", re.IGNORECASE)
_DO = re.compile(r"(?:[a-z]\w*:)?do(?:\d+,?)?[a-z]\w*=")


def loop_behind(lines: Sequence[LogicalLine], position: int) -> int | None:
    """The position of the loop that the directive before `position` begins; None if none is."""
    first = lines[position - 1]
    if not (_BEGIN.match(first.directive) or _HINT.match(first.directive)):
        return None
    before = first
    while position < len(lines):
        line = lines[position]
        if not line.directive:
            return position if _DO.match(line.masked) and line.alone else None
        continues = before.directive.rstrip().endswith("&") and _MORE_FREE.match(line.directive)
        further = _HINT.match(line.directive) or _MORE_FIXED.match(line.directive)
        if not continues and not further:
            return None
        before, position = line, position + 1
    return None


def with_directives(
    loop: Statement, first: LogicalLine, lines: Sequence[LogicalLine], position: int
) -> int:
    """Have the loop begin at its directive, and end at that of its end; the position behind it."""
    loop.start = first.start
    if position < len(lines) and _END.match(lines[position].directive):
        loop.end, loop.end_line = lines[position].end, lines[position].end_line
        position += 1
    return position
