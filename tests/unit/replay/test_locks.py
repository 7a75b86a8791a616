"""Windows by lock and unlock: from the log to times that are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.replay.epochs import NETWORK, ROUTE, Call, ends, made_of

from imbrex.profile.call_log import EXCLUSIVE, SHARED, Flag
from imbrex.replay.evaluate import Network, Replayer


def holding(
    begins: int, gets_it: int, frees: int, done: int, target: int = 0, how: int = EXCLUSIVE
) -> list[Call]:
    """A lock of 1000 ns before the unlock that puts nothing."""
    return [
        ("Win_lock", begins, gets_it, [target], how),
        ("Win_unlock", frees, done, [target], 0),
    ]


BYSTANDER: list[Call] = [("Win_flush", 0, 0, [1], 0)]
"""A rank that waits for nobody."""


def test_a_lock_asks_and_an_unlock_tells() -> None:
    # Asked at 1000, answered at 3000; held for 500; told at 3500 and answered at 5500.
    made = made_of([BYSTANDER, holding(1000, 1200, 1700, 1800)], 2000)
    assert ends(made)[1] == pytest.approx(5500 + 200)


def test_what_moves_in_the_epoch_tells_too() -> None:
    calls = holding(1000, 1200, 1700, 1800)
    calls.insert(1, ("Put", 1700, 1700, [0], 1000))
    made = made_of([BYSTANDER, calls], 2000)
    # The put leaves at 3500, is there at 5500 and confirmed at 6500.
    assert ends(made)[1] == pytest.approx(6500 + 200)


def test_a_lock_of_its_own_and_one_that_is_not_checked_ask_nobody() -> None:
    own = made_of([BYSTANDER, holding(1000, 1200, 1700, 1800, target=1)], 2000)
    assert ends(own)[1] == pytest.approx(1000 + 500 + 200)
    unchecked = made_of([BYSTANDER, holding(1000, 1200, 1700, 1800)], 2000, flags=int(Flag.VARYING))
    assert ends(unchecked)[1] == pytest.approx(1000 + 500 + 200)


def one_behind_the_other(how: tuple[int, int], gets_it: int = 6000) -> list[list[Call]]:
    """Ranks 1 and 2 lock rank 0: 1 holds it for 4000 ns, 2 asks meanwhile and holds it for 500."""
    first = holding(1000, 1100, 5100, 5200, how=how[0])
    second = holding(2000, gets_it, gets_it + 500, gets_it + 600, how=how[1])
    return [BYSTANDER, first, second]


@pytest.mark.parametrize(
    "how", [(EXCLUSIVE, EXCLUSIVE), (EXCLUSIVE, SHARED), (SHARED, EXCLUSIVE)], ids=str
)
def test_who_locks_next_has_it_by_the_target_once_it_is_free(how: tuple[int, int]) -> None:
    # Rank 1 has it at 3000 and frees it at 7000: the target knows at 8000, rank 2 at 9000. That one
    # tells the target at 9500.
    made = made_of(one_behind_the_other(how), 10_000)
    assert made.not_replayed == {}
    found = ends(made)
    assert found[1] == pytest.approx(9000 + 4800)
    assert found[2] == pytest.approx(9500 + 2000 + 3400)
    # On a network of three times the latency: 7000, freed at 11,000, had at 17,000.
    far = replace(ROUTE, latency_ns=3000)
    assert ends(made, Network(far, far))[2] == pytest.approx(17_500 + 6000 + 3400)


def test_those_who_share_it_wait_for_nobody() -> None:
    made = made_of(one_behind_the_other((SHARED, SHARED), gets_it=2100), 10_000)
    # Asked at 2000, had at 4000, told at 4500.
    assert ends(made)[2] == pytest.approx(6500 + 7300)


def test_whoever_writes_waits_for_all_readers_and_readers_for_it() -> None:
    readers = [holding(0, 100, 100 + k * 1000, 200 + k * 1000, how=SHARED) for k in (1, 5, 3)]
    writer = holding(50, 5300, 5800, 5900)
    late = holding(60, 6000, 6100, 6200, how=SHARED)
    made = made_of([BYSTANDER, *readers, writer, late], 10_000)
    found = ends(made)
    # Reader 2 has it at 2000 and frees it at 7000; the writer has it at 9000, frees it at 9500; the
    # last reader has it at 11,500, tells at 11,600.
    assert found[4] == pytest.approx(11_500 + 4100)
    assert found[5] == pytest.approx(13_600 + 3800)
    # With the third reader 3500 later it is that one: 9000 - 7000 + 500 more.
    made.schedule.start_ns[3] += 3500
    assert ends(made)[4] == pytest.approx(11_500 + 1500 + 4100)


def test_a_holder_that_is_the_target_tells_the_next_itself() -> None:
    first = holding(1000, 1100, 5100, 5200)
    second = holding(2000, 6000, 6500, 6600)
    # It takes rank 0 nothing to have its own; freed at 5000, had at 6000.
    assert ends(made_of([first, second], 10_000))[1] == pytest.approx(6500 + 2000 + 3400)
    # The other way round: freed by rank 0 at 7000, of which rank 1 knows at 8000.
    second, first = (
        holding(*times, target=1) for times in ((2000, 6000, 6500, 6600), (1000, 1100, 5100, 5200))
    )
    assert ends(made_of([first, second], 10_000))[1] == pytest.approx(8000 + 500 + 3400)


def test_a_library_that_gets_the_lock_later_waits_in_the_unlock() -> None:
    # The lock of 2000 returned at 2100, long before rank 1 freed it; the unlock of 2600 did not.
    first = holding(1000, 1100, 5100, 5200)
    second: list[Call] = [
        ("Win_lock", 2000, 2100, [0], EXCLUSIVE),
        ("Win_unlock", 2600, 6000, [0], 0),
    ]
    made = made_of([BYSTANDER, first, second], 10_000)
    # Rank 1 frees it at 7000, rank 2 knows at 9000; what its own unlock asks takes 2000 more.
    assert ends(made)[2] == pytest.approx(11_000 + 4000)


def test_a_lock_of_all_is_shared_with_whoever_locks_one_exclusively() -> None:
    whole: list[Call] = [("Win_lock_all", 0, 100, [], 0), ("Win_unlock_all", 4000, 4100, [], 0)]
    made = made_of([BYSTANDER, whole, holding(200, 6000, 6500, 6600)], 10_000)
    # Freed at 3900, had at 5900.
    assert ends(made)[2] == pytest.approx(5900 + 500 + 2000 + 3400)


def test_other_windows_targets_and_ranks_of_its_own_are_not_waited_for() -> None:
    first = holding(1000, 1100, 5100, 5200)
    elsewhere = holding(2000, 2100, 2600, 2700, target=3)
    again = holding(5300, 5400, 5900, 6000)
    made = made_of([BYSTANDER, first + again, elsewhere, BYSTANDER], 10_000)
    assert ends(made)[2] == pytest.approx(4500 + 2000 + 7300)
    # Freed at 7000, answered at 9000, asked at 9100, had at 11,100.
    assert ends(made)[1] == pytest.approx(11_600 + 2000 + 4000)


def test_a_lock_that_was_never_freed_is_held_for_nobody() -> None:
    first: list[Call] = [("Win_lock", 1000, 1100, [0], EXCLUSIVE)]
    made = made_of([BYSTANDER, first, holding(2000, 2100, 2600, 2700)], 10_000)
    assert ends(made)[2] == pytest.approx(4500 + 2000 + 7300)


def test_networks_in_one_pass_agree() -> None:
    replayer = Replayer(made_of(one_behind_the_other((EXCLUSIVE, EXCLUSIVE)), 10_000).schedule)
    over = [NETWORK.with_latency(float(ns)) for ns in range(0, 10_000, 100)]
    found, _ = replayer.run_ns_of(over)
    assert found.tolist() == [replayer.run(n, shared=False).run_ns for n in over]
