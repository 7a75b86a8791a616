"""benchmarks/tune_table.py --insert puts in the rows that a rows' file has, and no others."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "tune_table.py"
SEARCH = {
    "library": "openmpi",
    "run_s": 2.0,
    "recommended": "",
    "proven": None,
    "predicted": None,
    "fresh": None,
    "fresh_pairs": 0,
    "by_hand": None,
    "took_s": 50.0,
}
PAGE = """# A page

<!-- tune: begin -->
| library | program | takes | recommended | proven | predicted | fresh pairs | by hand | search |
|---|---|--:|---|--:|--:|--:|--:|--:|
| openmpi | `a 1` | 1.0 s | old a |  |  |  |  | 9 s |
| openmpi | `b 1` | 1.0 s | old b |  |  |  |  | 9 s |
| mpich | `a 1` | 1.0 s | old a |  |  |  |  | 9 s |

The predictions of 2 trials differ from what was measured by 1.0 % of the run in the median, 2.0 %
at worst.
<!-- tune: end -->

<!-- controls: begin -->
| library | program | takes | what it says | tried | search |
|---|---|--:|---|--:|--:|
| openmpi | one: `./one` | 1.0 s | Nothing to gain from overlap here: at most 0.02 %. | 0 | 5 s |
| openmpi | two: `two` | 0.5 s | 9.0 % faster with X. | 3 | 41 s |

Nothing found, within a minute beyond the program's own time: 1 of 2.
<!-- controls: end -->

<!-- self: begin -->
| library | program | searches | pairs | disturbed | spread of a pair | recommended |
|---|---|--:|--:|--:|--:|--:|
| openmpi | `./one` | 9 | 33 | 6 | 1.9 % | 0 |
| mpich | `./one` | 8 | 40 | 0 | 5.2 % | 0 |
<!-- self: end -->
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.md"
    file.write_text(PAGE)
    return file


def inserted(page: Path, rows: list[dict[str, Any]], *options: str) -> list[tuple[str, str]]:
    """What became of each line of the page: those that went, and those that came."""
    before = page.read_text().splitlines()
    file = page.with_name("rows")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = [sys.executable, str(SCRIPT), "--rows", str(file), "--seconds", "0"]
    line += ["--insert", str(page), *options]
    subprocess.run(line, check=True, capture_output=True)
    after = page.read_text().splitlines()
    gone = [("-", text) for text in before if text not in after]
    return gone + [("+", text) for text in after if text not in before]


def searched(name: str, verdict: str, trials: int = 0, **other: Any) -> dict[str, Any]:
    trial = {"what": "x", "prediction": 0.10, "estimate": 0.07, "pairs": 5}
    return {**SEARCH, "name": name, "verdict": verdict, "trials": [trial] * trials, **other}


def test_a_row_is_replaced_at_its_place_and_others_stand(page: Path) -> None:
    assert inserted(page, [searched("a 1", "New a.")]) == [
        ("-", "| openmpi | `a 1` | 1.0 s | old a |  |  |  |  | 9 s |"),
        ("+", "| openmpi | `a 1` | 2.0 s | New a |  |  |  |  | 50 s |"),
    ]


def test_a_new_row_stands_behind_those_of_its_library(page: Path) -> None:
    inserted(page, [searched("c 1", "New c.")])
    programs = [line.split("|")[1:3] for line in page.read_text().splitlines() if "`" in line]
    named = [(library.strip(), program.strip()) for library, program in programs[:4]]
    openmpi = [("openmpi", f"`{letter} 1`") for letter in "abc"]
    assert named == [*openmpi, ("mpich", "`a 1`")]


@pytest.mark.parametrize(("trials", "said"), [(1, "2 trials"), (2, "2 trials"), (3, "3 trials")])
def test_the_sentence_that_knows_more_predictions_stands(
    page: Path, trials: int, said: str
) -> None:
    inserted(page, [searched("a 1", "New a.", trials)])
    text = page.read_text()
    assert text.count("The predictions of") == 1
    assert f"The predictions of {said}" in text
    assert ("3.0 % of the run" in text) == (trials >= 2)


def test_twice_is_as_once(page: Path) -> None:
    rows = [searched("c 1", "New c.", 3)]
    inserted(page, rows)
    assert inserted(page, rows) == []


def test_the_controls_are_counted_again(page: Path) -> None:
    row = {"kind": "control", "library": "openmpi", "workload": "two", "name": "two", "run_s": 0.5}
    row |= {"verdict": "Nothing proven.", "tried": 3, "took_s": 20.0}
    none = {"kind": "control", "library": "none", "workload": "-", "name": "-", "run_s": 1.0}
    none |= {"verdict": "Nothing proven.", "tried": 0, "took_s": 99.0}
    assert inserted(page, [row, none], "--controls", "--only", "no such program") == [
        ("-", "| openmpi | two: `two` | 0.5 s | 9.0 % faster with X. | 3 | 41 s |"),
        ("-", "Nothing found, within a minute beyond the program's own time: 1 of 2."),
        ("+", "| openmpi | two: `two` | 0.5 s | Nothing proven. | 3 | 20 s |"),
        ("+", "| none | -: `-` | 1.0 s | Nothing proven. | 0 | 99 s |"),
        ("+", "Nothing found, within a minute beyond the program's own time: 2 of 3."),
    ]


def test_searches_beside_itself_replace_those_of_their_library(page: Path) -> None:
    row = {"kind": "self", "library": "mpich", "name": "./one", "recommended": False, "pairs": 4}
    row |= {"disturbed": 1, "seemed": 0.0, "deviation": 0.02}
    assert inserted(page, [row] * 3, "--self", "3") == [
        ("-", "| mpich | `./one` | 8 | 40 | 0 | 5.2 % | 0 |"),
        ("+", "| mpich | `./one` | 3 | 12 | 3 | 2.0 % | 0 |"),
    ]


def test_a_page_without_the_marks_is_left_alone(page: Path) -> None:
    page.write_text("nothing\n")
    with pytest.raises(subprocess.CalledProcessError) as raised:
        inserted(page, [searched("a 1", "New a.")])
    assert b"<!-- tune: end --> are missing" in raised.value.stderr
    assert page.read_text() == "nothing\n"
