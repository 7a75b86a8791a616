"""Whether a candidate's results are right: by a command of the user's, or equal to the baseline's.

Outputs are compared word by word. Words in which two runs of the baseline differ (times, dates)
may differ, and times of few digits, which may be alike by chance; but what differs between runs of
the baseline in its last digits alone may not differ more. A line that not every run of the baseline
has decides nothing. Lines may come in any order: what several ranks print does.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import and_

from imbrex.tune.times_in_output import TIME, has_few_digits, without_times

LAST_DIGITS = 1e-6
"""Numbers that differ between runs of the baseline by less than this share of themselves are
results whose last digits depend on the order of sums, which no time is known to."""
FARTHER = 10.0
"""So many times as far a candidate's may be."""
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
    *texts, mine = _levelled(baselines, output)
    if not texts or len({len(lines) for lines in texts}) != 1:
        return None  # runs of the baseline differ in more than words
    missing = _missing(_alike(texts), mine)
    if missing is not None:
        return _first_difference(texts, mine) or Difference(0, missing, "")
    return _too_far(texts, mine)


def may_be_chance(found: Difference) -> bool:
    """Whether more runs of the baseline may show that the word differs between them too."""
    return has_few_digits(found.expected) and has_few_digits(found.found)


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
    *texts, _ = _levelled(baselines, "")
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
        shape = _shape(line)
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


def _too_far(texts: Sequence[list[list[str]]], mine: list[list[str]]) -> Difference | None:
    """A number that differs more from all baselines than they do from one another, where these
    differ in the last digits alone, or that is none where they have some."""
    known = [_columns(Counter(map(tuple, lines))) for lines in texts]
    found = _columns(Counter(map(tuple, mine)))
    for at, words in known[0].items():
        columns = [numbers(column.get(at, ())) for column in known]
        if any(len(column) != len(words) for column in columns):
            continue  # no numbers, or not in all of them
        here = numbers(found.get(at, ()))
        if len(here) != len(words):
            return Difference(0, words[0], "")
        ends = [(min(values), max(values)) for values in zip(*columns, strict=True)]
        spread = max(_apart(low, high) for low, high in ends)
        for (low, high), value in zip(ends, here, strict=True):
            if not math.isfinite(value) and math.isfinite(low) and math.isfinite(high):
                return Difference(0, repr(low), repr(value))
            off = _apart(min(low, value), max(high, value))
            if 0 < spread <= LAST_DIGITS and off > FARTHER * spread:
                return Difference(0, repr(low), repr(value))
    return None


def _apart(low: float, high: float) -> float:
    """The difference of two numbers as a share of the larger."""
    if low == high or math.isnan(low) or math.isnan(high):
        return 0.0
    return (high - low) / max(abs(low), abs(high))


def numbers(words: Sequence[str]) -> list[float]:
    """The numbers of words that hold one each, in ascending order; else none."""
    found = [_ANY_NUMBER.findall(text) for text in words]
    if any(len(texts) != 1 for texts in found):
        return []
    return sorted(float(texts[0].lower().replace("d", "e")) for texts in found)


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


def _levelled(baselines: Sequence[str], output: str) -> list[list[list[str]]]:
    """The words of each line of the outputs, without times of few digits.

    The same time has three digits in one run and four in another, 0.984 and 1.032 s: a word that
    its line tells to be a time in some run of the baseline is one in all outputs, and what is taken
    for a time in none of them stays a number in this one.
    """
    sure: set[Column] = set()
    some: set[Column] = set()
    shapes: set[Line] = set()
    for text in baselines:
        for shape, _, told, alone in _words(text):
            shapes.add(shape)
            some |= {(shape, place) for place, token in enumerate(told) if token == TIME}
            sure |= {(shape, place) for place, token in enumerate(alone) if token == TIME}
    found = []
    for number, text in enumerate((*baselines, output)):
        is_mine = number == len(baselines)
        lines = []
        for shape, line, told, _ in _words(text):
            words = list(told)
            for place, token in enumerate(line) if shape in shapes else ():
                at = (shape, place)
                if at in sure:
                    words[place] = TIME
                elif is_mine and at not in some:
                    words[place] = token
            lines.append(words)
        found.append(lines)
    return found


@lru_cache(maxsize=64)
def _words(text: str) -> list[tuple[Line, list[str], list[str], list[str]]]:
    """Of each line its shape, its words, these without times, and without those that the line alone
    tells to be times; read, never changed."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    alone = [without_times([line])[0] for line in lines]
    return list(zip(map(_shape, lines), lines, without_times(lines), alone, strict=True))


def _shape(line: Sequence[str]) -> Line:
    return tuple(_ANY_NUMBER.sub("#", text) for text in line)
