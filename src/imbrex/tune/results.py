"""Whether a candidate's results are right: by a command of the user's, or equal to the baseline's.

Outputs are compared word by word. Words in which two runs of the baseline differ (times, dates)
may differ; a line that not every run of the baseline has decides nothing. Lines may come in any
order: what several ranks print does.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

_TIMEOUT_S = 600.0
_DIGITS = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?"
_NUMBER = re.compile(rf"(?:^|[=:(]){_DIGITS}[,;)%]*$")
_ANY_NUMBER = re.compile(rf"{_DIGITS}|[-+]?\b(?:nan|inf)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Difference:
    """The first word that differs: its line from 1 on, and the two words; line 0: a line or word
    that is missing wherever it is looked for."""

    line: int
    expected: str
    found: str

    def __str__(self) -> str:
        if not self.line:
            return f"its output has no {self.expected!r} where it had one"
        return f"line {self.line} of its output has {self.found!r}, not {self.expected!r}"


def difference(baselines: Sequence[str], output: str) -> Difference | None:
    """Where an output differs from what all baselines printed alike; None where it does not."""
    texts = [_words(text) for text in baselines]
    if not texts or len({len(lines) for lines in texts}) != 1:
        return None  # runs of the baseline differ in more than words
    mine = _words(output)
    missing = _missing(_alike(texts), mine)
    if missing is None:
        return None
    return _first_difference(texts, mine) or Difference(0, missing, "")


def _first_difference(texts: list[list[list[str]]], mine: list[list[str]]) -> Difference | None:
    """The first word that differs from all others at its place."""
    for number, lines in enumerate(zip(*texts, strict=True)):
        if len({len(line) for line in lines}) != 1:
            continue
        words = mine[number] if number < len(mine) else []
        for place, expected in enumerate(lines[0]):
            if any(line[place] != expected for line in lines):
                continue
            found = words[place] if place < len(words) else ""
            if found != expected:
                return Difference(number + 1, expected, found)
    return None


def comparable(baselines: Sequence[str]) -> bool:
    """Whether all runs of the baseline print some number alike, so that a wrong one would show."""
    texts = [_words(text) for text in baselines]
    if len(texts) < 2 or len({len(lines) for lines in texts}) != 1:
        return False
    alike = _alike(texts)
    groups = [*alike.lines, *alike.columns.values()]
    return any(_is_number(text) for group in groups for text in group)


Line = tuple[str, ...]
Column = tuple[Line, int]
"""A line without its numbers, and the place of a word in it."""


@dataclass(frozen=True)
class _Alike:
    """What all runs print, in whichever order: whole lines with how often, and of other lines that
    differ in their numbers alone the words of a column, sorted."""

    lines: Counter[Line]
    columns: dict[Column, tuple[str, ...]]


def _alike(texts: Sequence[list[list[str]]]) -> _Alike:
    counts = [Counter(map(tuple, lines)) for lines in texts]
    lines = reduce(and_, counts)
    columns = [_columns(count - lines) for count in counts]
    return _Alike(
        lines,
        {at: words for at, words in columns[0].items() if all(c.get(at) == words for c in columns)},
    )


def _columns(lines: Counter[Line]) -> dict[Column, tuple[str, ...]]:
    found: dict[Column, list[str]] = defaultdict(list)
    for line in lines.elements():
        shape = tuple(_ANY_NUMBER.sub("#", text) for text in line)
        for place, text in enumerate(line):
            found[shape, place].append(text)
    return {at: tuple(sorted(words)) for at, words in found.items()}


def _missing(alike: _Alike, mine: list[list[str]]) -> str | None:
    """What an output lacks of what the others have alike, wherever they have it; None: nothing."""
    count = Counter(map(tuple, mine))
    for line in alike.lines - count:
        return " ".join(line)
    columns = _columns(count - alike.lines)
    for at, words in alike.columns.items():
        if columns.get(at) != words:
            rest = Counter(words) - Counter(columns.get(at, ()))
            return next(iter(rest), words[0])
    return None


def checked_by(command: str, output: str) -> str | None:
    """Run the user's check with the output on its standard input; None where it is content."""
    try:
        done = subprocess.run(
            ["sh", "-c", command],
            input=output,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"--check did not end ({error})"
    if done.returncode == 0:
        return None
    last = done.stderr.strip().splitlines()[-1:]
    return f"--check ended with exit code {done.returncode}{f' ({last[0]})' if last else ''}"


def _is_number(text: str) -> bool:
    """Whether a result stands in a word: `3.14`, `value=3.6e-01`, `1.1e-15,`."""
    return bool(_NUMBER.search(text))


def _words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]
