"""The network of a machine profile: what its messages take in a replay."""

from __future__ import annotations

import pytest

from imbrex.network.profile import Handshake, LogGP, MachineProfile, NetworkPath, Point
from imbrex.replay.evaluate import Route
from imbrex.replay.situation import in_order, kept_bytes, measured_route, time_of_sizes

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
