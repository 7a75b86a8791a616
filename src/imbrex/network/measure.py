"""Run the probes under the user's launcher, with progress, a time limit and no orphans."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import IO

from imbrex.errors import ImbrexError
from imbrex.network.columns import Measurement, read_columns
from imbrex.network.ending import Ending
from imbrex.network.experiments import calibration
from imbrex.process_group import end_group
from imbrex.steps import Tell

PROGRAM = "imbrex-probes"

_GRACE_S = 5.0
# What launchers write before each line where asked to say whose it is: `[1,0]<stdout>:` and a time
# (Open MPI's --tag-output, --timestamp-output; with a blank or without), `[0] ` (-l of Hydra),
# `0: ` (-l of srun). All but the last also stand within a line, where a block of output begins.
_LABEL = re.compile(
    r"^.{0,200}?<stdout>:|^ *\d+: |\[\d+\] "
    r"|(?:\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})?(?:\[[^\]\s]*\])?<stdout>:"
)


def run_probes(
    command: Sequence[str],
    environment: Mapping[str, str],
    time_limit_s: float,
    progress: Tell | None = None,
    shares: Mapping[str, float] | None = None,
) -> Measurement:
    """Run `command` (launcher and probes) and read its rows.

    `progress` hears the share that is done and which experiment of how many runs. `shares` says how
    much of the whole each one takes, about, for that alone; those of a calibration unless told
    otherwise. When the time limit passes, or the user interrupts, the
    launcher is asked to end, then killed; what had been measured until then is returned with
    `complete` false. ImbrexError when nothing could be measured.
    """
    lines: list[str] = []
    shares = calibration() if shares is None else shares
    with tempfile.TemporaryFile(mode="w+", errors="replace") as errors, Ending() as ending:
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            raise ImbrexError(f"cannot start {command[0]}: {error.strerror}") from None
        in_time, interrupted = True, False
        try:
            ending.started()
            in_time = _follow(process, lines, time.monotonic() + time_limit_s, progress, shares)
        except KeyboardInterrupt:
            # What there is by now is worth keeping; without any of it the interrupt goes on.
            if not lines:
                raise
            interrupted = True
        finally:
            # Ranks in sessions of their own end by themselves: each has set an alarm.
            end_group(process, _GRACE_S)
            if process.stdout is not None:
                process.stdout.close()
        errors.seek(0)
        complaint = _first_complaint(errors)
    measured = read_columns(lines)
    measured.interrupted = interrupted and not measured.complete
    if not measured.complete and not measured.round_trips and not measured.other:
        if interrupted:
            raise KeyboardInterrupt
        if not in_time:
            raise ImbrexError(
                f"the launcher gave no result within {time_limit_s:.0f} s and was ended; "
                f"does `{' '.join(_launcher(command))} hostname` work?"
            )
        raise ImbrexError(
            f"{command[0]} ended with code {process.returncode} before anything was measured"
            + (f": {complaint}" if complaint else "")
        )
    return measured


def _launcher(command: Sequence[str]) -> Sequence[str]:
    """The words of a launcher's line before its first program."""
    programs = (i for i, argument in enumerate(command) if argument.rpartition("/")[2] == PROGRAM)
    return command[: next(programs, len(command))]


def _without_labels(line: str, blank: bool) -> str:
    """`blank`: this launcher writes one behind its labels, which is not the row's own."""
    return _LABEL.sub("", line.replace("<stdout>: ", "<stdout>:") if blank else line)


def _follow(
    process: subprocess.Popen[bytes],
    lines: list[str],
    end: float,
    progress: Tell | None,
    shares: Mapping[str, float],
) -> bool:
    """Collect lines until the process closes its output; False when the time is over first."""
    assert process.stdout is not None
    rest, blank = b"", False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = end - time.monotonic()
            if left <= 0:
                return False
            if not selector.select(min(left, 1.0)):
                if process.poll() is not None:
                    return True
                continue
            block = os.read(process.stdout.fileno(), 65536)
            if not block:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=max(0.1, min(left, _GRACE_S)))
                return True
            *whole, rest = (rest + block).split(b"\n")
            for raw in whole:
                labelled = raw.decode(errors="replace")
                blank = blank or "<stdout>: #" in labelled
                line = _without_labels(labelled, blank)
                lines.append(line + "\n")
                if line.startswith("# end"):
                    # The ranks may linger in MPI_Finalize; they print no more.
                    end = min(end, time.monotonic() + _GRACE_S)
                if line.startswith("# progress "):
                    _report(line, progress, shares)


def _report(line: str, progress: Tell | None, shares: Mapping[str, float]) -> None:
    words = line.split()
    if progress is None or len(words) != 4 or words[2] not in shares:
        return
    names = list(shares)
    place = names.index(words[2])
    before = sum(shares[name] for name in names[:place])
    part = f"{words[2]} ({place + 1} of {len(names)})"
    with contextlib.suppress(ValueError):
        progress(min(1.0, before + shares[words[2]] * float(words[3])), part)


def _first_complaint(errors: IO[str]) -> str:
    for line in errors:
        text = line.strip(" -*\n")
        if text:
            return text[:200]
    return ""
