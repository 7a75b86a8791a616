"""Transfer times of one-sided operations, by hand and for any rows."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.errors import ImbrexError
from imbrex.network.columns import OneSidedRow, read_columns
from imbrex.network.one_sided import assemble
from imbrex.network.profile import MachineProfile, NetworkPath, OneSided, Point
from imbrex.network.reading import load, parse
from imbrex.network.table import format_table


def row(
    operation: str, size: int, shortest: float, high: float, gap: float, left: float = 0.0
) -> OneSidedRow:
    return OneSidedRow(operation, "intra-node", size, 8, shortest, shortest, high, gap, left)


def test_two_windows_by_hand() -> None:
    """The faster window bounds from below, the slower from above."""
    found = assemble(
        [
            row("MPI_Put", 1000, 300, 400, 100, left=50),
            row("MPI_Put", 1000, 2000, 2400, 1500, left=70),
            row("MPI_Put", 100000, 22500, 25000, 20000, left=30000),
        ],
        {"intra-node": 0.2e-9},
    )
    (put,) = found
    assert put.gap_s_per_byte == pytest.approx(0.1e-9)
    small, large = put.points
    assert (small.x_lo_s, small.x_hi_s, small.tail_s) == pytest.approx((100e-9, 2400e-9, 70e-9))
    # 100,000 B at 0.1 ns/B; a tail is never longer than the transfer
    assert (large.x_lo_s, large.x_hi_s, large.tail_s) == pytest.approx((10e-6, 25e-6, 25e-6))


def test_few_small_operations_on_a_busy_machine() -> None:
    """One of 8 bytes that took 2 ms: larger ones need not take 0.25 ms a byte."""
    rows = [row("MPI_Put", 8, 2e6, 8e6, 2e6)]
    (beside_messages,) = assemble(rows, {"intra-node": 1e-9})
    assert beside_messages.points[0].x_lo_s == pytest.approx(8e-9)
    assert beside_messages.gap_s_per_byte == pytest.approx(1e-9)
    for unknown in ({}, {"intra-node": 0.0}):
        (alone,) = assemble(rows, unknown)
        assert alone.points[0].x_lo_s == pytest.approx(2e-3)
        assert alone.gap_s_per_byte == 0


def test_an_accumulate_may_be_done_as_a_put() -> None:
    found = {
        o.operation: o
        for o in assemble(
            [row("MPI_Accumulate", 1000, 900, 950, 800), row("MPI_Put", 1000, 300, 310, 200)], {}
        )
    }
    assert found["MPI_Accumulate"].points[0].x_lo_s == pytest.approx(200e-9)
    assert found["MPI_Accumulate"].points[0].x_hi_s == pytest.approx(950e-9)
    assert found["MPI_Put"].points[0].x_hi_s == pytest.approx(310e-9)


times = st.floats(1, 1e9)


@given(
    st.lists(
        st.builds(
            lambda o, s, low, more, gap, left: row(o, s, low, low + more, gap, left),
            st.sampled_from(["MPI_Put", "MPI_Accumulate"]),
            st.sampled_from([8, 128, 4096]),
            *(times, times, times, times),
        ),
        min_size=1,
    )
)
def test_never_above_what_was_seen(rows: list[OneSidedRow]) -> None:
    for found in assemble(rows, {}):
        for point in found.points:
            here = [
                r
                for r in rows
                if (r.operation, r.size_bytes) == (found.operation, point.size_bytes)
            ]
            assert point.x_lo_s <= point.x_hi_s
            assert point.tail_s is not None and point.tail_s <= point.x_hi_s
            for r in here:
                assert point.x_lo_s <= r.min_ns * 1e-9 * (1 + 1e-12)
                assert point.x_hi_s >= r.p95_ns * 1e-9


PROFILE = MachineProfile(
    *("MPICH", "4.0.2", ("a",), 2, {}),
    {"intra-node": NetworkPath((Point(1, 1e-9, 2e-9),), 1e-9)},
    *((), "now", "0", True, None),
    (OneSided("MPI_Put", "intra-node", 1e-9, (Point(8, 8e-9, 1e-6, 5e-7),)),),
)


def test_profile_keeps_them_and_the_runtime_gets_them(tmp_path: Path) -> None:
    PROFILE.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json") == PROFILE
    table = format_table(PROFILE)
    assert "collective MPI_Put 2 any intra-node\npoint 8 8 1000 500 -1\n" in table


def test_profiles_from_before_have_none() -> None:
    old = json.loads(json.dumps(PROFILE.to_json()))
    del old["one_sided"]
    assert parse(old) == dataclasses.replace(PROFILE, one_sided=())


def test_a_broken_entry_is_named() -> None:
    bad = json.loads(json.dumps(PROFILE.to_json()))
    bad["one_sided"][0]["points"][0]["x_lo_s"] = -1
    with pytest.raises(ImbrexError, match=r"one_sided\[0\]\.points\[0\]\.x_lo_s is negative"):
        parse(bad)


def test_the_row_that_the_probes_print() -> None:
    lines = ["# imbrex-probes 1", "rma MPI_Put self 8 2000 30 40 41 15 7"]
    (found,) = read_columns(lines).one_sided
    assert found == OneSidedRow("MPI_Put", "self", 8, 2000, 30, 40, 41, 15, 7)
