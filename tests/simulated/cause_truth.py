"""Why calls took their time: causes.npy against the network's log and the ranks' own notes.

The truth of a call's parts follows from the notes of all ranks (when each began what), from how
SMPI sends (up to `eager_below` bytes a send returns at once, larger and synchronous ones wait for
their receive), and from when the network says that data moved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from .truth import PARTS, Action, Completed, Interval, Program, Verdict, block_sizes, covered, union

TO_ROOT = ("reduce", "gather")
FROM_ROOT = ("bcast", "scatter")
ENDS_NS = 1.05e9  # what a program adds to its first and its last computation
PROBES = ("MPI_Probe", "MPI_Iprobe")
CHECKED = (
    *("late_sender", "late_collective", "late_receiver", "transfer", "stalled"),
    *("gainable", "lost_overlap", "undriven"),
)


def _length(interval: Interval) -> float:
    return interval[1] - interval[0]


@dataclass(frozen=True)
class Job:
    """All ranks of one program, and when its data moved."""

    programs: Sequence[Program]
    senders: dict[int, int]  # by size of the message
    moving: dict[int, list[Action]]  # by size
    operations: list[dict[int, str]]  # of each rank, by size of the message
    eager_below: int

    def moved(self, rank: int, sizes: Sequence[int]) -> list[Interval]:
        """When data of these sizes moved from or to this rank."""
        return union(
            (a.begin, a.end)
            for size in sizes
            for a in self.moving.get(size, ())
            if rank in (a.source, a.target)
        )

    def partner(self, rank: int, size: int) -> int:
        (action,) = self.moving[size]
        return action.target if action.source == rank else action.source

    def waits_for_receive(self, rank: int, size: int) -> bool:
        """Whether this rank's send of this message is over only once it was received."""
        operation = self.operations[rank][size]
        return size >= self.eager_below or operation in ("MPI_Ssend", "MPI_Issend")


def job_of(programs: Sequence[Program], actions: Sequence[Action], eager_below: int) -> Job:
    moving: dict[int, list[Action]] = defaultdict(list)
    for action in actions:
        moving[action.size].append(action)
    operations = [{size: name for size, _, name in p.messages} for p in programs]
    senders = {a.size: a.source for a in actions}
    return Job(programs, senders, moving, operations, eager_below)


def true_parts(job: Job, rank: int, call: Completed) -> dict[str, Interval]:
    """What is true of one call, least and most: the most where the rule leaves it open."""
    late, collective = _waits(job, rank, call)
    parts: dict[str, Interval] = {"late_sender": late, "late_collective": collective}
    length = call.exit - call.enter
    messages = [size for size in call.sizes if size]
    if call.any and len(call.sizes) > 1:
        return parts | {name: (0.0, length) for name in CHECKED if name not in parts}
    until = (call.enter + late[0] + collective[0], call.enter + late[1] + collective[1])
    late_receiver = _late_receiver(job, rank, call, messages, until)
    rest = (until[0] + late_receiver[0], min(call.exit, until[1] + late_receiver[1]))
    parts["late_receiver"] = late_receiver
    needed = [
        size for size in messages
        if job.senders[size] != rank or job.waits_for_receive(rank, size)
    ]  # fmt: skip
    sizes, posted = list(messages), []
    if 0 in call.sizes:
        number = job.programs[rank].joined_before(call.enter)
        block = job.programs[rank].joined[number].block
        sizes += block_sizes(block) if block else []
        posted = [max(p.joined[number].at for p in job.programs)] if block else []
    if call.operation in PROBES or not (needed or posted):
        return parts | dict.fromkeys(("transfer", "stalled", "gainable"), (0.0, 0.0))
    moved = job.moved(rank, sizes)
    least, most = (covered(moved, start, call.exit) for start in reversed(rest))
    gainable = (call.exit - rest[1], call.exit - rest[0])
    parts["gainable"], parts["transfer"] = gainable, (least, most)
    parts["stalled"] = (max(0.0, gainable[0] - most), max(0.0, gainable[1] - least))
    parts["lost_overlap"] = _lost(job, rank, call, needed, posted, gainable)
    parts["undriven"] = _undriven(job, rank, call, messages, rest, gainable)
    return parts


