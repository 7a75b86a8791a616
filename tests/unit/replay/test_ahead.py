"""Messages that pass ahead of a network's rate: 10 ns a byte, of which 64 KiB may be behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from imbrex.network.profile import LogGP, MachineProfile, NetworkPath, Point
from imbrex.profile.call_log import CALL_DTYPE, Kind
from imbrex.profile.run import Run
from imbrex.replay.ahead import Sent, ahead_bytes, pass_ahead, sent
from imbrex.replay.run_log import RunLog
from imbrex.replay.situation import measured_route, situations

LOGGP = LogGP(
    L_s=0, o_s_s=1e-6, o_r_s=1e-6, g_s=0, G_s_per_byte=1e-9, EEL_s=2e-6, residual=0.3
)  # fmt: skip


def point(size: int, median_s: float, least_s: float) -> Point:
    return Point(size, 0.0, 1.0, median_s=median_s, least_s=least_s)


LIMITED = NetworkPath(
    (
        point(1, 6e-6, 6e-6),
        point(4096, 21e-6, 7e-6),
        point(65536, 340e-6, 40e-6),
        # All of it does not pass ahead.
        point(1 << 20, 9.7e-3, 9.6e-3),
    ),
    1e-9,
    LOGGP,
    sustained_gap_s_per_byte=10e-9,
    burst_bytes=65536,
)


def test_what_passes_ahead_is_as_slow_as_the_rate_and_was_faster_once() -> None:
    assert ahead_bytes(LIMITED) == 65536
    assert ahead_bytes(replace(LIMITED, sustained_gap_s_per_byte=0.0)) == 0
    # A busy machine, on a network that is not the limit.
    assert ahead_bytes(replace(LIMITED, sustained_gap_s_per_byte=1e-7)) == 0
    # Never much faster.
    points = (point(4096, 21e-6, 11e-6), point(65536, 340e-6, 171e-6))
    assert ahead_bytes(replace(LIMITED, points=points)) == 0


def every(gap_ns: int, count: int, size: int, rank: int = 0, peer: int = 1) -> Sent:
    ones = np.ones(count, np.int64)
    return Sent(rank * ones, peer * ones, gap_ns * np.arange(count), size * ones)


def both(one: Sent, other: Sent) -> Sent:
    columns = zip(vars(one).values(), vars(other).values(), strict=True)
    return Sent(*(np.concatenate(pair) for pair in columns))


@pytest.mark.parametrize(
    ("gap_ns", "count", "size", "passes"),
    [
        # 8 KiB need 81.92 us of the rate.
        (82_000, 1000, 8192, True),
        (400_000, 1000, 8192, True),
        # Each leaves 1.92 us to those behind it: the 300th waits for more than 64 KiB.
        (80_000, 250, 8192, True),
        (80_000, 400, 8192, False),
        # Eight at once, nine at once; of nine in ten find room.
        (0, 8, 8192, True),
        (0, 9, 8192, False),
        (10_000_000, 10, 65536, True),
        (10_000_000, 10, 65537, False),
    ],
)
def test_a_link_lets_through_what_was_not_used_before(
    gap_ns: int, count: int, size: int, passes: bool
) -> None:
    assert pass_ahead(LIMITED, every(gap_ns, count, size), (0, 1)) == passes


def test_nearly_all_bytes_have_to_pass() -> None:
    few, many = every(10_000_000, 100, 1000), every(0, 1, 70_000)
    assert pass_ahead(LIMITED, few, (0, 1))
    assert not pass_ahead(LIMITED, both(few, many), (0, 1))
    assert pass_ahead(LIMITED, both(every(10_000_000, 1000, 1000), many), (0, 1))


def test_ranks_of_a_node_share_its_link() -> None:
    seldom = both(every(200_000, 400, 8192, 0, 2), every(200_000, 400, 8192, 1, 3))
    assert pass_ahead(LIMITED, seldom, (0, 0, 1, 1))
    pair = both(every(100_000, 400, 8192, 0, 2), every(100_000, 400, 8192, 1, 3))
    assert pass_ahead(LIMITED, pair, (0, 1, 2, 3))
    assert not pass_ahead(LIMITED, pair, (0, 0, 1, 1))
    # What stays on the node takes nothing of it; what goes to all does.
    assert pass_ahead(LIMITED, both(every(0, 400, 8192, 0, 1), every(1, 1, 8)), (0, 0))
    assert not pass_ahead(LIMITED, every(0, 400, 8192, 0, -1), (0, 1))
    assert not pass_ahead(replace(LIMITED, points=()), pair, (0, 1, 2, 3))


def test_messages_of_a_log_and_what_collectives_are_given() -> None:
    records = np.zeros(6, CALL_DTYPE)
    records["kind"] = [Kind.SEND, Kind.RECV, Kind.FROM_ROOT, Kind.SEND, Kind.PUT, Kind.SEND]
    records["bytes"] = [100, 100, 8, 0, 30, 7]
    records["enter_ns"] = [5, 6, 7, 8, 9, 10]
    log = SimpleNamespace(
        records=records,
        rank=np.array([0, 0, 0, 1, 1, 1]),
        stream=np.array([0, 0, 0, 1, 1, 1]),
        peer=np.array([1, 1, 0, 0, 0, -1]),
        start_ns=np.array([0, 1000]),
        is_kind=lambda *wanted: np.isin(records["kind"], wanted),
    )
    found = sent(cast("RunLog", log))
    assert [column.tolist() for column in vars(found).values()] == [
        *([0, 0, 1], [1, -1, 0], [5, 7, 1009], [100, 8, 30])
    ]


def test_they_take_the_shortest_time_where_they_pass() -> None:
    profile = MachineProfile(
        "MPICH", "4.0", ("a", "b"), 2, {}, {"inter-node": LIMITED}, (), "", "", False
    )

    def sizes(messages: Sent | None) -> list[float]:
        route = measured_route(profile, "inter-node", "ideal", messages, (0, 1))
        assert route is not None
        return [size * route.byte_ns for _, size in route.sizes]

    # Without the latency of 2 us.
    in_ping_pong = [4000, 19_000, 338_000, 9_698_000]
    assert sizes(None) == pytest.approx(in_ping_pong)
    assert sizes(every(0, 400, 8192)) == pytest.approx(in_ping_pong)
    assert sizes(every(400_000, 400, 8192)) == pytest.approx([4000, 5000, 38_000, 9_698_000])


def test_on_the_own_network_and_on_that_of_a_file(tmp_path: Path) -> None:
    paths = {"inter-node": LIMITED}
    profile = MachineProfile("MPICH", "4.0", ("a", "b"), 2, {}, paths, (), "", "", False)
    there = tmp_path / "there.json"
    for file in (tmp_path / "machine.json", there):
        profile.save(file)
    ranks = np.array([(b"a",), (b"b",)], [("host", "S8")])
    run = cast("Run", SimpleNamespace(directory=tmp_path, ranks=ranks))
    for messages, moves_ns in ((every(400_000, 400, 8192), 38_000), (every(0, 400, 8192), 338_000)):
        found = situations(run, (str(there),), [], "ideal", None, messages)
        routes = [each.network.between for each in found]
        assert [route.sizes[2][1] * route.byte_ns for route in routes] == pytest.approx(
            [moves_ns, moves_ns]
        )
