"""Sentences from verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from imbrex.network.assemble import assemble
from imbrex.network.columns import read_columns
from imbrex.network.transfer_class import Moved
from imbrex.probe.answer import Answer, answer
from imbrex.probe.in_short import in_short
from imbrex.probe.point_to_point import Operation
from imbrex.probe.progress_calls import ProgressCalls
from imbrex.probe.ranges import Range

SENDER, RECEIVER, EITHER = "MPI_Isend/MPI_Recv", "MPI_Send/MPI_Irecv", "MPI_Isend/MPI_Irecv"
YES, NO = (None, True), (None, False)


def span(begin: int, end: int | None, sync: bool | None, name: str, moved: Moved) -> Range:
    return Range(begin, end, end or 4096, sync, name, moved, 1)


def ranges(
    *verdicts: tuple[int | None, bool | None],
    name: str = "two-sided",
    moved: Moved = Moved(0, 0, 0),  # noqa: B008
) -> tuple[Range, ...]:
    begin, found = 1, []
    for end, sync in verdicts:
        found.append(span(begin, end, sync, name, moved))
        begin = (end or 0) + 1
    return tuple(found)


def found(*operations: Operation) -> Answer:
    head = ["# imbrex-probes 1", "# library MPI", "# ranks 2", "# host 0 0 a"]
    pings = [f"pingpong {p} 0 1 1024 warm 9 1 1 1 1" for p in ("intra-node", "inter-node")]
    m = read_columns([*head, *pings, "# end"])
    return replace(answer(m, assemble(m, {}, True), []), operations=operations)


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        ([YES], "computes at all sizes"),
        ([(100, True)], "computes up to 100 bytes"),
        ([(1, True)], "computes up to 1 byte, the largest that was measured"),
        ([NO], "computes at no size"),
        ([(100, True), NO], "up to 100 bytes; beyond, not before the sender calls MPI again"),
        ([(100, True), (None, None)], "up to 100 bytes, and beyond it cannot be told"),
        ([(None, None)], "computes it cannot be told"),
        ([(100, True), (200, None), YES], "at all sizes (from 101 to 200 bytes it cannot be told)"),
        (
            [(100, None), (200, True), NO],
            "up to 200 bytes; beyond, not before the sender calls MPI again (from 1 to 100 bytes",
        ),
    ],
)
def test_up_to_which_size(verdicts: list[tuple[int | None, bool | None]], text: str) -> None:
    (sentence,) = in_short(found(Operation(SENDER, "intra-node", ranges(*verdicts), (), None)))
    assert sentence.startswith("An MPI_Isend reaches its receiver while the sender computes")
    assert text in sentence


def test_calls_that_bring_it_back_are_told_of() -> None:
    tested = ranges(YES)
    (sentence,) = in_short(found(Operation(RECEIVER, "intra-node", ranges(NO), tested, None)))
    assert sentence.endswith("(with MPI_Test calls in the work of the receiver: at all sizes)")


@pytest.mark.parametrize(
    ("name", "moved", "text"),
    [
        ("third-party", Moved(1, 1, 1), "by themselves while both sides compute"),
        ("two-sided", Moved(0, 0, 0), "only while both sides are inside MPI"),
        ("one-sided", Moved(1, 0, 0), "while the sender computes, if the receiver is inside MPI"),
        ("one-sided", Moved(0, 1, 0), "while the receiver computes, if the sender is inside MPI"),
        ("one-sided", Moved(1, 1, 0), "while one side computes, if the other is inside MPI"),
        ("unknown", Moved(None, None, None), "could not be told"),
    ],
)
def test_what_moves_the_data(name: str, moved: Moved, text: str) -> None:
    either = ranges(YES, name=name, moved=moved)
    (sentence,) = in_short(found(Operation(EITHER, "intra-node", either, (), None)))
    assert text in sentence and sentence.startswith("At all sizes the data move")


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        ([(1, True)], "Up to 1 byte, the largest that was measured, the data move"),
        ([(100, True), (4096, False)], "From 101 to 4,096 bytes, the largest that was measured,"),
        ([(100, True), NO], "From 101 bytes on the data move"),
    ],
)
def test_no_more_is_said_than_was_measured(
    verdicts: list[tuple[int | None, bool | None]], text: str
) -> None:
    """Of a probe that was cut short: nothing of what is larger."""
    (sentence,) = in_short(found(Operation(EITHER, "intra-node", ranges(*verdicts), (), None)))
    assert sentence.startswith(text)


def test_paths_are_kept_apart_and_calls_advised() -> None:
    both = [Operation(SENDER, path, ranges(NO), (), None) for path in ("intra-node", "inter-node")]
    progress = {"inter-node": (ProgressCalls(1024, {}, 4, 1e-5),)}
    costs = {"inter-node": {"MPI_Test": 2e-7}}
    answered = replace(
        found(*both), progress=progress, interval_s={"inter-node": 1e-5}, test_cost_s=costs
    )
    sentences = in_short(answered)
    assert [s.split(":")[0] for s in sentences] == ["intra-node", "inter-node", "inter-node"]
    assert "call MPI_Test about every 10 us during work (a call costs 0.20 us)" in sentences[-1]
