"""Labels that only end a loop: `10 continue`, which one `do 10` names and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from imbrex.transform.readers.fortran_lines import LogicalLine

_DO = re.compile(r"(?:[a-z]\w*:)?do(\d+)")
# What else may name a label: jumps, also those of input and output and of a call.
_NAMES = re.compile(r"goto|assign|(?:err|end|eor)=|\)\d+,|[(,]\*\d")


def only_ends(lines: Iterable[LogicalLine]) -> frozenset[str]:
    """The labels, without leading zeros, of lines that are as good as an END DO."""
    continued: set[str] = set()
    heads: Counter[str] = Counter()
    named: set[str] = set()
    for line in lines:
        if line.label and line.masked in ("continue", "enddo") and line.alone:
            continued.add(line.label.lstrip("0"))
        head = _DO.match(line.masked)
        if head is not None:
            heads[head[1].lstrip("0")] += 1
        elif _NAMES.search(line.masked):
            named |= {number.lstrip("0") for number in re.findall(r"\d+", line.masked)}
    return frozenset(label for label in continued - named if heads[label] == 1)
