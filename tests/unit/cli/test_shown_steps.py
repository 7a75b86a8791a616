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
        def __init__(self, what: str) -> None:
            heard.append(what)

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
    with step("unheard") as tell:
        tell(0.1)
    assert heard == ["outer", "inner", 1.0, 0.5, "done", "done"]


def test_a_line_for_each_step_that_lasts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "PATIENCE_S", 0.02)
    with shown_steps():
        with step("building the runtime"):
            time.sleep(0.2)
        monkeypatch.setattr(shown, "PATIENCE_S", 60.0)
        with step("reading"):
            pass
    with shown_steps(quiet=True), step("quiet"):
        pass
    out, err = capsys.readouterr()
    assert (out, err) == ("", "imbrex: building the runtime ...\n")


PROGRAM = """
import sys
from imbrex.cli.shown_steps import shown_steps
from imbrex.steps import step
with shown_steps():
    with step("calibrating") as tell:
        tell(0.5)
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
    assert "calibrating" in text
    assert "imbrex:" not in text
    # the last thing before the end is that the line is erased and the cursor shown again
    before = text[: text.index("END")]
    assert "probing" not in before[before.rindex("\x1b[2K") :]
    assert "\x1b[?25h" in before
