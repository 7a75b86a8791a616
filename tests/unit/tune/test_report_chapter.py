"""The folder of a search as a page: its answer before all else, and its trials with intervals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.browser import chromium, opened
from tests.unit.report.synthetic import write_run

from imbrex.cli import cli
from imbrex.errors import ImbrexError
from imbrex.tune.answer import MEASURED, Found
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.report_chapter import PLOT, TITLE, chapter, is_search
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Plan
from imbrex.tune.trials_file import TRIALS, Trials

__all__ = ["chromium", "opened"]

LINE = Line("A", ("mpirun", "-n", "2", "./ring"))
SECONDS = {"": 10.0, "fast": 8.0, "slow": 11.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a search of a fast and a slow setting leaves, with the run that it measured."""
    found = tmp_path / "imbrex-tune"
    write_run(found / MEASURED)

    def run(line: Line) -> TimedRun:
        return TimedRun(SECONDS[line.environment.get("X", "")], None, "result 42\n")

    tried = [
        Tried(Candidate("setting", f"X={value}", Setup({"X": value}), "effect", "<cost>"))
        for value in ("fast", "slow")
    ]
    trials = Trials(found / TRIALS, LINE.words)
    search(Request(LINE, Plan(5, warm=0), 1e6), tried, run, trials.keep)
    Found(LINE.words, found, 0.01, 0.3, "MPI 40 %.", 600, 10, tuple(tried)).write()
    return found


def test_the_answer_and_a_plot_of_the_trials(folder: Path) -> None:
    assert is_search(folder) and not is_search(folder / MEASURED)
    found = chapter(folder)
    assert found.first
    assert found.text.startswith("20.0 % faster (")
    assert "   $ export X=fast" in found.text.splitlines()
    ((title, drawing),) = found.plots
    assert title == PLOT
    assert "X=fast" in drawing and "X=slow" in drawing
    assert drawing.count("#009e73") > 0 and drawing.count("#0072b2") > 0  # proven, and not


def test_the_page_begins_with_it(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = CliRunner().invoke(cli, ["report", str(folder), "-o", str(page)])
    assert done.exit_code == 0, done.output
    text = page.read_text()
    sections = re.findall(r'<section id="([^"]+)"', text)
    assert sections[0] == "chapter-1"
    assert f"<h2>{TITLE}</h2>" in text and "&lt;cost&gt;" in text and "<cost>" not in text
    assert re.findall(r'<a href="#([^"]+)"', text)[0] == "chapter-1"


def test_a_browser_opens_it(folder: Path, tmp_path: Path, opened: Callable[..., Any]) -> None:
    page = tmp_path / "page.html"
    assert CliRunner().invoke(cli, ["report", str(folder), "-o", str(page)]).exit_code == 0
    browser = opened(page)
    section = browser.find_element("id", "chapter-1")
    assert section.is_displayed() and "20.0 % faster (" in section.text
    assert section.find_element("tag name", "svg").size["width"] > 300


def test_without_trials_there_is_no_plot(folder: Path) -> None:
    (folder / TRIALS).unlink()
    assert chapter(folder).plots == ()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "truncated or damaged"),
        ("[]", "is not the answer.json of imbrex tune"),
        (json.dumps({"worth": 0.01, "candidates": [{}]}), "candidates.0..kind is missing"),
    ],
)
def test_a_damaged_answer_is_one_line(folder: Path, content: str, why: str) -> None:
    (folder / "answer.json").write_text(content)
    with pytest.raises(ImbrexError, match=why):
        chapter(folder)
