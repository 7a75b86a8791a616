"""The docs list each kind of reason and each rewrite, and no others.

A reason with names in it stands there with `…` in their place.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from imbrex.transform.model.advice import ADVICE, advice, in_the_way
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.rewrites import catalogue
from imbrex.transform.rewrites.progress import ProgressCalls
from imbrex.transform.rewrites.registry import ALL, REWRITES

DOCS = Path(__file__).parents[3] / "docs"


def reasons() -> set[str]:
    return {re.sub(r"\{\w+\}", "…", kind.value) for kind in ReasonKind}


def documented() -> set[str]:
    lines = (DOCS / "reference" / "transform-refusals.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    cells = [row[2:].split(" | ")[0] for row in rows]
    return {text for cell in cells if cell not in ("reason", "text") for text in cell.split("<br>")}


def test_each_reason_is_documented() -> None:
    assert len(reasons()) > 200
    assert reasons() - documented() == set()


def test_each_documented_reason_exists() -> None:
    assert documented() - reasons() == set()


def test_what_to_do_is_what_the_docs_say() -> None:
    """Beside each reason, but for what is told of a rewrite."""
    text = (DOCS / "reference" / "transform-refusals.md").read_text()
    refusals = text[: text.index("## What is told of a rewrite")]
    rows = [line[2:].split(" | ") for line in refusals.splitlines() if line.startswith("| ")]
    said = {r: row[1].rstrip(" |") for row in rows for r in row[0].split("<br>")}
    kind_of = {re.sub(r"\{\w+\}", "…", kind.value): kind for kind in ReasonKind}
    named = {
        kind_of[r].name.lower().replace("_", "-"): text for r, text in said.items() if r in kind_of
    }
    assert named == ADVICE


def test_advice_is_that_of_the_reason_within() -> None:
    inner = ReasonKind.CALL_DOES(routine="work", cause=ReasonKind.INPUT_OUTPUT())
    assert advice(ReasonKind.NOT_LATER(cause=inner)) == ADVICE["input-output"]
    place = Location("a.c", 3)
    edge = Reason(ReasonKind.BLOCK_ENDS(), place)
    used = Reason(ReasonKind.USED(variable="a"), place)
    window = Reason(ReasonKind.NO_WINDOW(before=used, behind=edge), place)
    assert in_the_way(window) == used
    assert in_the_way(Reason(ReasonKind.NO_WINDOW(before=used, behind=used), place)) == used
    assert in_the_way(used) == used


def test_a_reason_takes_the_parameters_of_its_sentence() -> None:
    with pytest.raises(TypeError, match="variable"):
        ReasonKind.USED()
    with pytest.raises(TypeError, match="variable"):
        ReasonKind.USED(variable="a", other="b")
    with pytest.raises(TypeError, match="cause is a str"):
        ReasonKind.CALL_DOES(routine="work", cause="input or output")


def test_sentences_nest_and_move() -> None:
    inner = ReasonKind.CALL_DOES(routine="work", cause=ReasonKind.INPUT_OUTPUT())
    why = Reason(ReasonKind.PROGRAM_USES(name="MPI_Probe"), Location("a.c", 3))
    reason = Reason(ReasonKind.OTHER_COMMUNICATION(because=why), Location("a.c", 9))
    assert inner.text == "the call of work: input or output"
    assert str(reason) == "other communication, and the program uses MPI_Probe (a.c:3) (a.c:9)"
    moved = reason.relocated(lambda place: Location(place.file, place.line + 1))
    assert str(moved) == "other communication, and the program uses MPI_Probe (a.c:4) (a.c:10)"
    assert ReasonKind.WINDOW(count=1).text == "1 computing statement in the window"
    assert ReasonKind.WINDOW(count=2).text == "2 computing statements in the window"


def test_json_has_kind_and_parameters() -> None:
    cause: Cause = ReasonKind.CALL_DOES(routine="work", cause=ReasonKind.INPUT_OUTPUT())
    assert cause.as_json() == {
        "kind": "call-does",
        "parameters": {"routine": "work", "cause": {"kind": "input-output", "parameters": {}}},
    }


def test_each_rewrite_is_documented_with_its_conditions() -> None:
    text = (DOCS / "reference" / "transform-conditions.md").read_text()
    headings = re.findall(r"^##+ (?:The rewrite )?`([\w-]+)`", text, re.MULTILINE)
    assert sorted(headings) == sorted(REWRITES)
    assert re.search(r"^## Progress calls", text, re.MULTILINE) is not None
    text = (DOCS / "guide" / "transform.md").read_text()
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == set(REWRITES)
    named = re.search(r"`--rewrites ([\w,\s-]+?)`", text)
    assert named is not None
    assert set(re.split(r",\s*", named[1])) == set(REWRITES)
    assert f"`{ProgressCalls.name}`" in (DOCS / "reference" / "transform-refusals.md").read_text()


def test_each_rewrite_shows_what_it_does() -> None:
    entries = [catalogue.entry(rewrite) for rewrite in ALL]
    assert {found.name for found in entries} == {*REWRITES, ProgressCalls.name}
    for found in entries:
        assert found.text.splitlines()[0].endswith(".")
        assert found.before != found.after
        assert found.before in catalogue.page()
    first_lines = [found.text.splitlines()[0] for found in entries]
    assert all(line in catalogue.listing() for line in first_lines)
