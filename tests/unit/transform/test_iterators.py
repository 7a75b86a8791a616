"""Loops by iterators go through the elements of their vector, as range-based ones do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_algorithms import PROGRAM
from tests.unit.transform.test_sole_instances import compiles

OVER = "for (auto it = v.begin(); it != v.end(); ++it)"
PASSED = {
    "set": f"{OVER} *it *= 0.5",
    "read": f"{OVER} sum += *it",
    "read through constant ones": "for (auto it = v.cbegin(); it != v.cend(); it++) sum += *it",
    "with the type written": (
        "for (std::vector<double>::const_iterator it = v.begin(); it != v.end(); ++it) sum += *it"
    ),
    "from the end": "for (auto it = v.rbegin(); it != v.rend(); ++it) *it += sum",
    "a part": "for (auto it = v.begin() + 2; it < v.end(); ++it) *it += sum",
    "two": ("for (auto it = v.begin(), at = u.begin(); it != v.end(); ++it, ++at) *it += *at"),
    "the end in front": "for (auto it = v.begin(), to = v.end(); it != to; ++it) *it += sum",
    "of a class": "for (auto it = marks.begin(); it != marks.end(); ++it) it->x += it->y",
    "of a class, in parentheses": (
        "for (auto it = marks.begin(); it != marks.end(); ++it) (*it).x += sum"
    ),
    "given to a function": f"{OVER} turn(*it)",
    "under a condition": f"{OVER} {{ if (*it > 1) continue; *it = 2; }}",
    "within another": f"for (int k = 0; k < 3; k++) {OVER} *it += k",
}
STAY = {
    "what comes in is read": "for (auto it = in.begin(); it != in.end(); ++it) sum += *it",
    "what comes in is set": "for (auto it = in.begin(); it != in.end(); ++it) *it = 1",
    "what comes in is read beside": f"{OVER} *it = in[2]",
    "what comes in is set beside": f"{OVER} in[2] = *it",
    "it is kept": f"{OVER} kept = it",
    "it is moved": f"{OVER} {{ *it = 1; ++it; }}",
    "its address is taken": f"{OVER} keep(&it)",
    "the vector grows": f"{OVER} {{ if (*it > 9) {{ v.push_back(1); break; }} }}",
    "a function sets what comes in": "for (auto it = in.begin(); it != in.end(); ++it) turn(*it)",
    "a second one over what comes in": (
        "for (auto it = v.begin(), at = in.begin(); at != in.end(); ++it, ++at) *it += *at"
    ),
    "a class that comes in": "for (auto it = got.begin(); it != got.end(); ++it) it->x += 1",
    "objects with code": "for (auto it = coded.begin(); it != coded.end(); ++it) it->work()",
}
MORE = """
struct Mark { double x, y; };
static std::vector<Mark> marks(9), got(9);
static std::vector<double>::iterator kept;
static void keep(std::vector<double>::iterator *it) { kept = *it; }
static void turn(double &x) { x = -x; }
struct Coded {
    std::vector<double> more;
    void work() { MPI_Barrier(MPI_COMM_WORLD); }
};
static std::vector<Coded> coded(3);
"""
USED = " (void)keep; (void)turn;"


def _rewritten(passed: str, path: Path) -> str:
    replaced = {"PASSED": passed, "// BEFORE": MORE, "// FRONT": USED}
    if "got" in passed:
        replaced["MPI_DOUBLE,\n                     (rank"] = "MPI_DOUBLE,\n            (rank"
        replaced["in.data()"] = "&got[0].x"
    return rewritten(path, changed(PROGRAM, replaced))


@pytest.mark.parametrize("passed", PASSED.values(), ids=PASSED)
def test_it_is_passed(passed: str, tmp_path: Path) -> None:
    text = _rewritten(passed, tmp_path / "main.cpp")
    assert text.index("MPI_Irecv") < text.index(passed) < text.index("MPI_Wait")
    (tmp_path / "main.cpp").write_text(text)
    compiles(tmp_path / "main.cpp")


@pytest.mark.parametrize("passed", STAY.values(), ids=STAY)
def test_nothing_passes(passed: str, tmp_path: Path) -> None:
    text = _rewritten(passed, tmp_path / "main.cpp")
    assert "MPI_Wait" not in text or text.index("MPI_Wait") < text.index(passed)
