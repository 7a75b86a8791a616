"""A number that a routine around MPI counts goes from its start to its finish, or all stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

CASE = Path(__file__).parent / "cases" / "counted.c"
WAIT = "    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);\n"
# What makes the count one that the start cannot hand on, and the reason that is told.
WHOLE = {
    "its address is known": (
        "    int n = 0;\n",
        "    int n = 0, *at = &n;\n    *at = 0;\n",
        "",
    ),
    "set on one way alone": (
        "    int n = 0;\n",
        "    int n;\n    if (h->neighbours > 0)\n        n = 0;\n",
        "`n`",
    ),
    "no plain number": (
        "    int n = 0;\n",
        "    volatile int n = 0;\n",
        "",
    ),
}
# The count is set anew, or another number made of it, behind or in front of what needs it.
CARRIED = {
    "set anew behind the wait": (WAIT, WAIT + "    n += 1;\n"),
    "made of it": (WAIT, "    int all = 0;\n    all += n;\n" + WAIT.replace("(n", "(all")),
    "declared with another": (
        "    int n = 0;\n",
        "    int n = 0, more = n + 1;\n    n = more - 1;\n",
    ),
}


def made(before: str, after: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    text = CASE.read_text()
    assert text.count(before) == 1
    path = Path("counted.c")
    monkeypatch.chdir(folder)
    path.write_text(text.replace(before, after))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    return outcome


@pytest.mark.parametrize("name", WHOLE)
def test_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, reason = WHOLE[name]
    outcome = made(before, after, tmp_path, monkeypatch)
    texts = [d.reason.text + " ".join(d.details) for d in outcome.decisions]
    assert outcome.after["counted.c"] == outcome.before["counted.c"], texts
    assert any(reason in text for text in texts)


@pytest.mark.parametrize("name", CARRIED)
def test_carried(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = made(*CARRIED[name], tmp_path, monkeypatch)
    after = outcome.after["counted.c"].decode()
    assert "*imbrex_n = n;" in after or "*imbrex_all = all;" in after
    again = transform([Path("counted.c")], Options(contents={Path("counted.c"): after.encode()}))
    assert again.after["counted.c"].decode() == after
