"""Random jobs that could have been: no message arrives before it left, no rank leaves a barrier
before all have entered it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from tests.unit.analysis.jobs import (
    ALL,
    BUFFERED_SEND,
    COMPLETION,
    RECV,
    SEND,
    SYNC_SEND,
    Op,
    Rank,
)

KINDS = {"MPI_Send": SEND, "MPI_Ssend": SYNC_SEND, "MPI_Bsend": BUFFERED_SEND, "MPI_Isend": SEND}
LOST = 10_000
"""Added to the number of a message whose other side is not to be found."""

durations = st.integers(0, 25)


@dataclass
class Process:
    """One rank while its program runs."""

    rank: Rank = field(default_factory=Rank)
    now: int = 0
    open: list[tuple[int, int]] = field(default_factory=list)
    """Records to be completed, and from when on they may be."""


def _call(draw: st.DrawFn, p: Process, needs: int, op: Op) -> int:
    """Enter after some computation, leave not before `needs`; the record's number."""
    op.exit = max(op.enter + 1, needs) + draw(durations)
    p.now = op.exit
    p.rank.ops.append(op)
    return len(p.rank.ops) - 1


def _wait(draw: st.DrawFn, p: Process, site: int) -> None:
    if not p.open:
        return
    enter = p.now + draw(durations)
    needs = max(ready for _, ready in p.open)
    call = _call(draw, p, needs, Op(enter, 0, "MPI_Waitall", COMPLETION, site=site))
    for record, _ in p.open:
        p.rank.ops[record].end = call
    p.open = []


@st.composite
def jobs(draw: st.DrawFn, most: int = 6, lose: bool = True) -> list[Rank]:
    """The logs of two or three ranks, with sequences."""
    count = draw(st.integers(2, 3))
    processes = [Process() for _ in range(count)]
    numbers: dict[tuple[int, int, int], int] = {}
    for step in range(1, draw(st.integers(1, most)) + 1):
        action = draw(st.sampled_from(["message", "message", "message", "wait", "barrier", "all"]))
        if action == "wait":
            _wait(draw, processes[draw(st.integers(0, count - 1))], step)
        elif action == "message":
            _message(draw, processes, numbers, step, lose)
        else:
            enters = [p.now + draw(durations) for p in processes]
            number = numbers[-1, -1, -1] = numbers.get((-1, -1, -1), 0) + 1
            name, size = ("MPI_Barrier", 0) if action == "barrier" else ("MPI_Alltoall", 8)
            for p, enter in zip(processes, enters, strict=True):
                op = Op(enter, 0, name, ALL, size, site=step, sequence=number)
                _call(draw, p, max(enters) + 1, op)
    for p in processes:
        _wait(draw, p, 99)
    return [p.rank for p in processes]


def _message(
    draw: st.DrawFn,
    processes: list[Process],
    numbers: dict[tuple[int, int, int], int],
    step: int,
    lose: bool,
) -> None:
    source = draw(st.integers(0, len(processes) - 1))
    target = draw(st.sampled_from([r for r in range(len(processes)) if r != source]))
    send_form = draw(st.sampled_from(["MPI_Isend", *KINDS]))
    receive_form = draw(st.sampled_from(["MPI_Recv", "MPI_Irecv"]))
    tag, size = draw(st.integers(0, 1)), draw(st.sampled_from([0, 8, 8, 8]))
    sequence = numbers[source, target, tag] = numbers.get((source, target, tag), 0) + 1
    lost = LOST if lose and draw(st.integers(0, 9)) == 0 else 0
    a, b = processes[source], processes[target]
    left, posted = a.now + draw(durations), b.now + draw(durations)
    more = {"site": step, "tag": tag}
    send = Op(left, 0, send_form, KINDS[send_form], size, target, sequence=sequence, **more)
    receive = Op(posted, 0, receive_form, RECV, size, source, sequence=sequence + lost, **more)
    at = _call(draw, a, posted + 1 if send_form == "MPI_Ssend" else 0, send)
    if send_form == "MPI_Isend":
        a.open.append((at, 0))
    at = _call(draw, b, left + 1 if receive_form == "MPI_Recv" else 0, receive)
    if receive_form == "MPI_Irecv":
        b.open.append((at, left + 1))
