"""Call paths as a user reads them, from the tables and from the parts of ranks that crashed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.errors import ImbrexError
from imbrex.profile.call_paths import CALL_PATHS_DTYPE, MOST_CALLERS, call_paths
from imbrex.profile.format import MEASURES_DTYPE, RANKS_DTYPE
from imbrex.profile.merge import merge
from imbrex.profile.part import Part, PartCallPath
from imbrex.profile.run import load_run
from imbrex.profile.sites import Site

APP, LIBC = "/x/app", "/lib/libc.so.6"
SITE = Site(1, APP, file="/x/comm.f90", line=12, function="exchange")
FRAMES = (
    Site(1, APP, file="/x/step.c", line=44, function="velocity"),
    Site(2, APP, file="/x/step.c", line=55, function="pressure"),
    Site(3, APP, file="/x/app.c", line=120, function="main"),
    Site(4, LIBC, offset=0x2724A),
    Site(5, APP, offset=0x1181, function="_start+0x21"),
    Site(6, "/x/libpython3.11.so.1.0", offset=1, function="_PyEval_EvalFrameDefault+0x5d"),
    Site(7, "/x/libpython3.11.so.1.0", offset=2, function="PyObject_Call+0x1"),
    Site(8, APP, file="/x/app.f90", line=1, function="main"),
    Site(9, APP, file="/x/app.f90", line=30, function="app"),
    Site(10, APP, file="/x/t.c", line=9, function="solve", inlined_into=("main (/x/app.c:7)",)),
    Site(11, None, offset=0x7EFEF21CEB8E),
)


def table(*paths: tuple[int, int, int, list[int]]) -> np.ndarray[Any, Any]:
    """Rows of paths, each of (rank, site, samples, frames with the innermost first)."""
    rows = []
    for number, (rank, site, samples, frames) in enumerate(paths):
        for level, frame in enumerate(frames or [0]):
            rows.append((rank, site, number, level, frame, samples))
    return np.array(rows, CALL_PATHS_DTYPE)


def told(*paths: tuple[int, int, int, list[int]]) -> list[tuple[str, int, int]]:
    """What is said of site 1: text, samples, ranks."""
    found = call_paths(table(*paths), (Site(0), SITE), FRAMES)
    return [(path.text, path.samples, path.ranks) for path in found.get(1, ())]


@pytest.mark.parametrize(
    ("frames", "text"),
    [
        ([1, 3, 4, 4, 5], "main (app.c:120) > velocity (step.c:44) > exchange (comm.f90:12)"),
        ([4, 4, 5], "exchange (comm.f90:12)"),
        ([10, 4], "main (app.c:7) > solve (t.c:9) > exchange (comm.f90:12)"),
        ([1, 9, 8, 4], "app (app.f90:30) > velocity (step.c:44) > exchange (comm.f90:12)"),
        ([8, 4], "exchange (comm.f90:12)"),
        ([1, 6, 7, 6, 3], "main (app.c:120) > libpython3.11.so.1.0 (3 functions) > velocity "
         "(step.c:44) > exchange (comm.f90:12)"),
        ([6, 3], "main (app.c:120) > _PyEval_EvalFrameDefault (libpython3.11.so.1.0) > exchange "
         "(comm.f90:12)"),
        ([1] * MOST_CALLERS, "... > " + "velocity (step.c:44) > " * MOST_CALLERS
         + "exchange (comm.f90:12)"),
        ([1, 4], "velocity (step.c:44) > exchange (comm.f90:12)"),
        ([1, 3, 0], "main (app.c:120) > velocity (step.c:44) > exchange (comm.f90:12)"),
        ([1, 2, 0], "... > pressure (step.c:55) > velocity (step.c:44) > exchange (comm.f90:12)"),
        ([1, 11], "... > code made at run time > velocity (step.c:44) > exchange (comm.f90:12)"),
        ([], "(not known)"),
    ],
)  # fmt: skip
def test_a_path_begins_with_main_and_ends_with_the_site(frames: list[int], text: str) -> None:
    assert told((0, 1, 5, frames)) == [(text, 5, 1)]


def test_paths_of_all_ranks_are_united() -> None:
    a, b = [1, 3, 4], [2, 3, 4]
    found = told((0, 1, 3, a), (0, 1, 10, b), (1, 1, 4, a), (2, 1, 1, a))
    assert [(text.split(" > ")[1], n, ranks) for text, n, ranks in found] == [
        ("pressure (step.c:55)", 10, 1),
        ("velocity (step.c:44)", 8, 3),
    ]


def test_what_is_not_there_is_left_out() -> None:
    """A frame that no list has, a site that there is not, a level that is missing."""
    assert told((0, 9, 3, [1])) == []
    assert told((0, 1, 3, [99, 3]))[0][0] == (
        "main (app.c:120) > code made at run time > exchange (comm.f90:12)"
    )
    torn = table((0, 1, 3, [1, 2, 3]))[[0, 2]]
    (path,) = call_paths(torn, (Site(0), SITE), FRAMES)[1]
    assert path.text == "velocity (step.c:44) > exchange (comm.f90:12)"
    assert call_paths(None, (), ()) == call_paths(table()[:0], (), ()) == {}


def test_a_run_says_it_in_its_json(make_run: Any) -> None:
    folder = make_run()
    assert load_run(folder).call_paths == {}
    sites = json.loads((folder / "sites.json").read_text())
    sites["frames"] = [frame.to_json() for frame in FRAMES]
    (folder / "sites.json").write_text(json.dumps(sites))
    np.save(folder / "call_paths.npy", table((0, 1, 3, [1, 3]), (0, 1, 1, [2, 3])))
    run = load_run(folder)
    assert [path.samples for path in run.call_paths[1]] == [3, 1]
    assert run.call_paths[1][0].to_json()["callers"][0] == "main (app.c:120)"


def test_damaged_rows_are_one_line(make_run: Any) -> None:
    folder = make_run()
    rows = table((0, 1, 3, [1, 3]))
    rows["level"][1] = MOST_CALLERS
    np.save(folder / "call_paths.npy", rows)
    with pytest.raises(ImbrexError, match=r"call_paths\.npy: damaged: level of row 1 is 24"):
        load_run(folder)


def test_parts_are_merged_with_frames_in_common(tmp_path: Path) -> None:
    def part(rank: int, callers: list[tuple[str, str | None, int]]) -> Part:
        row = np.zeros((), RANKS_DTYPE)
        row["rank"] = rank
        return Part(
            file=tmp_path,
            ranks=2,
            library="",
            rank=row,
            measures=np.empty(0, MEASURES_DTYPE),
            sites=[(None, None, 0), (APP, None, 0x10 + rank)],
            sections=[""],
            operations=[],
            call_paths=[
                PartCallPath(1, 5 + rank, tuple(callers), is_cut=bool(rank)),
                PartCallPath(1, 1, ()),
            ],
        )

    merged = merge([part(0, [(APP, None, 1), (APP, None, 2)]), part(1, [(APP, None, 2)])])
    assert [(f.id, f.offset) for f in merged.frames] == [(1, 1), (2, 2)]
    assert merged.callers.tolist() == [
        (0, 1, 0, 0, 1, 5), (0, 1, 0, 1, 2, 5), (0, 1, 1, 0, 0, 1),
        (1, 2, 0, 0, 2, 6), (1, 2, 0, 1, 0, 6), (1, 2, 1, 0, 0, 1),
    ]  # fmt: skip
