"""The network of a machine profile: what its messages take in a replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from tests.unit.replay.building import Builder

from imbrex.network.interconnect import Interconnect
from imbrex.network.profile import Handshake, LogGP, MachineProfile, NetworkPath, Point
from imbrex.profile.run import Run
from imbrex.replay.arrays import PAGE, ArraySchedule, Flag
from imbrex.replay.evaluate import ITSELF, Network, Replayer, Route
from imbrex.replay.situation import (
    Situation,
    elsewhere,
    in_order,
    kept_bytes,
    measured_route,
    situations,
    time_of_sizes,
    to_itself,
)

LOGGP = LogGP(
    L_s=0, o_s_s=1e-6, o_r_s=1e-6, g_s=0, G_s_per_byte=1e-9, EEL_s=2e-6, residual=0.3
)  # fmt: skip


def path(*medians: tuple[int, float | None]) -> NetworkPath:
    points = tuple(Point(size, 0.0, 1.0, median_s=median) for size, median in medians)
    return NetworkPath(points, 1e-9, LOGGP)


def test_large_messages_have_the_rate_of_the_largest_that_was_measured() -> None:
    # 4 KiB pass ahead of the rate, 1 MB takes 10 ns a byte.
    byte_s, sizes = time_of_sizes(path((1, 1e-6), (4096, 6.096e-6), (1_000_000, 0.010002)), LOGGP)
    assert byte_s == pytest.approx(10e-9)
    assert [size for size, _ in sizes] == [1, 4096, 1_000_000]
    assert [moved for _, moved in sizes] == pytest.approx([0, 409.6, 1_000_000])


def test_a_size_that_was_slower_than_a_larger_one_was_disturbed() -> None:
    _, sizes = time_of_sizes(path((1, 3e-6), (10, 9e-6), (100, 7e-6), (1000, 12e-6)), LOGGP)
    assert [moved for _, moved in sizes] == pytest.approx([100, 500, 500, 1000])


def test_a_profile_without_medians_has_one_line() -> None:
    assert time_of_sizes(path((1, None), (1000, None)), LOGGP) == (1e-9, ())


def test_of_many_sizes_some_are_taken_and_the_largest_among_them() -> None:
    _, sizes = time_of_sizes(path(*((k, 2e-6 + k * 1e-9) for k in range(1, 51))), LOGGP)
    assert len(sizes) == 17
    assert sizes[-1] == (50, pytest.approx(50))


@pytest.mark.parametrize("progress", ["probed", "ideal", "none"])
@pytest.mark.parametrize(("sender", "receiver"), [(True, True), (False, True), (False, False)])
def test_who_has_to_be_inside_mpi_is_what_the_largest_handshake_says(
    progress: str, sender: bool, receiver: bool
) -> None:
    asked = (
        Handshake(1 << 18, not sender, not receiver, 0, 0),
        Handshake(1 << 21, sender, receiver, 0, 0),
    )
    paths = {"inter-node": NetworkPath((), 1e-9, LOGGP, handshakes=asked)}
    profile = MachineProfile("MPICH", "4.0", ("a", "b"), 2, {}, paths, (), "", "", False)
    route = measured_route(profile, "inter-node", progress)
    assert route is not None
    if progress == "probed":
        assert (route.held_by_sender, route.held_by_receiver) == (sender, receiver)
    else:
        assert route.held_by_sender is route.held_by_receiver is (progress == "none")


@pytest.mark.parametrize(
    ("tails", "kept"),
    [
        ((1e-3, 1e-3, 1e-3), float("inf")),  # so of the largest: of larger ones too
        ((1e-3, 1e-3, 5e-4), 1000),
        ((1e-3, None, 8e-4), 10),
        ((None, None, None), 0),
        ((5e-4, 1e-5, 1e-5), 0),
    ],
)
def test_up_to_the_size_of_which_all_may_be_under_way_messages_leave_their_sender(
    tails: tuple[float | None, ...], kept: float
) -> None:
    points = tuple(
        Point(size, 0.0, 1e-3, tail_s=tail)
        for size, tail in zip((10, 1000, 100_000), tails, strict=True)
    )
    assert kept_bytes(NetworkPath(points, 1e-9, LOGGP)) == kept


def test_exchanges_pass_in_turns_where_messages_wait_for_answers_in_order() -> None:
    held = Route(held_by_sender=True, held_by_receiver=True, eager_bytes=100, kept_bytes=1e6)
    free = Route(eager_bytes=100, kept_bytes=1e6)
    assert in_order(free, held).in_turns
    assert not in_order(free, free).in_turns
    assert not in_order(free, held).progressing("ideal").asks


@pytest.mark.parametrize(
    ("returns", "eager"),
    [
        ((True, True, False), 1000),
        ((True, None, False), 10),
        ((None, None, False), 1000),
        ((None, False, False), 10),
        ((False, False, False), 0),
        ((True, True, None), float("inf")),
    ],
)
def test_messages_below_those_that_wait_leave_at_once(
    returns: tuple[bool | None, ...], eager: float
) -> None:
    points = tuple(
        Point(size, 0.0, 1e-3, send_returns_before_match=told)
        for size, told in zip((10, 1000, 100_000), returns, strict=True)
    )
    paths = {"inter-node": NetworkPath(points, 1e-9, LOGGP)}
    profile = MachineProfile("MPICH", "4.0", ("a", "b"), 2, {}, paths, (), "", "", False)
    route = measured_route(profile, "inter-node", "ideal")
    assert route is not None
    assert route.eager_bytes == eager


COPIES = Route(send_ns=7, latency_ns=2, receive_ns=1, byte_ns=2)
THERE = Interconnect("there", 1e-6, 1e9)
FREE = Network(Route(), Route())


def to_oneself(size: int) -> Builder:
    """Rank 0 sends so much to itself, then to rank 1, and computes for 500 ns before it waits."""
    b = Builder(2)
    begun = [b.recv(0, 0), b.send(0, 0, size), b.send(0, 1, size)]
    b.calc(0, 500)
    b.wait(*begun)
    b.recv(1, 0, blocking=True)
    return b


def run_ns(schedule: ArraySchedule, copies: Route) -> float:
    placed = Situation("here", THERE, FREE, (0, 1), copies).place(schedule)
    return Replayer(placed).run(FREE).run_ns


def test_a_message_to_oneself_is_a_copy_beside_which_nothing_is_computed() -> None:
    schedule = to_oneself(1000).schedule()
    before = schedule.operations.copy()
    assert run_ns(schedule, ITSELF) == 500
    # 7 + 2 + 1 and 2 for each byte, and nothing for the one to rank 1.
    assert run_ns(schedule, COPIES) == 500 + 10 + 2000
    assert (schedule.operations == before).all()


def test_copies_take_what_their_size_takes() -> None:
    # 1000 bytes take as long as 400.
    cached = replace(COPIES, sizes=((1000.0, 400.0), (4096.0, 4096.0)))
    assert run_ns(to_oneself(1000).schedule(), cached) == 500 + 10 + 800
    pages = to_oneself(3)
    for row in pages.rows[0] + pages.rows[1]:
        row["flags"] |= int(Flag.PAGES) if row["bytes"] else 0
    assert run_ns(pages.schedule(), COPIES) == 500 + 10 + 2 * 3 * PAGE


def test_no_computation_is_longer_than_its_room() -> None:
    slow = replace(COPIES, byte_ns=1e9)
    assert run_ns(to_oneself(1000).schedule(), slow) == 500 + (1 << 32) - 1


def test_threads_of_a_rank_copy_what_they_send_each_other() -> None:
    schedule = replace(to_oneself(1000).schedule(), rank=np.zeros(2, np.uint32))
    placed = Situation("here", THERE, FREE, (0,), COPIES).place(schedule)
    assert Replayer(placed).run(FREE).run_ns == 500 + 2 * (10 + 2000)


def test_the_copies_of_a_profile() -> None:
    paths = {"self": path((1, 2e-6), (1000, 5e-6))}
    profile = MachineProfile("MPICH", "4.0", ("a", "b"), 2, {}, paths, (), "", "", False)
    found = to_itself(profile)
    assert found.byte_ns == pytest.approx(3.0)
    assert found.sizes[-1] == (1000, pytest.approx(1000))
    assert to_itself(None) == ITSELF
    assert to_itself(replace(profile, paths={})) == ITSELF
    assert elsewhere(2, (), [THERE], "probed", None, Route())[0].copies == ITSELF


def test_copies_take_what_they_take_here_unless_a_profile_says_otherwise(tmp_path: Path) -> None:
    def saved(file: Path, copied_s: float) -> Path:
        paths = {"self": path((1, 2e-6), (1000, copied_s)), "intra-node": path((1, 2e-6))}
        profile = MachineProfile("MPICH", "4.0", ("a", "b"), 2, {}, paths, (), "", "", False)
        profile.save(file)
        return file

    saved(tmp_path / "machine.json", 5e-6)
    there = saved(tmp_path / "there.json", 9e-6)
    ranks = np.array([(b"a",), (b"a",)], [("host", "S8")])
    run = cast(Run, SimpleNamespace(directory=tmp_path, ranks=ranks))
    found = situations(run, (str(there), "GigE"), [], "probed", None)
    rates = {each.name.split()[0]: each.copies.byte_ns for each in found}
    assert rates.pop("as") == rates.pop("GigE") == pytest.approx(3.0)
    assert list(rates.values()) == [pytest.approx(7.0)]
