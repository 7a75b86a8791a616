"""Clocks read by one another: points, lines through them, and how far off they may be."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

RUNTIME = Path(__file__).resolve().parents[3] / "runtime"
UNKNOWN = 2**63 - 1
SECOND = 10**9


class Point(ctypes.Structure):
    _fields_ = (
        ("local_ns", ctypes.c_int64),
        ("reference_ns", ctypes.c_int64),
        ("error_ns", ctypes.c_int64),
    )


class Line(ctypes.Structure):
    _fields_ = (
        ("local0_ns", ctypes.c_int64),
        ("reference0_ns", ctypes.c_int64),
        ("excess", ctypes.c_double),
        ("error_ns", ctypes.c_int64),
    )


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("clock_line") / "clock_line.so"
    words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    words += [f"-I{RUNTIME}", "-o", str(library), str(RUNTIME / "core" / "clock_line.c")]
    subprocess.run(words, check=True)
    loaded = ctypes.CDLL(str(library))
    for name in ("ix_clock_same", "ix_clock_through", "ix_clock_chain"):
        getattr(loaded, name).restype = Line
    loaded.ix_clock_compared.restype = Point
    loaded.ix_clock_compared.argtypes = [ctypes.c_int64] * 3
    loaded.ix_clock_read.restype = ctypes.c_int64
    loaded.ix_clock_read.argtypes = [ctypes.POINTER(Line), ctypes.c_int64]
    return loaded


def _read(lines: ctypes.CDLL, line: Line, local_ns: int) -> int:
    return int(lines.ix_clock_read(ctypes.byref(line), local_ns))


def test_a_round_trip_bounds_the_offset_by_its_half(lines: ctypes.CDLL) -> None:
    point = lines.ix_clock_compared(1000, 5000, 1101)
    assert (point.local_ns, point.reference_ns, point.error_ns) == (1050, 5000, 51)


def test_a_clock_is_its_own_reference(lines: ctypes.CDLL) -> None:
    assert _read(lines, lines.ix_clock_same(), 123456789012345) == 123456789012345


def test_a_line_goes_through_both_points_and_keeps_the_larger_error(lines: ctypes.CDLL) -> None:
    line = lines.ix_clock_through(
        Point(0, 7 * SECOND, 100), Point(100 * SECOND, 107 * SECOND + 5_000_000, 300)
    )
    assert line.excess == pytest.approx(5e-5)
    assert line.error_ns == 300
    assert _read(lines, line, 0) == 7 * SECOND
    assert _read(lines, line, 50 * SECOND) == 57 * SECOND + 2_500_000


@pytest.mark.parametrize("gained_ns", [-2_000_000, 2_000_000, 3 * SECOND])
def test_a_clock_that_jumped_is_not_believed(lines: ctypes.CDLL, gained_ns: int) -> None:
    line = lines.ix_clock_through(Point(0, 0, 10), Point(SECOND, SECOND + gained_ns, 10))
    assert line.error_ns == UNKNOWN


def test_a_short_run_with_uncertain_points_is_not_a_jump(lines: ctypes.CDLL) -> None:
    line = lines.ix_clock_through(Point(0, 0, 60_000), Point(1_000_000, 1_100_000, 60_000))
    assert line.error_ns == 60_000


@pytest.mark.parametrize("end_ns", [0, -5])
def test_no_line_goes_through_one_moment(lines: ctypes.CDLL, end_ns: int) -> None:
    assert lines.ix_clock_through(Point(0, 0, 1), Point(end_ns, 0, 1)).error_ns == UNKNOWN


def test_an_unknown_link_makes_the_chain_unknown(lines: ctypes.CDLL) -> None:
    known, unknown = Line(0, 0, 0.0, 5), Line(0, 0, 0.0, UNKNOWN)
    assert lines.ix_clock_chain(known, unknown).error_ns == UNKNOWN
    assert lines.ix_clock_chain(unknown, known).error_ns == UNKNOWN
    assert lines.ix_clock_chain(known, known).error_ns == 10


@given(
    offsets=st.tuples(*[st.integers(-(10**15), 10**15)] * 2),
    excesses=st.tuples(*[st.floats(-2e-4, 2e-4)] * 2),
    delays=st.lists(st.integers(0, 100_000), min_size=8, max_size=8),
    length_ns=st.integers(SECOND, 10**13),
    share=st.floats(0, 1),
)
def test_the_truth_lies_within_the_error_of_a_chain(
    lines: ctypes.CDLL,
    offsets: tuple[int, int],
    excesses: tuple[float, float],
    delays: list[int],
    length_ns: int,
    share: float,
) -> None:
    """Three clocks of known rate and offset, compared over links of any asymmetry."""

    def clock(which: int, true_ns: int) -> int:
        """The reference (0), the middle and the last clock at a true time."""
        if which == 0:
            return true_ns
        return true_ns + offsets[which - 1] + round(excesses[which - 1] * true_ns)

    def compared(child: int, parent: int, true_ns: int, there: int, back: int) -> Point:
        point: Point = lines.ix_clock_compared(
            clock(child, true_ns),
            clock(parent, true_ns + there),
            clock(child, true_ns + there + back),
        )
        return point

    chained = [
        lines.ix_clock_through(
            compared(child, child - 1, 0, *delays[4 * child - 4 : 4 * child - 2]),
            compared(child, child - 1, length_ns, *delays[4 * child - 2 : 4 * child]),
        )
        for child in (1, 2)
    ]
    line = lines.ix_clock_chain(chained[1], chained[0])
    when_ns = round(share * length_ns)
    off_ns = abs(_read(lines, line, clock(2, when_ns)) - when_ns)
    # rounding to ns, in doubles of 53 bits, and errors in ns of clocks that run a little apart
    assert off_ns <= line.error_ns * (1 + 1e-3) + 8
