"""Which receive takes which send, and which processes a collective is of, in recordings by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from imbrex.network.points import NetworkPoints
from imbrex.profile.recording_format import ARRIVED, CALL, GROUP, POST, SEND
from imbrex.replay.matching import match
from imbrex.replay.modes import AS_WRITTEN
from imbrex.replay.replay import replay_s
from imbrex.replay.schedule import ReplayError, make_schedule

NETWORK = NetworkPoints(100e-9, 1e-9)


def ns(run: Any, mode: str = AS_WRITTEN, **more: Any) -> float:
    return float(replay_s(make_schedule(run), NETWORK, mode, **more)[0]) * 1e9


@pytest.fixture
def two_sizes(message: Any) -> Any:
    """Rank 0 sends 1000 elements, then 10, with one tag; rank 1 has receives for both."""

    def make(*communicators: int) -> dict[int, list[Any]]:
        def one(rank: int, number: int, size: int, **more: Any) -> Any:
            return message(rank, number, 1 - rank, [0.0] * size, **more)

        first, second, at_first, at_second = communicators
        return {
            0: [one(0, 0, 1000, is_send=True, communicator=first, site="app.c:1"),
                one(0, 1, 10, is_send=True, communicator=second, site="app.c:2")],
            1: [one(1, 0, 10, communicator=at_second), one(1, 1, 1000, communicator=at_first)],
        }  # fmt: skip

    return make


SENDS = [(CALL, 0, 0.0), (SEND, 0, 0.0), (CALL, 0, 0.0), (SEND, 1, 0.0), (CALL, 3, 0.0)]


def test_communicators_keep_messages_apart(two_sizes: Any, recorded: Any) -> None:
    # The short one is taken first; ranks name the communicators differently.
    receives = [
        *((CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0)),
        *((CALL, 1, 0.0), (POST, 1, 0.0), (ARRIVED, 1, 0.0), (CALL, 3, 0.0)),
    ]
    run = recorded(two_sizes(0, 1, 1, 0), {0: SENDS, 1: receives})
    assert [place.send for place in match(run)[1]] == [1, 1, 0, 0]


def test_receives_take_in_the_order_in_which_they_were_posted(
    two_sizes: Any, recorded: Any
) -> None:
    # Posted as they are sent, awaited the other way round.
    receives = [(CALL, 1, 0.0), (POST, 1, 0.0), (POST, 0, 0.0), (CALL, 1, 0.0)]
    receives += [(ARRIVED, 0, 0.0), (ARRIVED, 1, 0.0), (CALL, 3, 0.0)]
    run = recorded(two_sizes(0, 0, 0, 0), {0: SENDS, 1: receives})
    assert [place.send for place in match(run)[1]] == [0, 1, 1, 0]


def test_a_receive_that_takes_nothing_has_no_place(two_sizes: Any, recorded: Any) -> None:
    receives = [(CALL, 1, 0.0), (POST, 1, 0.0), (POST, 0, 0.0), (CALL, 1, 0.0), (ARRIVED, 1, 0.0)]
    run = recorded(two_sizes(0, 0, 0, 0), {0: SENDS[:2], 1: receives})
    assert [(place.number, place.send) for place in match(run)[1]] == [(0, 0), (-1, -1), (0, 0)]


def test_messages_to_oneself_are_matched(message: Any, recorded: Any) -> None:
    # Three sends and three receives of one rank; 100 ns and a ns a byte each, awaited in turn.
    messages = {0: [message(0, 0, 0, [0.0] * 10, is_send=True), message(0, 1, 0, [0.0] * 10)]}
    once = [(CALL, 0, 500.0), (SEND, 0, 0.0), (POST, 1, 0.0), (ARRIVED, 1, 0.0)]
    run = recorded(messages, {0: [*once * 3, (CALL, 3, 0.0)]})
    places = match(run)[0]
    assert [place.number for place in places] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert {place.send for place in places} == {0}
    assert ns(run) == pytest.approx(3 * (500 + 100 + 80))


def test_ranks_end_where_the_recorded_part_of_others_is_over(two_sizes: Any, recorded: Any) -> None:
    # The part of rank 0 that was recorded ends before it sends a second time.
    receives = [(CALL, 1, 0.0), (POST, 1, 0.0), (ARRIVED, 1, 0.0)]
    receives += [(CALL, 1, 7000.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0), (CALL, 3, 9000.0)]
    run = recorded(two_sizes(0, 0, 0, 0), {0: SENDS[:2], 1: receives})
    with pytest.raises(ReplayError, match="ranks wait for ever"):
        ns(run)
    assert ns(replace(run, sampled=0.5)) == pytest.approx(100 + 8000 + 7000)


def test_a_receive_is_in_the_mode_of_the_send_that_it_takes(two_sizes: Any, recorded: Any) -> None:
    # Only the second of two sends of one tag is awaited later: 5000 ns later, when it is read.
    messages = two_sizes(0, 0, 0, 0)
    messages[1][0] = replace(messages[1][0], time_ns=messages[1][0].time_ns + 5000.0)
    receives = [
        *((CALL, 1, 0.0), (POST, 1, 0.0), (ARRIVED, 1, 0.0)),
        *((CALL, 1, 0.0), (POST, 0, 0.0), (ARRIVED, 0, 0.0), (CALL, 3, 6000.0)),
    ]
    run = recorded(messages, {0: SENDS, 1: receives})
    # On the link 8000 ns, then 80.
    assert ns(run) == pytest.approx(100 + 8000 + 80 + 6000)
    only = ns(run, "independent", only=lambda m: m.site == "app.c:2")
    assert only == pytest.approx(100 + 8000 + 6000)


@pytest.mark.parametrize("members", [7, 0])
def test_a_collective_is_met_by_the_processes_of_its_communicator(
    recorded: Any, members: int
) -> None:
    # Two pairs of four ranks; of the first pair one comes 1000 ns late, in the second both 3000.
    late = {0: 0.0, 1: 1000.0, 2: 3000.0, 3: 3000.0}
    rows = {
        rank: [(CALL, 2, ns), (GROUP, 0, 0.0), (CALL, 3, 5000.0 if rank == 0 else 0.0)]
        for rank, ns in late.items()
    }
    run = recorded({rank: [] for rank in late}, rows)
    pairs = {rank: [(members and members + rank // 2, 2)] for rank in late}
    run = replace(run, groups=pairs)
    # 2 log2(2) latencies, after the later of the pair; if that is not known, after rank 0 itself.
    assert ns(run) == pytest.approx((1000 if members else 0) + 200 + 5000)


def test_a_collective_of_one_process_takes_no_time(recorded: Any) -> None:
    rows = {rank: [(CALL, 2, 10.0), (GROUP, 0, 0.0), (CALL, 3, 5.0)] for rank in (0, 1)}
    run = replace(recorded({0: [], 1: []}, rows), groups={0: [(5, 1)], 1: [(6, 1)]})
    assert ns(run) == pytest.approx(15)