def _waits(job: Job, rank: int, call: Completed) -> tuple[Interval, Interval]:
    """How long a call waited for senders, and after that for the ranks of a collective."""
    programs = job.programs

    def held_until(moment: float) -> float:
        return min(max(moment, call.enter), call.exit)

    messages = [size for size in call.sizes if size]
    received = [size for size in messages if job.senders[size] != rank]
    entered = [held_until(programs[job.senders[size]].entered[size]) for size in received]
    until = call.enter
    if entered:
        until = min(entered) if call.any else max(entered)
    late: Interval = (until - call.enter, until - call.enter)
    if call.any and len(received) < len(messages):  # a send may have come first
        late = (0.0, late[1])
    if 0 not in call.sizes:
        return late, (0.0, 0.0)
    number = programs[rank].joined_before(call.enter)
    joined = [program.joined[number] for program in programs]
    operation, root = joined[rank].operation.lower(), joined[rank].root
    last = max(join.at for join in joined)
    if any(operation.endswith(name) for name in FROM_ROOT):
        last = joined[root].at if root != rank else call.enter
    elif any(operation.endswith(name) for name in TO_ROOT) and "all" not in operation:
        last = last if root == rank else call.enter
    wait = held_until(last) - call.enter
    # SMPI's MPI_Ibarrier may be over before all have entered it.
    return late, (0.0 if operation.endswith("ibarrier") else wait, wait)


def _late_receiver(
    job: Job, rank: int, call: Completed, messages: Sequence[int], until: Interval
) -> Interval:
    """How long it waited for receives to be posted, after senders and ranks were there."""
    posted = [
        job.programs[job.partner(rank, size)].entered[size]
        for size in messages
        if job.senders[size] == rank and job.waits_for_receive(rank, size)
    ]
    last = min(call.exit, max(posted, default=call.enter))
    wait = (max(0.0, last - until[1]), max(0.0, last - until[0]))
    if 0 in call.sizes:
        number = job.programs[rank].joined_before(call.enter)
        joined = [program.joined[number] for program in job.programs]
        if joined[rank].root >= 0:  # the others may have to be there first
            last = min(call.exit, max(join.at for join in joined))
            wait = (wait[0], max(wait[1], last - until[0]))
    return wait


def _lost(
    job: Job,
    rank: int,
    call: Completed,
    needed: Sequence[int],
    posted: Sequence[float],
    gainable: Interval,
) -> Interval:
    """How long this rank computed while both sides had posted, at most what is gainable."""
    own = job.programs[rank]
    both = [
        max(own.entered[size], job.programs[job.partner(rank, size)].entered[size])
        for size in needed
    ]
    computed = max(
        (covered(own.compute, start, call.enter) for start in (*both, *posted)), default=0.0
    )
    return min(computed, gainable[0]), min(computed, gainable[1])


def _undriven(
    job: Job,
    rank: int,
    call: Completed,
    messages: Sequence[int],
    rest: Interval,
    gainable: Interval,
) -> Interval:
    """How long a partner computed with its side begun, once everybody was there."""
    least = most = 0.0
    for size in messages:
        partner = job.programs[job.partner(rank, size)]
        ends = [c for c in partner.completed if size in c.sizes and c.operation not in PROBES]
        begun, end = partner.entered[size], min([call.exit, *(c.enter for c in ends)])
        long = covered(partner.compute, max(rest[0], begun), end)
        most = max(most, long)
        if ends:  # else a test saw its end, of which there is no note
            least = max(least, covered(partner.compute, max(rest[1], begun), end))
    return min(least, gainable[0]), min(most, gainable[1])


def check_causes(
    programs: Sequence[Program],
    rank: int,
    actions: Sequence[Action],
    verdict: Verdict,
    *,
    contention: bool,
    eager_below: int,
    rate: float,
    where: object,
) -> None:
    """The parts of each call of one rank, by operation, against what is true of them."""
    program = programs[rank]
    for (operation, section), row in program.causes.items():
        least, most = (sum(row[f"{part}_{end}"] for part in PARTS) for end in ("min", "max"))
        verdict.check("parts add up", least, row["call"], most, (where, operation, section, row))
    job = job_of(programs, actions, eager_below)
    true: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    calls: dict[str, int] = defaultdict(int)
    for call in program.completed:
        calls[call.operation] += 1
        for cause, interval in true_parts(job, rank, call).items():
            for i in (0, 1):
                true[call.operation, cause][i] += interval[i]
    computed = sum(map(_length, program.compute)) - ENDS_NS
    for operation, count in calls.items():
        rows = [row for (name, _), row in program.causes.items() if name == operation]
        unknown = sum(row["unattributed_max"] for row in rows)
        for cause in CHECKED:
            if contention and cause in ("transfer", "stalled"):
                continue  # shared links slow it down: what is beyond X_hi is told as stalled
            low, high = (sum(row[f"{cause}_{end}"] for row in rows) for end in ("min", "max"))
            least, most = true[operation, cause]
            known = least == most
            if cause in ("gainable", "lost_overlap"):  # no row gains more than the rank computes
                least = min(least, computed)
            slop = 4 * count + rate * sum(row["call"] for row in rows)
            story = (where, operation, rows, least, most)
            verdict.check(f"{cause} at least", float("-inf"), low - slop, most, story)
            verdict.check(f"{cause} at most", least, high + unknown + slop, float("inf"), story)
            if known:
                verdict.late[cause].append((low, least, high))
