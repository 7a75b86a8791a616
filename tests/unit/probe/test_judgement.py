"""Verdicts from exchanges whose truth is constructed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.network.exchanges import Exchange, Side, Step
from imbrex.network.transfer_class import Moved, TransferClass, classify, share_moved
from imbrex.probe import metrics
from imbrex.probe.progress_calls import needed_calls, recommended_interval_s
from imbrex.probe.ranges import merge
from imbrex.probe.synchronization import Synchronization, judge


def exchange(label: str, sender: Side, receiver: Side, tests: int = 0) -> Exchange:
    return Exchange("intra-node", label, 1024, "registers", tests, tests, 0, 0, 0, sender, receiver)


def test_overlap_when_the_late_receive_takes_only_the_transfer() -> None:
    """Isend at 0, wait at 2000; receive at 1000, done a transfer of 100 later."""
    x = exchange("isend-recv", Side(0, 5, 2000, 2001), Side(1000, 1100, 1000, 1100))
    found = judge([x] * 5, 100)
    assert found.overlaps is True
    assert found.score == pytest.approx(0)
    assert found.confidence == pytest.approx(6 / 7)


def test_no_overlap_when_the_receive_ends_a_transfer_after_the_wait() -> None:
    x = exchange("isend-recv", Side(0, 5, 2000, 2100), Side(1000, 2100, 1000, 2100))
    found = judge([x] * 5, 100)
    assert found.overlaps is False
    assert found.score == pytest.approx(1)


def test_mirror_image_watches_the_sender() -> None:
    x = exchange("send-irecv-tested", Side(1000, 2100, 1000, 2100), Side(0, 5, 2000, 2100))
    assert judge([x] * 5, 100).overlaps is False


def test_disagreement_and_halfway_cannot_tell() -> None:
    yes = exchange("isend-recv", Side(0, 5, 2000, 2001), Side(1000, 1100, 1000, 1100))
    no = exchange("isend-recv", Side(0, 5, 2000, 2100), Side(1000, 2100, 1000, 2100))
    half = exchange("isend-recv", Side(0, 5, 2000, 2001), Side(1000, 1600, 1000, 1600))
    assert judge([yes, yes, yes, no, no], 100).overlaps is None
    assert judge([half] * 9, 100).overlaps is None
    assert judge([], 100).overlaps is None


def test_trial_in_which_noise_turned_the_order_round_says_nothing() -> None:
    x = exchange("isend-recv", Side(0, 5, 900, 901), Side(1000, 1100, 1000, 1100))
    assert judge([x] * 5, 100).trials == 0


def moved(
    sender_in: float, receiver_in: float, both_in: float, unit_ns: float = 100
) -> TransferClass:
    """Transfers of 100 units; of them so much is left for the wait at 1000 in each situation."""

    def of(label: str, sender: Sequence[float], receiver: Sequence[float]) -> list[Exchange]:
        sides = (Side(*(unit_ns * t for t in times)) for times in (sender, receiver))
        return [exchange(label, *sides)] * 9

    done = 1000 + sender_in if sender_in else 100
    return classify(
        {
            "none-compute": of("none-compute", (0, 1, 1, 100), (0, 1, 1, 100)),
            "sender-computes": of("sender-computes", (0, 0, 1000, 1001), (0, 1, 1, done)),
            "receiver-computes": of(
                "receiver-computes", (0, 0, 0, 1), (0, 1, 1000, 1000 + receiver_in)
            ),
            "both-compute": of("both-compute", (0, 0, 1000, 1001), (0, 1, 1000, 1000 + both_in)),
        }
    )


@pytest.mark.parametrize(
    ("left", "name"),
    [
        ((100, 100, 100), "two-sided"),
        ((0, 100, 100), "one-sided"),
        ((100, 0, 100), "one-sided"),
        ((0, 0, 0), "third-party"),
        ((0, 0, 70), "one-sided"),
        ((0, 0, 55), "unknown"),  # too near to one half
        ((100, 45, 100), "unknown"),
        ((0, 45, 100), "one-sided"),
    ],
)
def test_classes_of_white_and_bova(left: tuple[float, float, float], name: str) -> None:
    found = moved(*left)
    assert found.name == name
    assert found.confidence == 1
    assert found.moved.both_computing == pytest.approx(1 - left[2] / 100)


def test_class_of_transfers_below_a_microsecond_is_left_open() -> None:
    """The calls' own time is most of them; what was seen is told all the same."""
    found = moved(0, 100, 100, unit_ns=9)
    assert (found.name, found.confidence) == ("unknown", 1)
    assert found.moved == Moved(1, 0, 0)


