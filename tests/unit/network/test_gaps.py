"""How fast data of any size can move: bursts, spread and what the runtime's table makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from imbrex.network.columns import RoundTrip, Stream
from imbrex.network.gaps import (
    Moved,
    behind_burst_s,
    least_ns,
    moved,
    moved_by_messages,
    sustained,
)
from imbrex.network.interpolation import transfer_time
from imbrex.network.profile import Collective, CollectivePoint, MachineProfile, NetworkPath, Point
from imbrex.network.table import FAR_BYTES, format_table

KIB, MIB = 1 << 10, 1 << 20


def exactly(size: int, time_ns: float, message: int | None = None) -> Moved:
    """Each time as long as the shortest."""
    return moved(size, message or size, time_ns, time_ns)


def bucket(size: int) -> float:
    """Nanoseconds through a bucket of 128 KiB that fills at 10 ns a byte, over a link of 0.5."""
    return max(0.5 * size, 10 * (size - 128 * KIB))


SIZES = [64 * KIB, 256 * KIB, MIB]
BURSTS = [exactly(size, bucket(size)) for size in SIZES]
BURSTS.append(exactly(4 * MIB, bucket(4 * MIB), 256 * KIB))


def test_a_burst_is_allowed_once() -> None:
    gap, burst = sustained(BURSTS, [], SIZES)
    # 4 MiB took 10 ns for each byte but 131,072: 40,632,320 ns.
    assert gap == pytest.approx(40_632_320 / 4_194_304)
    # 256 KiB took 1,310,720 ns, in which 135,300.1 bytes move at that gap.
    assert burst == 126_844
    path = NetworkPath((), 0.5e-9, sustained_gap_s_per_byte=gap * 1e-9, burst_bytes=burst)
    found = 1e9 * behind_burst_s({"inter-node": path}, "inter-node", 1, 8 * MIB)
    assert found == pytest.approx(9.6875 * (8_388_608 - 126_844))
    assert 0.96 * bucket(8 * MIB) < found < bucket(8 * MIB)


def test_most_bytes_that_were_disturbed_do_not_decide() -> None:
    """The stream took twice its time; messages of 256 KiB and 1 MiB lie 10 ns a byte apart."""
    disturbed = [*BURSTS[:-1], exactly(4 * MIB, 2 * bucket(4 * MIB), 256 * KIB)]
    gap, burst = sustained(disturbed, [], SIZES)
    assert gap == pytest.approx(10.0)
    assert burst == 128 * KIB


def test_times_that_vary_leave_room_for_a_faster_one() -> None:
    varying = [*BURSTS[:-1], moved(4 * MIB, 256 * KIB, 40_000_000, 42_000_000)]
    assert sustained(varying, [], SIZES)[0] == pytest.approx(38_000_000 / 4_194_304)
    hopeless = [*BURSTS[:-1], moved(4 * MIB, 256 * KIB, 40_000_000, 80_000_000)]
    assert sustained(hopeless, [], SIZES) == (0.0, 0)


def test_single_messages_of_sizes_beside_the_ping_pong_do_not_stand_for_it() -> None:
    """Of another experiment, in cold memory: 512 KiB took longer than 1 MiB of the ping-pong."""
    cold = exactly(512 * KIB, 2 * bucket(MIB))
    assert sustained([*BURSTS, cold], [], SIZES) == sustained(BURSTS, [], SIZES)


def test_what_is_not_measured_with_large_messages_is_not_known() -> None:
    small = [exactly(1000, 500.0), exactly(64 * 1000, 32000.0, 1000)]
    assert sustained(small, [], [1000]) == (0.0, 0)


def test_other_ways_make_it_faster_and_never_slower() -> None:
    slow, fast = exactly(4 * MIB, 5e7), exactly(4 * MIB, 2e7)
    assert sustained(BURSTS, [slow], SIZES) == sustained(BURSTS, [], SIZES)
    assert sustained(BURSTS, [exactly(64 * MIB, 6e8)], SIZES)[0] < sustained(BURSTS, [], SIZES)[0]
    assert sustained(BURSTS, [fast], SIZES)[0] == pytest.approx(2e7 / 4_194_304)


def test_a_part_of_what_moved_took_its_part_of_the_time_at_most() -> None:
    seen = [exactly(1000, 900.0), exactly(10_000, 2000.0)]
    assert least_ns(seen, 1000, 10_000) == 200
    assert least_ns([exactly(4500, 600.0), *seen], 1000, 10_000) == 150
    # A stream of a small buffer, which a cache may hold, does not bound large messages.
    assert least_ns([exactly(20_000, 100.0, 100), *seen], 10_000, 10_000) == 2000


def test_latencies_move_no_data_and_the_quietest_round_counts() -> None:
    trip = RoundTrip("inter-node", (0, 1), 1, "warm", 9, 10.0, 10.0, 10.0, 10.0)
    large = RoundTrip("inter-node", (0, 1), 1000, "warm", 9, 500.0, 500.0, 520.0, 600.0)
    stream = Stream("inter-node", (0, 1), 1000, 4, 9, 1500.0, 1500.0)
    disturbed = RoundTrip("inter-node", (0, 1), 1000, "cold", 9, 510.0, 600.0, 2000.0, 9000.0)
    found = moved_by_messages([trip, large, disturbed], [stream], [(2000, 930.0), (0, 5.0)])
    assert found == [
        Moved(1, 1, 0.0, 0.0),
        Moved(1000, 1000, 470.0, 450.0),
        Moved(4000, 1000, 1450.0, 1450.0),
        Moved(2000, 2000, 900.0, 900.0),
    ]


def test_partners_may_move_their_shares_at_once_over_the_fastest_path() -> None:
    far = NetworkPath((), 0.0, sustained_gap_s_per_byte=10e-9, burst_bytes=1000)
    near = NetworkPath((), 0.0, sustained_gap_s_per_byte=1e-9, burst_bytes=0)
    assert behind_burst_s({"inter-node": far}, "inter-node", 1, 3000) == pytest.approx(20e-6)
    assert behind_burst_s({"inter-node": far}, "inter-node", 3, 6000) == pytest.approx(10e-6)
    assert behind_burst_s({"inter-node": far}, "inter-node", 3, 2000) == 0
    both = {"inter-node": far, "intra-node": near, "self": NetworkPath((), 0.0)}
    assert behind_burst_s(both, "inter-node", 1, 3000) == pytest.approx(3e-6)
    assert behind_burst_s({"inter-node": far}, "intra-node", 1, 3000) == 0


def convex(slopes: list[float], knots: list[int]) -> Callable[[float], float]:
    """The time through a chain of buckets: slopes ascend."""
    ascending = sorted(slopes)

    def time(size: float) -> float:
        ends, total, before = [*sorted(knots), math.inf], 0.0, 0.0
        for slope, end in zip(ascending, ends, strict=True):
            total += slope * max(0.0, min(size, end) - before)
            before = end
        return total

    return time


@given(
    st.lists(st.floats(0.01, 50), min_size=3, max_size=3),
    st.lists(st.integers(1, 2 * MIB), min_size=2, max_size=2),
    st.sampled_from([MIB, 4 * MIB, 8 * MIB]),
    st.integers(2, 16),
    st.integers(0, 1 << 34),
)
def test_no_chain_of_buckets_is_faster_than_its_envelope(
    slopes: list[float], knots: list[int], last: int, messages: int, further: int
) -> None:
    time = convex(slopes, knots)
    sizes = [last >> shift for shift in range(0, 20, 2)]
    seen = [exactly(size, time(size)) for size in sizes]
    seen.append(exactly(messages * last // 2, time(messages * last // 2), last // 2))
    gap, burst = sustained(seen, [], sizes)
    for m in seen:
        assert gap * (m.size_bytes - burst) <= m.seen_ns * (1 + 1e-9)
    size = max(m.size_bytes for m in seen) + further
    assert gap * (size - burst) <= time(size) * (1 + 1e-9)


def profile(path: NetworkPath, *collectives: Collective) -> MachineProfile:
    paths = {"inter-node": path}
    return MachineProfile("lib", "1", ("a", "b"), 2, {}, paths, collectives, "", "", True)


def x_lo_ns(lines: list[str], size: int) -> float:
    """As the runtime interpolates between the points of one curve."""
    points = [(int(w[1]), int(w[2])) for w in (line.split() for line in lines) if w[0] == "point"]
    (a, low), (b, high) = next(
        pair for pair in pairwise(points) if pair[0][0] <= size <= pair[1][0]
    )
    return low + (high - low) * (size - a) / (b - a)


@example(1, 7.94516383307305e-08, 7.94516383307305e-08, 0.0, 12844083, 12844071)
@given(
    st.integers(1, 8 * MIB),
    st.floats(1e-12, 1e-7),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 16 * MIB),
    st.integers(1, 1 << 30),
)
def test_the_table_stays_below_the_envelope(
    last: int, sustained_s: float, peak_part: float, x_lo_part: float, burst: int, further: int
) -> None:
    peak_s, x_lo_s = peak_part * sustained_s, x_lo_part * sustained_s * last
    points = (Point(last, x_lo_s, max(2 * sustained_s * last, 1e-6)),)
    path = NetworkPath(points, peak_s, sustained_gap_s_per_byte=sustained_s, burst_bytes=burst)
    lines = format_table(profile(path)).splitlines()
    size = last + further
    least = max(
        transfer_time(points, size, peak_s).x_lo_s,
        behind_burst_s({"inter-node": path}, "inter-node", 1, size),
    )
    found = x_lo_ns(lines, size)
    assert found <= 1e9 * least * (1 + 1e-9) + 1
    # It gives up a nanosecond at each of its points, what the last byte before it bends takes, and
    # a thousandth where it need not bend.
    if x_lo_s + peak_s * further > sustained_s * (size - burst):
        assert found >= 0.999 * (1e9 * (least - sustained_s) - 2)


def test_a_collective_of_few_bytes_measured_grows_with_what_the_path_lets_through() -> None:
    """Of an alltoall of 8 MiB on two ranks 4 MiB move, 1 MiB of it in a burst."""
    path = NetworkPath(
        (Point(1, 0.0, 1e-6),), 1e-10, sustained_gap_s_per_byte=1e-8, burst_bytes=MIB
    )
    points = (CollectivePoint(128, 0.0, 1e-5),)
    found = profile(path, Collective("MPI_Alltoall", 2, "inter-node", "any", points))
    lines = format_table(found).splitlines()
    curve = lines[lines.index("collective MPI_Alltoall 2 any inter-node") + 1 : -1]
    assert [int(line.split()[1]) for line in curve] == [128, 2 * MIB, FAR_BYTES]
    assert x_lo_ns(curve, 8 * MIB) == pytest.approx(10 * 3 * MIB, rel=1e-6)
    assert x_lo_ns(curve, MIB) == 0
