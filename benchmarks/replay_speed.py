"""How fast schedules of whole programs are replayed, beside a pass over memory of the same bytes.

    python benchmarks/replay_speed.py [--large]

The program is a ring: each step of each rank is some computation, two receives and two sends that
begin, and their waits. One replay is one network. `--large` adds 1,024 ranks with 100,000
operations each (2.5 GiB). Times are the processor's own, the least of five, so that what else the
machine does counts for little. Then run time as a curve over 1,000 latencies, of the ring, of ranks
that take large messages from all others in any order, and of a ring that awaits large messages one
by one. Prints the tables of docs/theory/predict.md.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from imbrex.replay.arrays import OPERATION, ArraySchedule, Flag, Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.parametric import of_latency

STEP = 8
SIZES = [(64, 10_000), (64, 100_000), (256, 25_000), (1024, 6_400), (1024, 25_000)]
LARGE = [(1024, 100_000)]
ROUTE = Route(latency_ns=2000, byte_ns=0.1, gap_ns=50, send_ns=200, receive_ns=200)
NETWORK = Network(ROUTE, ROUTE)


def ring(ranks: int, calls: int) -> ArraySchedule:
    """`calls` operations of each rank."""
    steps = calls // STEP
    each = steps * STEP
    one = np.zeros((steps, STEP), OPERATION)
    messages = (Kind.RECV, Kind.RECV, Kind.SEND, Kind.SEND)
    waits = (Kind.WAIT_RECV, Kind.WAIT_RECV, Kind.WAIT_SEND, Kind.WAIT_SEND)
    one["kind"] = messages + waits
    one["flags"] = (Flag.CALL,) * 5 + (0,) * 3
    one["bytes"][:, :4] = 8192
    one["calc_ns"][:, 4] = 20_000 + np.random.default_rng(1).integers(0, 5000, steps)
    operations = np.tile(one, (ranks, 1, 1))
    begin = (np.arange(steps) * STEP)[None, :]
    own = np.arange(ranks)[:, None]
    left, right = (own - 1) % ranks, (own + 1) % ranks
    # Receives from the left and the right, sends to the left and the right, and their waits.
    for place, peer, partner in (
        (0, left, left * each + begin + 3),
        (1, right, right * each + begin + 2),
        (2, left, left * each + begin + 1),
        (3, right, right * each + begin + 0),
        (4, left, left * each + begin + 3),
        (5, right, right * each + begin + 2),
        (6, left, own * each + begin + 2),
        (7, right, own * each + begin + 3),
    ):
        operations["peer"][:, :, place] = peer
        operations["partner"][:, :, place] = partner
    return ArraySchedule(
        operations=operations.reshape(-1),
        first=(np.arange(ranks + 1) * each).astype(np.uint64),
        rank=np.arange(ranks, dtype=np.uint32),
        start_ns=np.zeros(ranks),
        node=np.arange(ranks, dtype=np.uint32),
    )


def best_s(task: Callable[[], object], times: int = 5) -> float:
    found = []
    for _ in range(times):
        begin = time.process_time()
        task()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    print(
        "| ranks | operations | one after the other | million a second | over memory "
        "| links shared (million a second) |"
    )
    print("|--:|--:|--:|--:|--:|--:|")
    for ranks, calls in SIZES + (LARGE if given.large else []):
        schedule = ring(ranks, calls)
        count = len(schedule.operations)
        replayer = Replayer(schedule)
        replay = best_s(lambda r=replayer: r.run(NETWORK, shared=False))  # type: ignore[misc]
        # What a replay reads and writes: the operations, and a time for each.
        words = schedule.operations.view(np.uint64)
        times = np.zeros(count)
        memory = best_s(lambda w=words, t=times: (w.sum(), t.fill(1.0)))  # type: ignore[misc]
        shared = "-"
        if count <= 20_000_000:
            takes = best_s(lambda r=replayer: r.run(NETWORK))  # type: ignore[misc]
            shared = f"{takes:.3f} s ({count / takes / 1e6:.0f})"
        print(
            f"| {ranks} | {count:,} | {replay:.3f} s | {count / replay / 1e6:.0f} | "
            f"{replay / memory:.1f} x | {shared} |",
            flush=True,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    print(f"\nAt most {peak:.1f} GiB of memory, with the schedules and what made them.\n")
    print("| program | ranks | operations | pieces | passes | curve | a replay at each point |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    curve_of_latency("ring", ring(64, 10_000), NETWORK)
    held = replace(ROUTE, byte_ns=1.0, held_by_sender=True, held_by_receiver=True)
    for ranks, rounds in ((4, 25), (4, 250), (6, 25), (8, 25), (8, 100), (12, 10)):
        curve_of_latency("any order", any_order(ranks, rounds), Network(held, held))
    for ranks in (16, 64):
        curve_of_latency("one by one", one_by_one(ranks, 20), Network(held, held))


def any_order(ranks: int, rounds: int) -> ArraySchedule:
    """All send 160 KB to all, and take them in another order each time, as MPI_Waitany does."""
    draw = np.random.default_rng(1)
    receivers = ranks - 1
    each = 1 + 4 * receivers
    own = np.zeros((ranks, rounds, each), OPERATION)
    for rank in range(ranks):
        peers = [p for p in range(ranks) if p != rank]
        for turn in range(rounds):
            base = (rank * rounds + turn) * each

            def of(peer: int, place: int, turn: int = turn) -> int:
                return (peer * rounds + turn) * each + place

            rows = [(Kind.CALC, rank, 0)]
            mine = [p - (p > rank) for p in range(ranks)]
            theirs = {p: rank - (rank > p) for p in peers}
            rows += [(Kind.RECV, p, of(p, 1 + receivers + theirs[p])) for p in peers]
            rows += [(Kind.SEND, p, of(p, 1 + theirs[p])) for p in peers]
            for p in draw.permutation(peers).tolist():
                rows.append((Kind.WAIT_RECV, p, of(p, 1 + receivers + theirs[p])))
            rows += [(Kind.WAIT_SEND, rank, base + 1 + receivers + mine[p]) for p in peers]
            for place, (kind, peer, partner) in enumerate(rows):
                is_call = not 1 + 3 * receivers < place
                now = own[rank, turn, place]
                now["kind"], now["peer"], now["partner"] = kind, peer, partner
                now["flags"] = Flag.CALL if is_call else 0
                now["bytes"] = 160_000 if kind in (Kind.SEND, Kind.RECV) else 0
            own[rank, turn, 1]["calc_ns"] = draw.integers(50_000, 200_000)
    return ArraySchedule(
        operations=own.reshape(-1),
        first=(np.arange(ranks + 1) * rounds * each).astype(np.uint64),
        rank=np.arange(ranks, dtype=np.uint32),
        start_ns=np.zeros(ranks),
        node=np.arange(ranks, dtype=np.uint32),
    )


def one_by_one(ranks: int, steps: int) -> ArraySchedule:
    """The ring with 160 KB a message, where each is awaited in a call of its own."""
    schedule = ring(ranks, steps * STEP)
    operations = schedule.operations.reshape(ranks, steps, STEP)
    operations["flags"] = Flag.CALL
    operations["bytes"][:, :, :4] = 160_000
    work_ns = np.random.default_rng(1).integers(50_000, 200_000, (ranks, steps))
    operations["calc_ns"][:, :, 4] = work_ns
    return schedule


def curve_of_latency(name: str, schedule: ArraySchedule, network: Network) -> None:
    """1,000 points of run time over latencies from 0 to 100 us, held against a replay at each."""
    replayer = Replayer(schedule)
    points = np.linspace(0.0, 100_000.0, 1000)
    parameter = of_latency(replayer, network)
    found = parameter.curve(points.tolist())
    takes = best_s(lambda: parameter.curve(points.tolist()), 3)
    begin = time.process_time()
    each = [replayer.run(network.with_latency(float(ns)), shared=False).run_ns for ns in points]
    apart = time.process_time() - begin
    if (found.run_ns != np.array(each)).any():
        raise SystemExit(f"{name}: a point differs from its replay")
    bends = np.diff(np.diff(found.run_ns) / np.diff(points))
    print(
        f"| {name} | {schedule.ranks} | {len(schedule.operations):,} | "
        f"{1 + (np.abs(bends) > 1e-6).sum()} | {found.passes:.1f} | "
        f"{takes:.2f} s | {apart:.2f} s |",
        flush=True,
    )


if __name__ == "__main__":
    main()