def test_copy_inside_the_starting_call_is_no_overlap() -> None:
    x = exchange("both-compute", Side(0, 70, 1000, 1001), Side(0, 1, 1000, 1010))
    assert share_moved(x, 100) == pytest.approx(0.2)


def test_class_without_all_situations_is_unknown() -> None:
    assert classify({}).name == "unknown"


def test_ranges_with_a_bisected_step() -> None:
    sizes = [1, 4, 16, 64]
    verdicts = {s: Synchronization(s <= 4, 0, 0.9, 5) for s in sizes}
    classes = {s: TransferClass("one-sided", Moved(1, 0, 0), 1) for s in sizes}
    first, second = merge(sizes, verdicts, classes, Step("intra-node", "isend-recv", 10, 11))
    assert (first.from_bytes, first.to_bytes, first.synchronization) == (1, 10, True)
    assert (second.from_bytes, second.to_bytes, second.synchronization) == (11, None, False)
    assert merge(sizes, verdicts, classes, whole=False)[-1].to_bytes == 64


@given(
    st.lists(
        st.tuples(st.sampled_from([True, False, None]), st.sampled_from(["one-sided", "unknown"])),
        min_size=1,
        max_size=12,
    )
)
def test_ranges_neither_overlap_nor_leave_gaps(verdicts: list[tuple[bool | None, str]]) -> None:
    sizes = [2**i for i in range(len(verdicts))]
    synchronization = {
        s: Synchronization(v[0], 0, 0.9, 5) for s, v in zip(sizes, verdicts, strict=True)
    }
    classes = {
        s: TransferClass(v[1], Moved(1, 0, 0), 1) for s, v in zip(sizes, verdicts, strict=True)
    }
    found = merge(sizes, synchronization, classes)
    border = 0
    for r in found[:-1]:
        assert r.from_bytes == border + 1
        assert r.to_bytes is not None
        border = r.to_bytes
    assert (found[-1].from_bytes, found[-1].to_bytes) == (border + 1, None)
    for size, verdict in zip(sizes, verdicts, strict=True):
        inside = [
            r for r in found if r.from_bytes <= size and (r.to_bytes is None or size <= r.to_bytes)
        ]
        assert [(r.synchronization, r.transfer_class) for r in inside] == [verdict]


def test_calls_that_complete_the_overlap() -> None:
    """Waits of a whole transfer, of half of it, of nothing, with 0, 1 and 4 calls."""
    trials = [
        exchange("progress", Side(0, 1, 1001, 1002), Side(0, 1, 1001, 1001 + wait), tests)
        for tests, wait in ((0, 100), (1, 50), (4, 0))
    ]
    found = needed_calls(trials, 1024, 100)
    assert found.needed == 4
    assert found.interval_s == pytest.approx(200e-9)
    assert recommended_interval_s([found], 1e-9) == pytest.approx(200e-9)
    assert recommended_interval_s([found], 100e-9) == pytest.approx(2e-6)


def test_no_calls_needed_and_no_calls_enough() -> None:
    ready = exchange("progress", Side(0, 1, 1001, 1002), Side(0, 1, 1001, 1001), 0)
    never = exchange("progress", Side(0, 1, 1001, 1002), Side(0, 1, 1001, 1101), 4)
    assert needed_calls([ready], 1024, 100).needed == 0
    assert recommended_interval_s([needed_calls([ready], 1024, 100)], 0) is None
    assert needed_calls([never], 1024, 100).needed is None


def test_quoted_metrics_at_their_ends() -> None:
    """Full overlap: the work hides all; none: the times add up. Pure 10, work 10."""
    assert metrics.osu_percent(10, 10, 10) == 100
    assert metrics.osu_percent(10, 10, 20) == 0
    assert metrics.imb_percent(10, 10, 10) == 100
    assert metrics.imb_percent(10, 10, 20) == 0
    assert metrics.imb_percent(10, 5, 10) == 50
    assert metrics.imb_percent(10, 5, 10, smaller=True) == 100
    assert metrics.smb_availability(10, 10, 10) == 1
    assert metrics.smb_availability(10, 10, 20) == 0
    assert metrics.madmpi_ratio(10, 10, 10) == 0
    assert metrics.madmpi_ratio(10, 10, 20) == 1
    assert metrics.madmpi_ratio(10, 5, 15) == 1
