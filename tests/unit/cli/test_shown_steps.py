"""Long steps: one line for each where there is no terminal, a bar that goes where there is one."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time

import pytest

from imbrex.cli import shown_steps as shown
from imbrex.cli.shown_steps import shown_steps
from imbrex.steps import heard_by, step


def test_nobody_has_to_listen() -> None:
    with step("anything") as tell:
        tell(0.5)


def test_who_listens_hears_what_and_how_far() -> None:
    heard: list[object] = []

    class Listener:
        def __init__(self, activity: str, duration: str) -> None:
            heard.append(activity + duration)

        def __enter__(self) -> object:
            return heard.append

        def __exit__(self, *error: object) -> None:
            heard.append("done")

    with (
        heard_by(Listener),  # type: ignore[arg-type]
        step("outer") as tell,
        step("inner") as tell_inner,
    ):
        tell_inner(1.0)
        tell(0.5)
    with step("unheard", "a minute") as tell:
        tell(0.1)
    assert heard == ["outer", "inner", 1.0, 0.5, "done", "done"]


def test_a_line_for_each_step_that_lasts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "PATIENCE_S", 0.02)
    with shown_steps():
        with step("building the runtime", "half a minute"):
            time.sleep(0.2)
        monkeypatch.setattr(shown, "PATIENCE_S", 60.0)
        with step("reading"):
            pass
    with shown_steps(quiet=True), step("quiet"):
        pass
    out, err = capsys.readouterr()
    assert (out, err) == ("", "imbrex: building the runtime (half a minute) ...\n")


def test_parts_of_a_step_have_lines_that_keep_their_distance(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The clock is ours: 4 s and a tenth of the step lie between two lines, at least."""
    now_s = [100.0]
    monkeypatch.setattr(shown.time, "monotonic", lambda: now_s[0])
    told = (
        (2.0, 0.2),  # too soon
        (5.0, 0.25),  # told: 5 s for a quarter, so 15 s are left
        (8.0, 0.5),  # too soon after that
        (20.0, 0.3),  # less than a tenth more
        (30.0, 0.75),  # told: 30 s for three quarters, so 10 s are left
        (40.0, 1.0),  # told: nothing is left
    )
    with shown_steps(), step("calibrating") as tell:
        for since_s, share in told:
            now_s[0] = 100.0 + since_s
            tell(share, f"pingpong at {since_s:.0f}")
    assert capsys.readouterr().err.splitlines() == [
        "imbrex: 25 %: pingpong at 5, about 15 s left",
        "imbrex: 75 %: pingpong at 30, about 10 s left",
        "imbrex: 100 %: pingpong at 40",
    ]


def test_shares_without_parts_have_no_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "PACE_S", 0.0)
    with shown_steps(), step("recording") as tell:
        tell(0.5)
    assert capsys.readouterr().err == ""


PROGRAM = """
import sys, time
from imbrex.cli.shown_steps import shown_steps
from imbrex.steps import step
with shown_steps():
    with step("calibrating this MPI", "about a minute, at most 240 s") as tell:
        time.sleep(0.3)
        tell(0.5, "pingpong (2 of 8)")
        time.sleep(0.3)
        with step("building"):
            pass
    with step("probing"):
        pass
sys.stderr.write("END")
"""


def test_a_bar_on_a_terminal_leaves_nothing_behind() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=theirs, env=environment)
    os.close(theirs)
    found = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        found += part
    os.close(ours)
    assert process.wait() == 0
    text = found.decode()
    assert (
        "calibrating" in text
        and "pingpong (2 of 8), about 0 s left" not in text
        and "pingpong (2 of 8)" in text
    )
    assert "about a minute, at most 240 s" in text  # on 80 columns, until a share is told
    assert "imbrex:" not in text
    # the last thing before the end is that the line is erased and the cursor shown again
    before = text[: text.index("END")]
    assert "probing" not in before[before.rindex("\x1b[2K") :]
    assert "\x1b[?25h" in before
