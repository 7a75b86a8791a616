"""Words of a program's output that tell how long something took, not what it computed.

A time of few digits may be the same in all runs of a program and another in the next one: `0.001 s`
has but one digit, and a wall time of `0:00:03` none below the second. What a program prints beside
it says that it is one: a unit of time and a label, a label that means nothing else (`CPU`,
`elapsed`), a rate, a clock, or the head of its column. A number of more digits that all runs print
alike is a result, whatever stands beside it, and so is one that may be a time of the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

TIME = "<time>"
"""Stands for each such word."""
MOST_DIGITS = 3
"""So many digits, without leading zeros, a time may have that is the same in all runs by chance."""

_END = r"[,;:.)\]|]*"
_CLOCK = re.compile(rf"[(\[]*\d+:[0-5]\d:[0-5]\d(?:\.\d+)?{_END}")
_MINUTES = re.compile(rf"[(\[]*\d{{1,2}}:[0-5]\d{_END}")
_NUMBER = re.compile(rf"(\D*?)(\d+\.?\d*|\.\d+)((?:[eE][-+]?\d+)?)(%?[a-zA-Zµ]*){_END}")
_SECONDS = r"(?:s|secs?|seconds?|[mµun]s|[mun]secs?|(?:milli|micro|nano)seconds?|mins?|minutes?)"
_UNIT = re.compile(rf"[(\[/]*{_SECONDS}{_END}", re.IGNORECASE)
_RATE = re.compile(
    r"[(\[]*(?:[kmgt]?(?:flops?|i?bytes|i?b)(?:/s|/sec|ps)|[kmgt]?flops|(?:time)?steps/s(?:ec)?)"
    rf"{_END}",
    re.IGNORECASE,
)
_TIME = r"(?<![a-z])times?(?![a-z])"
_LABEL = re.compile(rf"{_TIME}|cpu|elapsed|run-?time|timings?|timer|took|takes", re.IGNORECASE)
"""What a number with a unit of time needs somewhere before it."""
_SURE = re.compile(
    r"(?:cpu(?:[ _-]?times?)?|wall[ _-]?(?:clock[ _-]?)?times?|wall[ _-]?clock"
    rf"|elapsed(?:[ _-]?times?)?|run-?times?|{_TIME}\W+(?:in\W+)?{_SECONDS})"
    r"\W*(?:(?:is|was|of|total)\W*)*$",
    re.IGNORECASE,
)
"""What a number without a unit needs right before it."""
_OF_MODEL = re.compile(
    r"final|simulat|physical|model|time[ _-]?step(?!s)|decay|half|relax|period|delay|lag|arriv"
    r"|travel|flight|life",
    re.IGNORECASE,
)
"""What makes a time one that was computed."""
_DATE = re.compile(r"date|time|start|begin|began|end|finish|at|on|(19|20)\d\d", re.IGNORECASE)
_HEAD = re.compile(
    r"cpu|wall[ _-]?(?:clock|time)|elapsed|(?:min|max|avg|ave|average|mean|total)\W*times?"
    rf"|{_TIME}\W*[(\[]\W*{_SECONDS}\b",
    re.IGNORECASE,
)
"""What stands above a column of times."""


def without_times(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """The words of an output's lines with TIME in place of each time of few digits."""
    head: list[str] = []
    found = []
    for line in lines:
        text = " ".join(line)
        if not any(map(str.isdigit, text)) and any(map(str.isalpha, text)):
            head = _cells(line)
        found.append(
            [
                TIME if _is_time(line, place) or _is_in_column(line, place, head) else token
                for place, token in enumerate(line)
            ]
        )
    return found


def has_few_digits(token: str) -> bool:
    """Whether a word is a number that may be the same in several runs by chance."""
    return _few_digits(token) is not None


def _is_time(line: Sequence[str], place: int) -> bool:
    token = line[place]
    if not any(map(str.isdigit, token)):
        return False
    if _CLOCK.fullmatch(token):
        return True
    if _MINUTES.fullmatch(token):
        return any(_DATE.match(other) for other in (*line[:place], *line[place + 1 :]))
    number = _few_digits(token)
    if number is None:
        return False
    before, unit = number
    following = line[place + 1 : place + 2]
    if unit == "%" or following == ["%"]:  # `16.5% CPU use`
        return "cpu" in (text.lower() for text in line[place + 1 : place + 3])
    if any(_RATE.fullmatch(text) for text in (unit, *following)):
        return True
    label = " ".join((*line[:place], before)).strip()
    if _OF_MODEL.search(label):
        return False
    if any(_UNIT.fullmatch(text) for text in (unit, *following)):
        return bool(_LABEL.search(label) or re.search(r"\b(?:in|after)$", label, re.IGNORECASE))
    return not unit and bool(_SURE.search(label))


def _is_in_column(line: Sequence[str], place: int, head: Sequence[str]) -> bool:
    """Whether a number stands below the head of a column of times, or of their percentages."""
    if not has_few_digits(line[place]) or not any(map(_HEAD.search, head)):
        return False
    if len(_cells(line)) != len(head):
        return False
    cell = head[" ".join(line[:place]).count("|") if "|" in " ".join(line) else place]
    return bool(_HEAD.search(cell)) or cell.startswith("%")


def _cells(line: Sequence[str]) -> list[str]:
    """The cells of a row: between bars where it has some, else its words."""
    text = " ".join(line)
    return [cell.strip() for cell in text.split("|")] if "|" in text else list(line)


def _few_digits(token: str) -> tuple[str, str] | None:
    """What stands before a number of few digits in a word, and the unit behind it."""
    found = _NUMBER.fullmatch(token)
    if found is None or found[1].endswith(("-", "+")):
        return None
    digits = found[2].replace(".", "").lstrip("0")
    return (found[1], found[4]) if len(digits) <= MOST_DIGITS else None
