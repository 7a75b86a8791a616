"""Which messages another network may bring in another order."""

from __future__ import annotations

from collections import Counter

import numpy as np

from imbrex.profile.call_log import ANY, CALL_DTYPE, Flag, Kind
from imbrex.replay.first_come import first_come
from imbrex.replay.pairs import partners
from imbrex.replay.run_log import Group, RunLog

WILD = int(Flag.WILDCARD)
Row = tuple[int, Kind, int, int, int, int, int, int]
"""Rank, kind, enter, exit, peer, tag, flags, site; all end in their own call."""


def counted(rows: list[Row], ends: dict[int, int] | None = None) -> Counter[int]:
    """`ends`: by number of a row that of the row in which it is complete."""
    rows = sorted(rows, key=lambda row: (row[0], row[2]))
    records = np.zeros(len(rows), CALL_DTYPE)
    seen: Counter[tuple[int, ...]] = Counter()
    for k, (rank, kind, enter, leave, peer, tag, flags, site) in enumerate(rows):
        seen[rank, kind, peer, tag] += 1
        records[k]["kind"], records[k]["enter_ns"], records[k]["exit_ns"] = kind, enter, leave
        records[k]["comm"], records[k]["peer"], records[k]["tag"] = 1, peer, tag
        records[k]["flags"], records[k]["site"] = flags, site
        records[k]["sequence"] = seen[rank, kind, peer, tag] if kind != Kind.PROBE else 0
    ranks = np.array([row[0] for row in rows])
    log = RunLog(
        records=records,
        rank=ranks,
        stream=ranks,
        call=np.arange(len(rows)),
        end=np.array([(ends or {}).get(k, k) for k in range(len(rows))]),
        peer=records["peer"].astype(np.int64),
        stream_rank=np.arange(3),
        start_ns=np.zeros(3, np.int64),
        origin_ns=np.zeros(3, np.int64),
        end_ns=np.full(3, 10_000),
        groups={1: Group((0, 1, 2), inter=False, window=False)},
        operations=("MPI_Call",),
        nodes=np.arange(3),
        wall_ns=10_000,
    )
    return first_come(log, partners(log))


def sends(of_1: int, of_2: int) -> list[Row]:
    return [
        (1, Kind.SEND, of_1, of_1 + 10, 0, 5, 0, 7),
        (2, Kind.SEND, of_2, of_2 + 10, 0, 5, 0, 7),
    ]


def receives(flags: int = WILD, tags: tuple[int, int] = (5, 5)) -> list[Row]:
    return [
        (0, Kind.RECV, 100, 1000, 1, tags[0], flags, 3),
        (0, Kind.RECV, 2000, 3000, 2, tags[1], flags, 4),
    ]


def test_two_that_were_under_way_together_may_come_the_other_way_round() -> None:
    assert counted(receives() + sends(500, 900)) == {3: 1}


def test_one_that_was_sent_later_comes_later() -> None:
    assert not counted(receives() + sends(500, 1100))


def test_a_receive_from_one_rank_takes_no_other() -> None:
    assert not counted(receives(flags=0) + sends(500, 900))


def test_messages_of_one_sender_follow_each_other() -> None:
    rows = [(0, kind, a, b, 1, tag, f, site) for _, kind, a, b, _, tag, f, site in receives()]
    both = [(1, Kind.SEND, at, at + 10, 0, 5, 0, 7) for at in (500, 600)]
    assert not counted([*rows, *both])


def test_a_nonblocking_receive_takes_its_message_when_it_is_complete() -> None:
    posted = [
        (0, Kind.RECV, 10, 20, 1, 5, WILD, 3),
        (0, Kind.RECV, 30, 40, 2, 5, WILD, 4),
        (0, Kind.COMPLETION, 100, 1000, -1, 0, 0, 6),
        (0, Kind.COMPLETION, 1100, 2000, -1, 0, 0, 6),
    ]
    assert counted(posted + sends(500, 900), {0: 2, 1: 3}) == {3: 1}
    assert not counted(posted + sends(500, 1050), {0: 2, 1: 3})


def test_a_probe_finds_what_comes_first() -> None:
    probed: list[Row] = [
        (0, Kind.PROBE, 100, 1000, 1, 5, WILD, 2),
        (0, Kind.RECV, 1010, 1020, 1, 5, 0, 3),
        (0, Kind.PROBE, 1100, 2000, 2, 5, WILD, 2),
        (0, Kind.RECV, 2010, 2020, 2, 5, 0, 3),
    ]
    assert counted(probed + sends(500, 900)) == {2: 1}


def test_an_unknown_sender_is_not_counted() -> None:
    unknown = [(0, Kind.RECV, 100, 1000, ANY, 5, WILD, 3)]
    assert not counted(unknown + receives()[1:] + sends(500, 900)[1:])
