"""Whether a candidate's results are right: by a command of the user's, or equal to the baseline's.

Outputs are compared word by word. Words in which two runs of the baseline differ (times, dates)
may differ; a line that not every run of the baseline has decides nothing.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

_TIMEOUT_S = 600.0
_NUMBER = re.compile(r"(?:^|[=:(])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?[,;)%]*$")


@dataclass(frozen=True)
class Difference:
    """The first word that differs: its line from 1 on, and the two words."""

    line: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line} of its output has {self.found!r}, not {self.expected!r}"


def difference(baselines: Sequence[str], output: str) -> Difference | None:
    """Where an output differs from what all baselines printed alike; None where it does not."""
    texts = [_words(text) for text in baselines]
    if not texts or len({len(lines) for lines in texts}) != 1:
        return None  # runs of the baseline differ in more than words
    mine = _words(output)
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
    for lines in zip(*texts, strict=True):
        if len({len(line) for line in lines}) == 1 and any(
            _is_number(words[0]) and len(set(words)) == 1 for words in zip(*lines, strict=True)
        ):
            return True
    return False


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
