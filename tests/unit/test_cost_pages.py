"""README and CHANGELOG say of the cost of a call what the table says."""

import importlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("cost_pages")


def test_they_do(pages: Any) -> None:
    assert pages.disagreements(ROOT) == []


def test_a_measurement_goes_into_all_three(pages: Any, tmp_path: Path) -> None:
    (tmp_path / "docs" / "theory").mkdir(parents=True)
    for name in ("README.md", "CHANGELOG.md", "docs/theory/cost.md"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    costs = {"mpich": pages.Cost(20, 30, 41, 16), "openmpi": pages.Cost(19, 25, 35, 16)}
    pages.write(tmp_path, costs)
    assert pages.disagreements(tmp_path) == []
    assert (
        "**Cost**: 19 to 30 ns a call, 10 to 11 more with the call log ("
        in (tmp_path / "README.md").read_text()
    )
    page = (tmp_path / "docs" / "theory" / "cost.md").read_text()
    assert "| `MPI_Iprobe` | 20 (1.25) | 19 (1.19) |" in page
    assert "| two readings of the time-stamp counter alone | 16 | 16 |" in page
    (tmp_path / "README.md").write_text("nothing of a cost")
    assert pages.disagreements(tmp_path) == ["README.md"]
    with pytest.raises(SystemExit, match=r"README\.md"):
        pages.write(tmp_path, costs)
