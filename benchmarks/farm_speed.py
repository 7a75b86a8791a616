"""How fast farms are found and played, beside a replay of the same operations.

    python benchmarks/farm_speed.py

A textbook's farm: the boss gives each worker a task, and another to whoever returns a result, in
any order; tasks take 0.1 to 2 ms. Processor time. Prints the table of docs/theory/predict.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from imbrex.replay.arrays import NONE, OPERATION, ArraySchedule, Flag, Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.farm_begin import begin_of
from imbrex.replay.farm_order import Play
from imbrex.replay.farm_schedule import as_served
from imbrex.replay.farms import Own, find_farms

SIZES = [(4, 2_000), (64, 4_000), (256, 16_000)]
NETWORK = Network(Route(latency_ns=1000, byte_ns=0.1), Route(latency_ns=5000, byte_ns=1, gap_ns=50))
GIVES, STOPS, TAKES, HAS, RESULT = range(1, 6)

Row = tuple[Kind, int, int, int]
"""Kind, peer, bytes or ns of computation before it, and site."""


def farm(ranks: int, tasks: int) -> ArraySchedule:
    """The operations of each rank; messages between two are paired in their order."""
    draw = np.random.default_rng(1)
    workers = range(1, ranks)
    asks = [int(w) for w in draw.integers(1, ranks, tasks - len(workers))]
    rows: list[list[Row]] = [[] for _ in range(ranks)]
    boss = rows[0]
    boss += [(Kind.SEND, w, 8, GIVES) for w in workers]
    for w in asks:
        boss += [(Kind.RECV, w, 0, TAKES), (Kind.SEND, w, 8, GIVES)]
    boss += [(Kind.RECV, w, 0, TAKES) for w in workers]
    boss += [(Kind.SEND, w, 0, STOPS) for w in reversed(workers)]
    for w in [*workers, *asks]:
        work = int(draw.integers(100_000, 2_000_000))
        rows[w] += [(Kind.RECV, 0, 0, HAS), (Kind.CALC, 0, work, HAS), (Kind.SEND, 0, 200, RESULT)]
    for w in workers:
        rows[w].append((Kind.RECV, 0, 0, HAS))
    first = np.concatenate(([0], np.cumsum([len(own) for own in rows])))
    flat = [(rank, row) for rank, own in enumerate(rows) for row in own]
    made = np.zeros(len(flat), OPERATION)
    made["partner"] = NONE
    waiting: dict[tuple[Kind, int, int], list[int]] = {}
    for k, (rank, (kind, peer, amount, _)) in enumerate(flat):
        now = made[k]
        now["kind"], now["peer"], now["flags"] = kind, peer, Flag.CALL | Flag.BLOCKING
        now["calc_ns" if kind == Kind.CALC else "bytes"] = amount
        if kind == Kind.CALC:
            continue
        other = Kind.RECV if kind == Kind.SEND else Kind.SEND
        theirs = waiting.get((other, peer, rank))
        if theirs:
            one = theirs.pop(0)
            made["partner"][k], made["partner"][one] = one, k
        else:
            waiting.setdefault((kind, rank, peer), []).append(k)
    return ArraySchedule(
        operations=made,
        first=first.astype(np.uint64),
        rank=np.arange(ranks, dtype=np.uint32),
        start_ns=np.zeros(ranks),
        node=np.arange(ranks, dtype=np.uint32) // 2,
        site=np.array([row[3] for _, row in flat], np.uint32),
    )


def takes_s(task: Callable[[], object]) -> float:
    found = []
    for _ in range(3):
        begin = time.process_time()
        task()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    print("| ranks | operations | found | played | on a network | its replay | ratio |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for ranks, tasks in SIZES:
        schedule = farm(ranks, tasks)
        count = len(schedule.operations)
        none = np.zeros(count, np.int64)
        wild = (np.arange(count) < int(schedule.first[1])).astype(np.int64)
        own = Own(none, none, wild, 0)
        farms = find_farms(schedule, own, np.array([0]))
        begin = begin_of(schedule, farms[0], NETWORK)
        served = as_served(schedule, farms, NETWORK)
        assert served is not None
        replayer = Replayer(served)
        found = takes_s(lambda s=schedule, o=own: find_farms(s, o, np.array([0])))  # type: ignore[misc]
        play = takes_s(lambda s=schedule, f=farms, b=begin: Play(s, f[0], NETWORK, b).play())  # type: ignore[misc]
        whole = takes_s(lambda s=schedule, f=farms: as_served(s, f, NETWORK))  # type: ignore[misc]
        replay = takes_s(lambda r=replayer: r.run(NETWORK))  # type: ignore[misc]
        print(
            f"| {ranks} | {count:,} | {found:.2f} s | {play:.3f} s ({count / play / 1e6:.2f} "
            f"million a second) | {whole:.2f} s | {replay * 1e3:.1f} ms | {play / replay:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
