"""Windows by post, start, complete and wait: from the log to times that are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.replay.epochs import EAGER, NETWORK, ROUTE, Call, ends, made_of

from imbrex.profile.call_log import Flag
from imbrex.replay.evaluate import Network, Replayer


def one_transfer(
    kind: str = "Put", start_leaves: int = 4200, begins: int = 4200
) -> list[list[Call]]:
    """Rank 0 moves 1000 bytes to or from rank 1, computes 1000 ns and completes; both compute 2000
    at the end. Rank 1 posts at 3000 and waits 900 later."""
    done = begins + 1000
    origin = [
        ("Win_start", 1000, start_leaves, [1], 1),
        (kind, begins, begins, [1], 1000),
        ("Win_complete", done, 6000, [1], 1),
    ]
    target = [("Win_post", 3000, 3100, [0], 1), ("Win_wait", 4000, 6000, [0], 1)]
    return [origin, target]


def test_start_waits_for_the_post_and_wait_for_the_data() -> None:
    # The post is there at 3000 + 1000, the put at 4000 + 1000 bytes + 1000. Complete comes at 5000
    # and tells the target behind the data, which left the link then: 6000 too.
    made = made_of(one_transfer(), 8000)
    assert made.not_replayed == {}
    assert made.missing_ns == 0
    assert ends(made) == pytest.approx([6000 + 2000, 6000 + 2000])


def test_a_small_put_is_over_for_its_origin_when_it_has_left() -> None:
    # The complete comes at 5000 and waits for nothing; its target waits for the data.
    small = Network(EAGER, EAGER)
    assert ends(made_of(one_transfer(), 8000), small) == pytest.approx([5000 + 2000, 6000 + 2000])


def test_what_is_complete_at_its_origin_has_to_arrive_for_the_unlock() -> None:
    # The put leaves at 1000, is there at 3000 and confirmed at 4000; flush_local of 1500 waits for
    # nothing.
    calls: list[Call] = [
        ("Put", 1000, 1000, [1], 1000),
        ("Win_flush_local", 1500, 2900, [1], 0),
        ("Win_unlock", 3000, 3100, [1], 0),
    ]
    small = Network(EAGER, EAGER)
    made = made_of([calls, [("Win_lock", 0, 0, [1], 0)]], 8000)
    assert ends(made, small)[0] == pytest.approx(4000 + 4900)
    assert ends(made)[0] == pytest.approx(4000 + 100 + 4900)


@pytest.mark.parametrize("call", ["Win_flush", "Win_unlock"])
def test_a_target_that_has_no_part_in_the_call_confirms_it(call: str) -> None:
    # Away at 1000, there at 3000; the answer is back at 4000. The call of 1500 took till 2000.
    calls: list[Call] = [("Put", 1000, 1000, [1], 1000), (call, 1500, 2000, [1], 0)]
    made = made_of([calls, [("Win_lock", 0, 0, [1], 0)]], 8000)
    assert ends(made)[0] == pytest.approx(4000 + 6000)
    # On a network of three times the latency the message and its answer take 4000 more.
    far = replace(ROUTE, latency_ns=3000)
    assert ends(made, Network(far, far))[0] == pytest.approx(8000 + 6000)


def test_a_get_is_there_before_the_target_is_told() -> None:
    # The get needs a latency more: 7000. Then the target is told.
    made = made_of(one_transfer("Get"), 8000)
    assert ends(made) == pytest.approx([7000 + 2000, 8000 + 2000])


def test_a_late_post_moves_the_origin_and_a_late_complete_the_target() -> None:
    made = made_of(one_transfer(), 8000)
    made.schedule.start_ns[1] += 500
    assert ends(made) == pytest.approx([6500 + 2000, 6500 + 2000])
    # 5000 ns later rank 0 starts, at 6000: its complete is at 7000, and rank 1 knows it at 8000.
    made = made_of(one_transfer(), 8000)
    made.schedule.start_ns[0] += 5000
    assert ends(made) == pytest.approx([8000 + 2000, 8000 + 2000])


def test_a_library_whose_start_returns_before_the_post() -> None:
    # The put of 1100 leaves with the complete, once the target has posted: 4000, 6000 there.
    made = made_of(one_transfer(start_leaves=1100, begins=1100), 8000)
    assert ends(made) == pytest.approx([6000 + 2000, 6000 + 2000])
    # A target that is later than the complete moves both; the start waits for nobody.
    made.schedule.start_ns[1] += 10_000
    assert ends(made) == pytest.approx([16_000 + 2000, 16_000 + 2000])


def test_there_a_put_behind_the_post_leaves_at_its_call() -> None:
    # The start takes no time of its own, so that the put leaves at 3400 and the complete comes at
    # 4400: all is there at 5400.
    made = made_of(one_transfer(start_leaves=1100, begins=3500), 8000)
    assert ends(made) == pytest.approx([5400 + 2000, 5400 + 2000])


def test_when_the_post_came_is_asked_on_the_clock_of_all() -> None:
    # On its own clock rank 0 leaves at 1100, but it began 5000 later: the post was there.
    made = made_of(one_transfer(start_leaves=1100, begins=1100), 8000, shift=(5000, 0))
    # Start at 6000, put at 6000: there at 8000.
    assert ends(made) == pytest.approx([8000 + 4000 - 2000 + 900 + 1100 - 2000, 8000 + 2000])


def test_a_start_without_check_waits_for_nobody() -> None:
    made = made_of(one_transfer(), 8000, flags=int(Flag.VARYING))
    # The put leaves at 1000 already, the complete comes at 2000.
    assert ends(made)[0] == pytest.approx(3000 + 2000)
    assert made.not_replayed == {}


def test_wait_needs_the_completes_of_all_origins() -> None:
    def origin(starts: int) -> list[Call]:
        return [
            ("Win_start", starts, starts + 10, [0], 1),
            ("Win_complete", starts + 10, starts + 20, [0], 1),
        ]

    target: list[Call] = [
        ("Win_post", 0, 0, [1, 2], 1),
        ("Win_wait", 100, 9000, [1, 2], 1),
    ]
    made = made_of([target, origin(5000), origin(3000)], 10_000)
    assert ends(made)[0] == pytest.approx(5000 + 1000 + 1000)


def test_wait_needs_the_data_also_where_a_message_without_any_overtakes_it() -> None:
    # The complete comes at 4000, right behind the put, and rank 1 is told at 5000; both wait for
    # the data, which is there at 6000.
    calls = one_transfer()
    name, _, _, peers, number = calls[0][2]
    calls[0][2] = name, 4200, 6000, peers, number
    side_by_side = Network(NETWORK.within, NETWORK.between, in_order=False)
    assert ends(made_of(calls, 8000), side_by_side) == pytest.approx([6000 + 2000, 6000 + 2000])


def test_epochs_are_matched_by_their_number() -> None:
    calls = one_transfer()
    second = [
        (name, enter + 10_000, leave + 10_000, peers, last if name == "Put" else 2)
        for name, enter, leave, peers, last in calls[0]
    ]
    later = [(name, a + 10_000, b + 10_000, peers, 2) for name, a, b, peers, _ in calls[1]]
    made = made_of([calls[0] + second, calls[1] + later], 18_000)
    # From 6000 on rank 1 computes 7000 until it posts.
    assert ends(made) == pytest.approx([16_000 + 2000, 16_000 + 2000])


def test_an_epoch_without_its_other_side_passes_as_it_did() -> None:
    calls = one_transfer()
    made = made_of([calls[0], calls[1][1:]], 8000)
    assert list(made.not_replayed) == ["epochs whose other side is not logged"]
    assert made.missing_ns == 4200 - 1000
    assert ends(made)[0] == pytest.approx(4200 + 2000 + 2000)


def test_many_networks_in_one_pass() -> None:
    replayer = Replayer(made_of(one_transfer(), 8000).schedule)
    over = [NETWORK.with_latency(float(ns)) for ns in range(0, 10_000, 100)]
    over += [NETWORK.with_byte_ns(ns / 10) for ns in range(100)]
    found, passes = replayer.run_ns_of(over)
    assert found.tolist() == [replayer.run(n, shared=False).run_ns for n in over]
    assert passes == 1
    # Two latencies and the bytes: 3000 + 2 L + 1000 G.
    assert found[50] == pytest.approx(3000 + 2 * 5000 + 1000 + 2000)
