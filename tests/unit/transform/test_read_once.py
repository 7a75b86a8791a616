"""What the search for rewrites has read and analysed is not read and analysed again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from imbrex.transform import engine
from imbrex.transform.command import diff, explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
# In each a further run begins with the text that the search ended with.
NAMES = ["anyface.c", "begun.cpp", "change.f90"]
# Where more is told of decisions after the search, and where the next text is another.
TOLD = [*NAMES, "handed.c", "pieces.c", "concurrent.f90", "torus.f90"]


@pytest.mark.parametrize("name", NAMES)
def test_each_text_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = CASES / name
    found: Counter[bytes] = Counter()
    analyse = engine.Analysis.__init__

    def counted(self: Any, paths: list[Path], options: Options) -> None:
        found[options.contents.get(path) or path.read_bytes()] += 1
        analyse(self, paths, options)

    monkeypatch.setattr(engine.Analysis, "__init__", counted)
    outcome = transform([path], Options())
    assert found[outcome.after[str(path)]] == 1
    assert set(found.values()) == {1}


@pytest.mark.parametrize("name", TOLD)
def test_so_what_is_told_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = CASES / name
    once = transform([path], Options())
    make = engine._prepared
    monkeypatch.setattr(
        engine,
        "_prepared",
        lambda paths, options, rejected, _ahead=None: make(paths, options, rejected),
    )
    again = transform([path], Options())
    assert diff(once) == diff(again)
    assert explain(once) == explain(again)
    assert once.after == again.after
