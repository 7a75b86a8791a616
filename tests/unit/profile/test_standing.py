"""Where threads stood: from the bytes of a part to rows with the numbers of the whole run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from imbrex.launch.collect import complete
from imbrex.profile.run import load_run
from imbrex.profile.standing import State

FIRST, SECOND = 1 << 20, (1 << 20) + 4096
"""Where the images of `make_part` lie."""
IMAGES = [("/x/app", "aa"), ("/x/lib", "bb")]
ROW = {"count": 1, "call_ns": 10}


def write(folder: Path, *contents: bytes) -> Path:
    (folder / "parts").mkdir(parents=True)
    for rank, content in enumerate(contents):
        (folder / "parts" / f"rank-{rank}.part").write_bytes(content)
    return folder


def test_known_sites_new_ones_and_the_ends_of_ranks(
    make_part: Callable[..., bytes], tmp_path: Path
) -> None:
    """Rank 0 has two threads: in a call at a known site, and after one that is in no image; rank 1
    is in a call of a site that none has left yet; rank 2 in MPI_Finalize; rank 3 made no call."""
    sites, row = [(16, 0)], [{"site": 1, **ROW}]
    folder = write(
        tmp_path / "run",
        make_part(0, 5, row, sites, IMAGES, ["", "solve"],
                  stands=[(3_000, FIRST + 16, 1 << 16 | 2, 1), (8_000, 77, 1, 0)]),
        make_part(1, 5, [], [], IMAGES, stands=[(4_000, SECOND + 32, 0, 1 | 1 << 17)]),
        make_part(2, 5, row, sites, IMAGES, stands=[(5_000, FIRST + 16, 0, 0)],
                  ending=(1, FIRST + 48)),
        make_part(3, 5, [], [], IMAGES, stands=[(1_000, 0, 0, 0), (0, 0, 0, 0)]),
        make_part(4, 5, row, sites, IMAGES, stands=[(5_000, FIRST + 16, 0, 0)], ended=0),
    )  # fmt: skip
    for run in (load_run(folder, resolve=False), complete(folder, {}), load_run(folder)):
        assert run.standing is not None
        names = [
            (
                int(row["rank"]),
                int(row["thread"]),
                State(int(row["state"])).name,
                run.operation(int(row["operation"])) if row["state"] != State.NO_CALL else "",
                (run.site(int(row["site"])).image, run.site(int(row["site"])).offset),
                run.section(int(row["section"])),
                int(row["since_ns"]),
                int(row["since_unix_ns"]) - 1_800_000_000 * 10**9,
            )
            for row in run.standing
        ]
        operations = json.loads(json.dumps(run.job.operations))
        assert names == [
            (0, 0, "IN_CALL", operations[2], ("/x/app", 16), "solve", 2_000, 2_000),
            (0, 1, "COMPUTES", operations[1], (None, 0), "", 7_000, 7_000),
            (1, 0, "IN_CALL", operations[0], ("/x/lib", 32), "", 3_000, 3_000),
            (2, 0, "IN_CALL", "MPI_Finalize", ("/x/app", 48), "", 4_000, 4_000),
            (3, 0, "NO_CALL", "", (None, 0), "", 0, 0),
        ]


def test_a_part_of_an_earlier_version_does_not_say(
    make_part: Callable[..., bytes], tmp_path: Path
) -> None:
    folder = write(tmp_path / "run", make_part(0, 1, [{"site": 1, **ROW}], [(16, 0)], IMAGES))
    run = load_run(folder, resolve=False)
    assert run.standing is not None
    assert len(run.standing) == 0
    assert np.array_equal(run.ranks["ended"], [3])
