"""One quick probe per launcher line, as a user runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import forked

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def imbrex(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run the command line. Root may run Open MPI here; profiles stay in the tests' own folder."""
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "IMBREX_CACHE": str(tmp_path_factory.mktemp("cache")),
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return forked.imbrex(words, env=environment, timeout=180)

    return run


@pytest.fixture(scope="session")
def machines() -> dict[tuple[str, ...], Path]:
    """The machine profile that each line's probe left."""
    return {}


@pytest.fixture(scope="session")
def probed(
    imbrex: Run,
    machines: dict[tuple[str, ...], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., dict[str, Any]]:
    """The answer for a launcher line; measured once per line, with time to spare."""
    made: dict[tuple[str, ...], dict[str, Any]] = {}

    def measured(*line: str) -> dict[str, Any]:
        file: Path = tmp_path_factory.mktemp("probe") / "answer.json"
        machines[line] = file.with_name("machine.json")
        words = ("-q", "-o", str(file), "--machine", str(machines[line]), "--", *line)
        # Larger messages behave alike, and take longest.
        options = ("--quick", "--time-limit", "90", "--max-bytes", "4M")
        done = imbrex("probe", *options, *words)
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(file.read_text())
        return answer

    def answer(*line: str) -> dict[str, Any]:
        if shutil.which(line[0]) is None:
            pytest.skip(f"{line[0]} is not installed")
        if line not in made:
            made[line] = measured(*line)
            if made[line]["missing"]:  # once more: something else held the machine
                made[line] = measured(*line)
        return made[line]

    return answer
