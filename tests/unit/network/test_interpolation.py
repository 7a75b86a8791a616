"""Transfer times between the measured sizes: the rules of docs/reference/machine-profile.md."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.network import Point, transfer_time
from imbrex.network.profile import MachineProfile, NetworkPath
from imbrex.network.table import format_table

CURVE = (
    Point(1, 1e-9, 100e-9, 100e-9, 100e-9),
    Point(100, 10e-9, 300e-9, 200e-9, None),
    Point(200, 20e-9, 500e-9, 0.0, 250e-9),
)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, (0, 0, 0, 0)),
        (1, (1, 100, 100, 100)),
        (100, (10, 300, 200, None)),
        (150, (15, 400, 100, None)),
        (200, (20, 500, 0, 250)),
        (400, (20, 1000, 0, 500)),
    ],
)
def test_known_values(size: int, expected: tuple[float | None, ...]) -> None:
    found = transfer_time(CURVE, size)
    for value, ns in zip(
        (found.x_lo_s, found.x_hi_s, found.tail_s, found.head_s), expected, strict=True
    ):
        assert value is None if ns is None else value == pytest.approx(ns * 1e-9)


@st.composite
def rising(draw: st.DrawFn) -> tuple[Point, ...]:
    sizes = sorted(draw(st.sets(st.integers(1, 1 << 26), min_size=1, max_size=8)))
    low = high = 0.0
    made = []
    for size in sizes:
        low += draw(st.floats(0, 1e-3))
        high = max(high, low) + draw(st.floats(1e-9, 1e-3))
        share = draw(st.floats(0, 1))
        made.append(Point(size, low, high, share * high, (1 - share) * high))
    return tuple(made)


@given(rising(), st.integers(1, 1 << 28), st.integers(1, 1 << 28))
def test_larger_messages_take_longer(curve: tuple[Point, ...], a: int, b: int) -> None:
    less, more = (transfer_time(curve, size) for size in sorted((a, b)))
    hair = 1 + 1e-9
    assert less.x_lo_s <= more.x_lo_s * hair
    assert less.x_hi_s <= more.x_hi_s * hair


@given(rising(), st.integers(0, 1 << 28))
def test_bounds_keep_their_order(curve: tuple[Point, ...], size: int) -> None:
    t = transfer_time(curve, size)
    hair = 1 + 1e-9
    assert 0 <= t.x_lo_s <= t.x_hi_s * hair
    assert t.tail_s is not None and t.head_s is not None
    assert 0 <= t.tail_s <= t.x_hi_s * hair
    assert 0 <= t.head_s <= t.x_hi_s * hair


def profile_of(points: tuple[Point, ...]) -> MachineProfile:
    return MachineProfile(
        library_name="MPI",
        library_version="1",
        hosts=(),
        ranks=2,
        settings={},
        paths={"intra-node": NetworkPath(points, 0.0)},
        collectives=(),
        created="",
        imbrex_version="",
        quick=True,
    )


def test_table_of_known_points() -> None:
    assert format_table(profile_of(CURVE)).splitlines() == [
        "imbrex-table 1",
        "path intra-node",
        "point 1 1 100 100 100",
        "point 100 10 300 200 -1",
        "point 200 20 500 0 250",
        # X_lo does not grow where no gap is known; the rest does, by 2^40 / 200.
        "point 1099511627776 20 2748779069440 0 1374389534720",
        "end",
    ]


@pytest.mark.parametrize(("seconds", "line"), [(5e-4, "progress 500000"), (0.0, "progress 1")])
def test_table_of_a_recommended_interval(seconds: float, line: str) -> None:
    profile = replace(profile_of(CURVE), progress_interval_s=seconds)
    assert format_table(profile).splitlines()[:2] == ["imbrex-table 1", line]


def test_a_latency_in_the_last_lower_bound_does_not_grow_with_size() -> None:
    # 10 ns a byte and a last point whose X_lo holds 1 ms of latency: 1 MB takes 10 ms, not 17.
    points = (Point(64000, 1.64e-3, 2e-3),)
    assert transfer_time(points, 1_000_000, 1e-8).x_lo_s == pytest.approx(11e-3)
    assert transfer_time(points, 1_000_000).x_lo_s == points[0].x_lo_s
    assert transfer_time(points, 1_000_000).x_hi_s == pytest.approx(2e-3 * 1e6 / 64000)


@given(rising())
def test_table_rounds_outwards(curve: tuple[Point, ...]) -> None:
    lines = format_table(profile_of(curve)).splitlines()[2:-2]
    for line, point in zip(lines, curve, strict=True):
        size, low, high, tail, head = map(int, line.split()[1:])
        assert size == point.size_bytes
        # A millionth of a nanosecond is the rounding of seconds that were nanoseconds once.
        assert -1e-5 <= point.x_lo_s * 1e9 - low < 1.001
        assert math.isclose(high, point.x_hi_s * 1e9, abs_tol=1.001)
        assert high >= point.x_hi_s * 1e9 - 1e-5
        assert tail <= high and head <= high


@given(st.floats(1e-9, 1e3), st.integers(1, 1 << 30))
def test_the_table_stays_within_what_the_runtime_takes(x_hi_s: float, size: int) -> None:
    """A disturbed time of few bytes grows beyond every clock; its slope must not be cut."""
    lines = format_table(profile_of((Point(size, 0.0, x_hi_s, 0.0, 0.0),))).splitlines()
    points = [list(map(int, line.split()[1:])) for line in lines if line.startswith("point")]
    assert all(value <= 1 << 50 for point in points for value in point)
    (first_size, _, first_ns, _, _), *far = points
    for far_size, _, far_ns, _, _ in far:
        assert far_ns * first_size >= first_ns * far_size * (1 - 1e-9) - far_size
    # Without a far point the runtime's own rule serves, which is the same for X_hi.
    assert far or first_ns * 2 > 1 << 50 or size * 2 > 1 << 40


def test_classes_stand_where_they_may_change():
    """Both ends of each range of sizes that agree; nothing where nothing was found out."""
    unknown, none = "-1 0 1000 0 1000 0 1000 0 1000", Point(1, 0.0, 1e-6)
    assert not [t for t in format_table(profile_of((none,))).splitlines() if "class" in t]
    points = tuple(
        Point(size, 0.0, 1e-6, None, None, returns, None, name)
        for size, returns, name in (
            (1, True, "unknown"),
            (2, True, "third-party"),
            (4, True, "third-party"),
            (8, True, "third-party"),
            (16, False, "one-sided"),
            (32, False, "two-sided"),
            (64, None, "unknown"),
        )
    )
    lines = format_table(profile_of(points)).splitlines()
    assert [line for line in lines if "class" in line] == [
        "class 1 1 0 1000 0 1000 0 1000 0 1000",
        "class 2 1 166 1000 166 1000 166 1000 500 1000",
        "class 8 1 166 1000 166 1000 166 1000 500 1000",
        "class 16 0 0 167 0 1000 0 1000 500 1000",
        "class 32 0 0 167 0 167 0 167 500 1000",
        f"class 64 {unknown}",
    ]


def test_the_runtime_gets_the_shortest_time_where_it_is_known() -> None:
    """Rounded down; not of what lies beyond the sizes that were measured."""
    lines = format_table(profile_of((CURVE[0], replace(CURVE[1], least_s=120.7e-9)))).splitlines()
    assert [line.split()[6:] for line in lines if line.startswith("point")] == [[], ["120"], []]
