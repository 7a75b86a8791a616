"""Golden reasons: what is said of each program that must not be rewritten, word for word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

REASONS = Path(__file__).parent / "reasons"
WRITE = "IMBREX_WRITE_REASONS"  # set: the files are written anew; read the difference then


def read_reasons(file: Path) -> dict[str, str]:
    """What must be said, by program; each begins with a line `== name`."""
    text = file.read_text() if file.exists() else ""
    parts = [part.partition("\n") for part in ("\n" + text).split("\n== ")[1:]]
    return {name: body.rstrip("\n") for name, _, body in parts}


def said(outcome: Outcome) -> str:
    """A line for each call: its line, name, decision and reason."""
    lines = []
    for decision in outcome.decisions:
        call, reason = decision.site.call, decision.reason
        place = f"{Path(reason.location.file).name}:{reason.location.line}"
        lines.append(f"{call.line}: {call.name} {decision.decision}: {reason.text} ({place})")
    return "\n".join(lines).replace(str(Path(outcome.decisions[0].site.routine.file).parent), "")


@pytest.fixture
def same_reasons(request: pytest.FixtureRequest) -> Callable[[str, Outcome], None]:
    """Compares what is said of a program of this file and language with what must be."""

    def check(name: str, outcome: Outcome) -> None:
        suffix = Path(next(iter(outcome.before))).suffix
        file = REASONS / f"{request.path.stem.removeprefix('test_')}{suffix}.txt"
        expected = read_reasons(file)
        if os.environ.get(WRITE):
            expected[name] = said(outcome)
            file.parent.mkdir(exist_ok=True)
            text = "\n".join(f"== {key}\n{value}" for key, value in expected.items())
            file.write_text(text + "\n")
        assert said(outcome) == expected.get(name), f"{file.name}: {name}"

    return check


@pytest.fixture
def prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], tuple[bool, list[str]]]:
    """Whether a rewrite that makes room is part of what becomes of a C program, and what is said
    of that rewrite."""

    def run(text: str, rewrite: str) -> tuple[bool, list[str]]:
        path = Path("case.c")
        monkeypatch.chdir(tmp_path)
        path.write_text(text)
        outcome = transform([path], Options())
        assert not outcome.skipped, outcome.skipped
        rewrite_noun = rewrite.rpartition("-")[2]
        details = [line for d in outcome.decisions for line in d.details if rewrite_noun in line]
        return any(rewrite in d.rewrites for d in outcome.decisions), details

    return run
