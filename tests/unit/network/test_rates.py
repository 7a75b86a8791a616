"""At which rate messages move, from exchanges whose truth is constructed."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.network.exchanges import Exchange, Side
from imbrex.network.profile import MachineProfile, MovingRates, NetworkPath, Point, Rate
from imbrex.network.rates import RETURNS, moving_rates, rates_at, rates_of_class
from imbrex.network.reading import parse
from imbrex.network.table import format_table

SIZE, TRANSFER_NS = 1 << 20, 100_000.0


def exchange(label: str, rates: dict[str, float], work_ns: float) -> Exchange:
    """A message that moves at `rates` by who is inside MPI (none of them: at full rate)."""
    sender_ns = work_ns if label.startswith(("sender", "both")) else 0.0
    receiver_ns = work_ns if label.startswith(("receiver", "both")) else 0.0
    computing = {(True, True): "neither", (True, False): "receiver", (False, True): "sender"}
    state = computing.get((sender_ns > 0, receiver_ns > 0))
    done = TRANSFER_NS
    if state is not None:
        moved = min(TRANSFER_NS, work_ns * rates[state])
        done = work_ns + TRANSFER_NS - moved
        if moved == TRANSFER_NS:
            done = TRANSFER_NS / rates[state]
    return Exchange(
        "inter-node",
        label,
        SIZE,
        "registers",
        0,
        0,
        sender_ns,
        receiver_ns,
        0.0,
        Side(0.0, 0.0, sender_ns, max(done, sender_ns)),
        Side(0.0, 0.0, receiver_ns, max(done, receiver_ns)),
    )


def trials(rates: dict[str, float]) -> list[Exchange]:
    """Nine of each situation, with work of three transfers and of one."""
    return [
        exchange(f"{who}-compute{s}{suffix}", rates, work_ns)
        for suffix, work_ns in (("-long", 3 * TRANSFER_NS), ("-short", TRANSFER_NS))
        for who, s in (("none", ""), ("sender", "s"), ("receiver", "s"), ("both", ""))
        for _ in range(9)
    ]


def test_data_that_the_receiver_copies() -> None:
    """Over shared memory: it moves while the receiver is inside MPI, whoever else is not."""
    (found,) = moving_rates(trials({"neither": 0.0, "sender": 0.0, "receiver": 1.0}), (), {})
    assert found.size_bytes == SIZE
    assert (found.neither, found.sender) == (Rate(0.0, 0.0), Rate(0.0, 0.0))
    assert found.receiver == Rate(1.0, 1.0)
    assert found.both == Rate(1.0, 1.0)


def test_the_latency_of_a_short_message_lowers_no_rate() -> None:
    """Of 5 us one was the latency: at which rate the rest moved is not known so well."""
    states = {"neither": 0.0, "sender": 0.0, "receiver": 0.8}
    rows = [
        replace(
            x,
            sender_work_ns=x.sender_work_ns / 20,
            receiver_work_ns=x.receiver_work_ns / 20,
            sender=Side(*(t / 20 for t in vars(x.sender).values())),
            receiver=Side(*(t / 20 for t in vars(x.receiver).values())),
        )
        for x in trials(states)
    ]
    (found,) = moving_rates(rows, (), {})
    assert found.receiver.highest == 1.0
    assert (found.neither, found.sender) == (Rate(0.0, 0.0), Rate(0.0, 0.0))


def returning(share: float, sender_waits: bool = False) -> list[Exchange]:
    """Both compute, the receiver comes back and copies at a share of the rate."""
    back, done = 2 * TRANSFER_NS, (2 + 1 / share) * TRANSFER_NS
    sender = Side(0.0, 0.0, back if sender_waits else 2 * done, 2 * done)
    one = exchange("both-compute", {"neither": 0.0}, back)
    return [replace(one, label=RETURNS, sender=sender, receiver=Side(0.0, 0.0, back, done))] * 9


def test_a_receiver_that_comes_back_first_decides_how_fast_it_copies_at_the_least() -> None:
    rows = trials({"neither": 0.0, "sender": 0.0, "receiver": 1.0})
    for more, lowest in ((returning(1.0), 1.0), (returning(0.6), 0.6), (returning(1.0, True), 0.0)):
        (found,) = moving_rates([*rows, *more], (), {})
        assert found.receiver == Rate(pytest.approx(lowest), 1.0)


@given(st.tuples(*[st.floats(0.1, 1.0)] * 3))
def test_the_rate_lies_in_its_interval(truth: tuple[float, float, float]) -> None:
    rates = dict(zip(("neither", "sender", "receiver"), truth, strict=True))
    (found,) = moving_rates(trials(rates), (), {})
    for name, rate in rates.items():
        interval = getattr(found, name)
        assert interval.lowest <= rate + 1e-9 and rate - 1e-9 <= interval.highest, (name, found)
        if rate < 0.3:  # three transfers do not suffice: the share that moved tells the rate
            assert interval.highest == pytest.approx(rate)


def test_the_first_part_of_a_rendezvous_is_slack_and_no_rate() -> None:
    """A tenth of the message came before the receive was posted, as its head says."""
    points = (Point(SIZE, 1e-4, 1e-4, head_s=1.5e-5),)
    moved = [
        replace(x, receiver=replace(x.receiver, done_ns=x.receiver.wait_ns + 0.9 * TRANSFER_NS))
        if x.label.startswith("receiver")
        else x
        for x in trials({"neither": 0.0, "sender": 0.0, "receiver": 0.0})
    ]
    (with_head,) = moving_rates(moved, points, {})
    assert with_head.sender == Rate(0.0, 0.0)
    (without,) = moving_rates(moved, (), {})
    assert without.sender.highest == pytest.approx(0.1)


def test_the_protocol_changes_at_the_limit_alone() -> None:
    eager = [replace(x, size_bytes=2048) for x in trials(dict.fromkeys(RATES, 1.0))]
    rendezvous = trials(dict.fromkeys(RATES, 0.0))
    limits = {"send_returns_before_match_late_bytes": 65480}
    found = moving_rates([*eager, *rendezvous], (), limits)
    assert [r.size_bytes for r in found] == [2048, 65480, 65481, SIZE]
    assert [r.neither.lowest for r in found] == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(("limit", "known_above"), [(1 << 21, False), (1024, True)])
def test_nothing_is_said_of_a_protocol_that_was_not_measured(limit: int, known_above: bool) -> None:
    limits = {"send_returns_before_match_late_bytes": limit}
    below, above = moving_rates(trials(dict.fromkeys(RATES, 1.0)), (), limits)[-2:]
    if known_above:
        below, above = moving_rates(trials(dict.fromkeys(RATES, 1.0)), (), limits)[:2]
    known, unknown = (above, below) if known_above else (below, above)
    assert {below.size_bytes, above.size_bytes} == {limit, limit + 1}
    assert known.neither == Rate(1.0, 1.0)
    assert unknown.neither == unknown.both == Rate(0.0, 1.0)


RATES = ("neither", "sender", "receiver")


def test_too_few_trials_tell_nothing() -> None:
    few = [x for i, x in enumerate(trials(dict.fromkeys(RATES, 1.0))) if i % 9 < 2]
    assert moving_rates(few, (), {}) == ()


def test_a_very_short_transfer_tells_nothing() -> None:
    short = [
        replace(
            x,
            sender=Side(*(t / 1000 for t in (0, 0, x.sender.wait_ns, x.sender.done_ns))),
            receiver=Side(*(t / 1000 for t in (0, 0, x.receiver.wait_ns, x.receiver.done_ns))),
        )
        for x in trials(dict.fromkeys(RATES, 0.0))
    ]
    (found,) = moving_rates(short, (), {})
    assert found.neither == Rate(0.0, 1.0)


def profile(path: NetworkPath, name: str = "intra-node") -> MachineProfile:
    return MachineProfile("lib", "1", ("a",), 2, {}, {name: path}, (), "", "", True)


def test_profile_and_table_carry_the_rates() -> None:
    rates = MovingRates(
        4096, Rate(0.0, 0.1234), Rate(0.25, 1.0), Rate(0.3339, 0.5), Rate(0.9999, 1.0)
    )
    path = NetworkPath((Point(4096, 1e-6, 2e-6, send_returns_before_match=True),), 0.0)
    there = profile(replace(path, rates=(rates,)))
    assert parse(there.to_json()) == there
    lines = format_table(there).splitlines()
    assert "class 4096 1 0 124 250 1000 333 500 999 1000" in lines
    # Between hosts they do not hold for other situations than those that were measured.
    far = profile(replace(path, rates=(rates,)), "inter-node")
    assert "class 4096 1 0 1000 0 1000 0 1000 0 1000" in format_table(far).splitlines()


def test_a_class_alone_gives_wide_rates() -> None:
    points = tuple(
        Point(size, 1e-6, 2e-6, transfer_class=name)
        for size, name in ((1024, "third-party"), (2048, "unknown"), (4096, "two-sided"))
    )
    found = [rates_of_class(point.transfer_class, point.size_bytes) for point in points]
    assert found[0].neither.lowest == pytest.approx(1 / 6)
    assert found[1].neither == Rate(0.0, 1.0)
    assert found[2].neither.highest == pytest.approx(1 / 6)
    path = NetworkPath(points, 0.0)
    lines = format_table(profile(path)).splitlines()
    assert sum(line.startswith("class ") for line in lines) == 3
    assert "class " not in format_table(profile(path, "inter-node"))


def test_between_two_sizes_both_are_possible() -> None:
    few, many = ([Rate(low, high)] * 4 for low, high in ((0.0, 0.1), (0.6, 1.0)))
    path = NetworkPath(
        (Point(1024, 0.0, 1e-6), Point(8192, 0.0, 1e-6)),
        0.0,
        rates=(MovingRates(1024, *many), MovingRates(8192, *few)),
    )
    assert rates_at(path, 512).neither == Rate(0.6, 1.0)
    assert rates_at(path, 4096).neither == Rate(0.0, 1.0)
    assert rates_at(path, 9000).neither == Rate(0.0, 0.1)


@pytest.mark.parametrize("lowest", [-0.1, 0.6, math.nan])
def test_a_rate_that_cannot_be_is_refused(lowest: float) -> None:
    rates = MovingRates(1, *[Rate(0.0, 1.0)] * 4)
    entry = profile(NetworkPath((Point(1, 0.0, 1e-6),), 0.0, rates=(rates,))).to_json()
    entry["paths"]["intra-node"]["rates"][0]["sender"] = {"lowest": lowest, "highest": 0.5}
    with pytest.raises(Exception, match="sender"):
        parse(entry)
