"""What of an all-to-all moves before its last rank enters, from constructed rows."""

from __future__ import annotations

import json

import pytest

from imbrex.network.apart import early_ns
from imbrex.network.assemble import assemble
from imbrex.network.columns import ApartRow, CollectiveRow, read_columns
from imbrex.network.profile import MachineProfile
from imbrex.network.reading import parse
from imbrex.network.table import format_table

SIZES = (64, 4096, 65536, 1 << 20)


def whole(size: int) -> CollectiveRow:
    """It takes a ns for 10 bytes, at most twice as long."""
    times = (size / 10, size / 10, size / 5)
    return CollectiveRow("MPI_Alltoall", 2, "intra-node", size, 2 * size, 9, *times)


def late(size: int, share: float) -> ApartRow:
    return ApartRow("MPI_Alltoall", 2, "intra-node", size, 7, share * size)


def early(*rows: ApartRow) -> list[float | None]:
    found = early_ns(rows, [whole(size) for size in SIZES])
    return [found["MPI_Alltoall", 2, "intra-node", row.block_bytes] for row in rows]


def test_nothing_has_left_before() -> None:
    assert early(late(65536, 0.0), late(1 << 20, 0.0)) == [0.0, 0.0]


def test_a_part_has() -> None:
    assert early(late(1 << 20, 0.1)) == pytest.approx([0.1 * 209715.2], rel=1e-3)


def test_of_one_that_moved_before_nothing_is_told() -> None:
    assert early(late(1 << 20, 0.5)) == [None]


def test_what_small_blocks_do_counts_for_larger_ones() -> None:
    """X_hi of the largest that moves before: some of a larger one's blocks may be as small."""
    found = early(late(64, 1.0), late(4096, 1.0), late(65536, 0.0), late(1 << 20, 0.0))
    assert found == [None, None, pytest.approx(819.2), pytest.approx(819.2)]


def test_of_a_size_that_was_not_measured_nothing_is_told() -> None:
    assert early_ns([late(123, 0.0)], [whole(size) for size in SIZES]) == {}


def test_the_table_says_it_only_between_sizes_that_both_have_shown_it() -> None:
    rows = ["pingpong intra-node 0 1 1 warm 9 100 100 100 100"]
    for size in SIZES:
        least = size // 10
        rows.append(
            f"collective MPI_Alltoall 2 intra-node {size} {2 * size} 9 {least} {least} {2 * least}"
        )
        rows.append(f"apart MPI_Alltoall 2 intra-node {size} 7 {size if size < 65536 else 0}")
    profile = profile_of(rows)
    assert parse(json.loads(json.dumps(profile.to_json()))) == profile
    text = format_table(profile).split("collective MPI_Alltoall 2 any intra-node\n")[1]
    heads = [int(line.split()[5]) for line in text.splitlines() if line.startswith("point")]
    assert heads[:4] == [-1, -1, 818, 818]
    assert all(head >= 818 for head in heads[4:])


def profile_of(rows: list[str]) -> MachineProfile:
    head = ["# imbrex-probes 1", "# library Open MPI v4.1.4, package", "# ranks 2", "# host 0 0 a"]
    return assemble(read_columns([*head, *rows, "# end"]), {}, quick=True)
