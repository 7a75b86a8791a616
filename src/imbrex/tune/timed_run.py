"""One run of a launcher line, and how long it took."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from imbrex.errors import ImbrexError
from imbrex.launch.disturbance import busy_before, counts, disturbance
from imbrex.process_group import end_group

MOST_OUTPUT_BYTES = 1 << 20
"""What is kept of a run's output."""
_GRACE_S = 10.0
_LISTENED_S = 0.3
"""How long the machine is listened to before a run."""
_RULE = re.compile(r"\s*[-=]{20,}\s*")
"""What launchers print above and below their own messages."""
_TOLD = 300
"""Characters of a line of a program or a build that a message shows."""


@dataclass(frozen=True)
class Line:
    """A launcher line as the user wrote it, what is added to the environment, and its name.

    `time_from`: a regular expression with one group whose last match in the output is the time in
    s; None: the wall time of the line. `limit_s`: when a run of it is ended; None: never.
    """

    name: str
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    time_from: re.Pattern[str] | None = None
    limit_s: float | None = None


class HangError(ImbrexError):
    """A run was not over after the time that it had, and was ended."""


@dataclass(frozen=True)
class TimedRun:
    """How long a run took (s), what disturbed it, in words, or None, and what it printed."""

    seconds: float
    disturbed: str | None = None
    output: str = ""


def run_timed(line: Line) -> TimedRun:
    """Run a line to its end; its output goes nowhere.

    ImbrexError where it cannot be started, fails, or does not print its time; HangError where it
    is not over in time.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        idle = counts(time.monotonic())
        time.sleep(_LISTENED_S)
        before = counts(time.monotonic())
        code = _run(line, output.fileno(), errors.fileno())
        after = counts(time.monotonic())
        if code != 0:
            raise ImbrexError(_failed(line, code, _told(_text(errors.fileno()))))
        seconds = after.wall_s - before.wall_s
        if line.time_from is not None:
            seconds = _printed(line, line.time_from, output.fileno())
        printed = _text(output.fileno(), MOST_OUTPUT_BYTES)
    return TimedRun(seconds, disturbance(before, after, busy_before(idle, before)), printed)


def _run(line: Line, output: int, errors: int) -> int:
    """The exit code; an interrupt ends the line before it goes on."""
    try:
        process = subprocess.Popen(
            line.words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, **line.environment},
            start_new_session=True,
        )
    except OSError as error:
        raise ImbrexError(
            f"line {line.name}: {line.words[0]}: cannot be started ({error.strerror})"
        ) from error
    try:
        with _limited(process, line.limit_s) as hung:
            code = process.wait()
    except BaseException:
        end_group(process, _GRACE_S)
        raise
    if hung.is_set():
        raise HangError(
            f"line {line.name} was not over after {line.limit_s:.0f} s and was ended: "
            "nothing is compared"
        )
    return code


@contextmanager
def _limited(process: subprocess.Popen[bytes], limit_s: float | None) -> Iterator[threading.Event]:
    """End a process after its time, which the event tells. A wait with a time limit would look for
    its end 20 times a second only, and times would have a grain of 50 ms."""
    hung = threading.Event()

    def end() -> None:
        hung.set()
        end_group(process, _GRACE_S)

    timer = threading.Timer(limit_s or 0.0, end)
    if limit_s is not None:
        timer.start()
    try:
        yield hung
    finally:
        timer.cancel()
        if limit_s is not None:
            timer.join()


def _failed(line: Line, code: int, last: str) -> str:
    how = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    return f"line {line.name} {how}: nothing is compared{f' ({last})' if last else ''}"


def _told(errors: str) -> str:
    """What a program said last before its launcher told of it between rules; else what that says
    first."""
    lines = [line for line in errors.splitlines() if line.strip()]
    rule = next((number for number, line in enumerate(lines) if _RULE.fullmatch(line)), len(lines))
    said = lines[:rule][-1:] or [line for line in lines if not _RULE.fullmatch(line)][:1]
    return shown_line(said[0]) if said else ""


def _printed(line: Line, pattern: re.Pattern[str], file: int) -> float:
    found = [match for match in pattern.finditer(_text(file)) if match[1] is not None]
    try:
        seconds = float(found[-1][1])
    except (IndexError, ValueError):
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise ImbrexError(
            f"line {line.name}: its output has no time that --time-from {pattern.pattern} finds"
        )
    return seconds


def shown_line(line: str) -> str:
    """A line that somebody else printed, as part of a message of one line."""
    return "".join(c if c.isprintable() else " " for c in line.strip()[:_TOLD])


def _text(file: int, most_bytes: int = -1) -> str:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(os.dup(file), "rb") as stream:
        return stream.read(most_bytes).decode("utf-8", "replace")


def time_pattern(text: str) -> re.Pattern[str]:
    """The expression of --time-from; ImbrexError where it is none, or has not one group."""
    try:
        pattern = re.compile(text, re.MULTILINE)
    except re.error as error:
        raise ImbrexError(f"--time-from {text}: no regular expression ({error})") from error
    if pattern.groups != 1:
        raise ImbrexError(f"--time-from {text}: put the number in one pair of parentheses")
    return pattern
