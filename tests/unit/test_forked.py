"""The `imbrex` command that is forked is the one that a new interpreter runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from tests import forked

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "words", [["show", "run"], ["show", "run", "--json"], ["show"], ["--help"]]
)
def test_the_same_is_said(words: list[str], make_run: Callable[..., Path], tmp_path: Path) -> None:
    make_run("run")
    line = [sys.executable, "-m", "imbrex.cli", *words]
    # All that Python knows of: readline sets COLUMNS behind its back.
    env = dict(os.environ)
    new = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    for _ in range(2):
        done = forked.imbrex(words, cwd=tmp_path, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (
            new.returncode,
            new.stdout,
            new.stderr,
        )


def test_it_has_its_own_environment(make_run: Callable[..., Path]) -> None:
    run = str(make_run("run"))
    narrow = forked.imbrex(["show", run], env={**os.environ, "COLUMNS": "60"}, timeout=60)
    plain = forked.imbrex(["show", run], timeout=60)
    first_lines = [done.stdout.partition("\n")[0] for done in (narrow, plain)]
    assert len(first_lines[0]) <= 60 < len(first_lines[1])


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        forked.imbrex(["run", "--", "sleep", "50"], cwd=tmp_path, timeout=1)
    assert time.monotonic() - begun < 40
    assert forked.imbrex(["--version"], timeout=60).returncode == 0


def test_several_at_a_time(make_run: Callable[..., Path]) -> None:
    run, codes = str(make_run("run")), list[int]()
    threads = [
        Thread(target=lambda: codes.append(forked.imbrex(["show", run], timeout=60).returncode))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 4
