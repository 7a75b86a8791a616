"""Who may import whom within `transform`: model ← readers, model ← analysis ← text ← rewrites."""

from __future__ import annotations

import re
from pathlib import Path

from imbrex.transform import engine

PACKAGE = Path(engine.__file__).parent
BELOW = {
    "model": set[str](),
    "readers": {"model"},
    "analysis": {"model"},
    "text": {"model", "analysis"},
    "rewrites": {"model", "analysis", "text"},
}
IMPORT = re.compile(r"(?m)^\s*(?:from|import) imbrex\.transform\.(\w+)")


def test_folders_import_what_stands_below_them() -> None:
    found = {
        (folder, name)
        for folder in BELOW
        for file in (PACKAGE / folder).glob("*.py")
        for name in IMPORT.findall(file.read_text())
        if name in BELOW and name != folder
    }
    assert ("rewrites", "text") in found
    assert {pair for pair in found if pair[1] not in BELOW[pair[0]]} == set()


def test_each_rewrite_is_registered() -> None:
    """A class in `rewrites` that names itself stands in the registry."""
    registry = (PACKAGE / "rewrites" / "registry.py").read_text()
    named = {
        match[1]
        for file in (PACKAGE / "rewrites").glob("*.py")
        for match in re.finditer(
            r'(?m)^class (\w+)\([^\n]*\):\n    """(?:[^"]|"(?!""))*Before:', file.read_text()
        )
    }
    assert len(named) > 10
    assert {name for name in named if name not in registry} == set()
