"""Who has to be inside MPI before a message moves, from exchanges whose truth is constructed."""

from __future__ import annotations

import pytest

from imbrex.network.exchanges import Exchange, Side
from imbrex.network.handshake import LEAVES, handshakes
from imbrex.network.profile import Handshake, MachineProfile, NetworkPath, Point
from imbrex.network.reading import parse
from imbrex.network.table import format_table

SIZE, LEAST_NS, LATENCY_NS, AWAY_NS = 1 << 18, 1_500_000.0, 8_000.0, 4_000_000.0
POINTS = (
    Point(1, 0.0, 1e-5, least_s=LATENCY_NS * 1e-9),
    Point(SIZE, 1.4e-3, 3e-3, least_s=LEAST_NS * 1e-9),
)


def exchange(label: str, share_left: float, late_ns: float = 0.0) -> Exchange:
    """A side leaves for AWAY_NS; then a share of the message is left."""
    work = {"sender": 0.0, "receiver": 0.0, LEAVES[label]: AWAY_NS}
    done = AWAY_NS + share_left * LEAST_NS + late_ns
    sender, receiver = (Side(0.0, 0.0, work[side], done) for side in ("sender", "receiver"))
    return Exchange(
        *("inter-node", label, SIZE, "registers", 0, 0),
        *(work["sender"], work["receiver"], 0.0, sender, receiver),
    )


def trials(sender: float, receiver: float) -> list[Exchange]:
    """Five of each situation; what is left when the side that left comes back."""
    left = {"sender": sender, "receiver": receiver}
    return [exchange(label, left[LEAVES[label]], 9000.0 * i) for label in LEAVES for i in range(5)]


@pytest.mark.parametrize("sender", [0.0, 1.0])
@pytest.mark.parametrize("receiver", [0.0, 1.0])
def test_who_is_waited_for(sender: float, receiver: float) -> None:
    (found,) = handshakes(trials(sender, receiver), POINTS)
    assert (found.sender, found.receiver) == (sender == 1.0, receiver == 1.0)
    assert found.latency_s == pytest.approx(LATENCY_NS * 1e-9 / 2)


def test_what_moved_all_the_same_is_told() -> None:
    (found,) = handshakes(trials(0.9, 1.0), POINTS)
    assert found.sender and found.receiver
    assert 0.1 * LEAST_NS <= found.before_s * 1e9 <= 0.15 * LEAST_NS


def test_one_situation_of_two_in_which_it_moved_decides() -> None:
    rows = [
        exchange(x.label, 0.0) if x.label == "handshake-receiver-late" else x
        for x in trials(1.0, 1.0)
    ]
    (found,) = handshakes(rows, POINTS)
    assert (found.sender, found.receiver) == (False, True)


def test_trials_that_do_not_agree_tell_nothing() -> None:
    """Disturbed ones look as if all of the message were left; one that was not shows it had moved.

    Where the shortest stands alone the truth may be shorter still.
    """
    few = [x for i, x in enumerate(trials(1.0, 1.0)) if i % 5 == 0]
    (found,) = handshakes([*few, *trials(30.0, 30.0)], POINTS)
    assert not found.sender and not found.receiver
    shortest = [exchange(label, 0.0) for label in LEAVES]
    (found,) = handshakes([*trials(1.0, 1.0), *shortest], POINTS)
    assert not found.sender and not found.receiver


def test_too_few_trials_tell_nothing() -> None:
    few = [x for i, x in enumerate(trials(1.0, 1.0)) if i % 5 < 2]
    (found,) = handshakes(few, POINTS)
    assert not found.sender and not found.receiver


def test_without_the_least_time_of_a_message_nothing_is_told() -> None:
    assert handshakes(trials(1.0, 1.0), POINTS[:1]) == ()
    assert handshakes([], POINTS) == ()


def test_profile_and_table_carry_it() -> None:
    found = Handshake(SIZE, True, True, 123.4e-9, 56.7e-9)
    path = NetworkPath(POINTS, 0.0, handshakes=(found, Handshake(1 << 21, False, True, 0.0, 0.0)))
    there = MachineProfile("l", "1", ("a", "b"), 2, {}, {"inter-node": path}, (), "", "", True)
    assert parse(there.to_json()) == there
    lines = format_table(there).splitlines()
    assert f"handshake {SIZE} 3 124 56" in lines
    assert f"handshake {1 << 21} 2 0 0" in lines
    entry = there.to_json()
    entry["paths"]["inter-node"]["handshakes"].reverse()
    with pytest.raises(Exception, match=r"handshakes\[1\] is not sorted"):
        parse(entry)
    del entry["paths"]["inter-node"]["handshakes"]
    assert parse(entry).paths["inter-node"].handshakes == ()
