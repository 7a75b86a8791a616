"""Pointers of a class that are rotated or exchanged, in memory from `new`: what they may share."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

CASE = Path(__file__).parent / "cases" / "rotated.cpp"
ROTATION = "        old_ = cur_;\n        cur_ = next_;\n        next_ = last;\n"
WAVE, HEAT = "Wave::exchange", "Heat::run"
# Each makes two of the pointers that one routine uses hold one array, or hides whether they do.
SHARED = {
    "one level is dropped": (WAVE, ROTATION, "        old_ = cur_;\n        cur_ = next_;\n"),
    "the rotation is broken": (
        WAVE,
        ROTATION,
        ROTATION.replace("last", "old_") + "        old_ = last;\n",
    ),
    "two levels in one allocation": (
        WAVE,
        "next_ = new double[(n + 2) * m]();",
        "next_ = cur_ + m;",
    ),
    "another name of a level": (
        WAVE,
        "        double *last = old_;\n",
        "        double *&name = old_;\n        name = cur_;\n        double *last = old_;\n",
    ),
    "a level's address": (
        WAVE,
        "        double *last = old_;\n",
        "        double **name = &next_;\n        *name = cur_;\n        double *last = old_;\n",
    ),
    "a copy of the object": (
        WAVE,
        "        wave.run(12);\n",
        "        wave.run(12);\n        Wave other = wave;\n        other.run(1);\n",
    ),
    "a copy of an object around it": (
        WAVE,
        "        wave.run(12);\n",
        "        struct Both { Wave one; int n; } both = {wave, 1};\n        both.one.run(12);\n",
    ),
    "code that is not read": (
        WAVE,
        "        wave.run(12);\n",
        "        extern void take(Wave *);\n        take(&wave);\n        wave.run(12);\n",
    ),
    "a swap of the program's own": (
        HEAT,
        "std::swap(u_, v_);",
        "swap(u_, v_);",
    ),
    "exchanged with what is not alone": (
        HEAT,
        "    v_ = new double[n_ + 1];\n",
        "    v_ = u_;\n",
    ),
    "set anew from the other": (
        HEAT,
        "            std::swap(u_, v_);\n",
        "            std::swap(u_, v_);\n            if (t == 5)\n                v_ = u_;\n",
    ),
    "memory that the program gives itself": (
        HEAT,
        "class Heat\n",
        "void *operator new[](std::size_t) { static char all[1 << 20]; return all; }\nclass Heat\n",
    ),
    "new at a place": (
        HEAT,
        "    v_ = new double[n_ + 1];\n",
        "    v_ = new (u_) double[n_ + 1];\n",
    ),
}


def made(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    path = Path("rotated.cpp")
    monkeypatch.chdir(folder)
    path.write_text(text)
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome


def rewritten(outcome: Outcome) -> set[str]:
    return {d.site.routine.name for d in outcome.decisions if d.decision == "rewritten"}


def test_each_is_an_array_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rewritten(made(CASE.read_text(), tmp_path, monkeypatch)) == {WAVE, HEAT}


@pytest.mark.parametrize("name", SHARED)
def test_shared(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    routine, before, after = SHARED[name]
    text = CASE.read_text()
    assert text.count(before) == 1
    swap = "template <class T> void swap(T *&a, T *&b) { a = b; }\nclass Heat\n"
    text = text.replace(before, after)
    if after == "swap(u_, v_);":
        text = text.replace("class Heat\n", swap)
    text = text.replace("#include <utility>", "#include <new>\n#include <utility>")
    assert routine not in rewritten(made(text, tmp_path, monkeypatch))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("u_(nullptr), v_(nullptr)", "u_(NULL), v_(0)"),
        ("        delete[] u_;\n", "        delete[] u_;\n        u_ = nullptr;\n"),
        ("v_ = new double[n_ + 1];", "v_ = new double[n_ + 1]{};"),
    ],
)
def test_no_memory(
    before: str, after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = CASE.read_text()
    assert text.count(before) == 1
    assert HEAT in rewritten(made(text.replace(before, after), tmp_path, monkeypatch))
