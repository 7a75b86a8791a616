"""Names of IF and SELECT constructs of Fortran, which say nothing where no statement uses them.

A line that begins or ends such a construct, or one of its branches, is read without the name.
"""

from __future__ import annotations

import re

from imbrex.transform.readers.fortran_lines import LogicalLine, closing
from imbrex.transform.readers.fortran_scopes import is_assignment

_BEGINS = re.compile(r"([a-z]\w*):(?=if\(|select(?:case|type|rank)\()")
_HEADS = re.compile(r"(?:elseif|case|typeis|classis)(?=\()|endif|endselect|else|casedefault")


def without_names(lines: list[LogicalLine]) -> list[LogicalLine]:
    """The lines, those of named conditionals without the names, at the same places of the file."""
    names = {match[1] for line in lines if (match := _begins(line)) is not None}
    left = [line.masked for line in lines if "exit" in line.masked or "cycle" in line.masked]
    names = {name for name in names if not any(_leaves(text, name) for text in left)}
    return [_plain(line, names) for line in lines] if names else lines


def _leaves(text: str, name: str) -> bool:
    """Whether a statement, also one on a condition, leaves a construct by its name."""
    return re.search(rf"(?:^|\)|;)(?:exit|cycle){name}$", text) is not None


def _begins(line: LogicalLine) -> re.Match[str] | None:
    if line.directive or is_assignment(line.masked):
        return None
    return _BEGINS.match(line.masked)


def _plain(line: LogicalLine, names: set[str]) -> LogicalLine:
    match = _begins(line)
    if match is not None and match[1] in names:
        places = [line.bytes[0], *line.bytes[match.end() + 1 :]]
        return line.rewritten(line.text[match.end() :], places, line.bound)
    stop = _before_name(line)
    if stop is not None and line.masked[stop:] in names:
        return line.rewritten(line.text[:stop], line.bytes[:stop], line.bound)
    return line


def _before_name(line: LogicalLine) -> int | None:
    """How much of a line that ends or divides a conditional stands in front of its name."""
    text = line.masked
    head = None if line.directive or is_assignment(text) else _HEADS.match(text)
    if head is None:
        return None
    if text[head.end() : head.end() + 1] != "(":
        return head.end()
    stop = closing(text, head.end()) + 1
    return stop + len("then") if text.startswith("then", stop) else stop
