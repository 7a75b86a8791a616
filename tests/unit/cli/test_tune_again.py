"""The line that starts a search again holds all options that were given, and the budget alone not.

The line is parsed again here: an option with a value must not lose it, nor a flag gain one.
"""

from __future__ import annotations

from typing import Any

import pytest

from imbrex.cli import tune as command
from imbrex.tune.answer import Found
from imbrex.tune.command import Wanted

OPTIONS = (
    ["--build", "make -j 2", "--suggest", "-o", "out", "--worth", "2"],
    ["--check", "grep -q 'a b'", "--repeat", "5", "--warm", "0", "-q"],
    ["--time-from", "t=([0-9.]+)"],
    [],
)


@pytest.mark.parametrize("options", OPTIONS)
def test_the_same_search_again(
    options: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    seen: list[Wanted] = []

    def find(wanted: Wanted) -> Found:
        seen.append(wanted)
        return Found(wanted.written, tmp_path, 0.01, 0.3, "MPI 40 %.", 60, 10)

    monkeypatch.setattr(command, "find", find)
    line = ["--", "mpirun", "-n", "2", "./app"]
    command.tune.main(["--budget", "90s", *options, *line], standalone_mode=False)
    again = list(seen[0].options)
    assert "--budget" not in again
    command.tune.main(["--budget", "90s", *again, *line], standalone_mode=False)
    assert seen[0] == seen[1]
