"""`imbrex compare --repeat` on commands whose times they print themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli import cli

pytestmark = pytest.mark.slow

PRINTED = ("--warm", "0", "--time-from", "took ([0-9.]+)")


def test_a_faster_line(tmp_path: Path) -> None:
    words = ["compare", "--repeat", "9", *PRINTED, "-o", str(tmp_path / "x.json"), "--"]
    done = CliRunner().invoke(cli, [*words, "echo", "took 2", "---", "echo", "took 1.5"])
    assert (done.exit_code, done.stdout) == (0, "")
    found = json.loads((tmp_path / "x.json").read_text())
    assert found["answer"] == "faster"
    assert found["ratio"] == 0.75
    assert abs(found["gain"][0] - 0.25) < 1e-3
    assert found["lines"][1] == {"name": "B", "command": ["echo", "took 1.5"], "median_s": 1.5}
    assert all((pair["a_s"], pair["b_s"]) == (2, 1.5) for pair in found["pairs"])


def test_equal_lines() -> None:
    words = ["compare", "--repeat", "9", *PRINTED, "--", "echo", "took 2", "---", "echo", "took 2"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0
    assert done.stdout.startswith("No difference: less than 1 % either way (")


def test_a_budget_ends_the_pairs() -> None:
    words = ["compare", "--repeat", "500", "--budget", "3s", "--warm", "0", "--worth", "0.1", "--"]
    done = CliRunner().invoke(cli, [*words, "sleep", "0.1", "---", "sleep", "0.1"])
    assert done.exit_code == 0
    assert "- The budget of 3 s was over before 500 pairs." in done.stdout


def test_a_line_that_does_not_end_within_the_budget() -> None:
    words = ["compare", "--repeat", "3", "--budget", "1s", "--warm", "0", "--"]
    done = CliRunner().invoke(cli, [*words, "sleep", "0", "---", "sleep", "60"])
    assert str(done.exception).startswith("line B was not over after 1 s and was ended")


def test_a_budget_of_nothing_to_repeat(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["compare", "--budget", "3s", str(tmp_path), str(tmp_path)])
    assert str(done.exception) == "--budget belongs to --repeat"
