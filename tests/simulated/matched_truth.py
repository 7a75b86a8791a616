"""What the ranks found when they matched their calls, against the network's log and the ranks' own
notes: the bounds called `matched` of evidence.npy, and the causes of causes.npy."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from .truth import (
    EVIDENCE_BOUNDS,
    MESSAGES_BELOW,
    PARTS,
    PERIOD,
    Action,
    Completed,
    Interval,
    Program,
    Verdict,
    covered,
    kind_of,
    union,
)

SHIFTED_NS = 1e5  # by how much a judge that must find faults errs
TO_ROOT = ("reduce", "gather")
FROM_ROOT = ("bcast", "scatter")


def check_matched(
    program: Program,
    rank: int,
    actions: Sequence[Action],
    verdict: Verdict,
    *,
    contention: bool,
    eager_below: int,
    rate: float,
    where: object,
) -> None:
    """The hidden and the exposed part of each transfer of one rank. `rate`: how fast clocks may
    run."""
    own = [a for a in actions if rank in (a.source, a.target)]
    by_section: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for size, section, operation in program.messages:
        by_section[section].append((size, operation))
    for section, members in by_section.items():
        moved = [[(a.begin, a.end)] for a in own for size, _ in members if a.size == size]
        kind = kind_of(*members[0], eager_below)
        _check_row(program, section, kind, moved, verdict, contention, rate, where)
    for block, _ in program.collectives:
        moved = [union((a.begin, a.end) for a in own if a.size in block_sizes(block))]
        _check_row(program, f"c{block}", "collectives", moved, verdict, contention, rate, where)


def block_sizes(block: int) -> list[int]:
    """What messages of a collective of such blocks may be long."""
    return [k * block for k in range(1, 5) if k * block % PERIOD >= MESSAGES_BELOW]


def _check_row(
    program: Program,
    section: str,
    kind: str,
    moved: list[list[Interval]],
    verdict: Verdict,
    contention: bool,
    rate: float,
    where: object,
) -> None:
    """`moved`: when, of each transfer of this section."""
    row = program.evidence.get(section)
    verdict.check("evidence there", 1, row is not None, 1, (where, section))
    if not row:
        return
    bounds = [row[name] for name in EVIDENCE_BOUNDS]
    call, (o_min, o_max, e_min, e_max) = bounds[:4], bounds[4:8]
    x_lo, x_hi = row["x_lo"], row["x_hi"]
    slop = 4 * len(moved) + rate * x_hi
    duration = sum(b - a for times in moved for a, b in times)
    hidden = sum(covered(program.compute, a, b) for times in moved for a, b in times)
    exposed = duration - hidden
    where = (where, section, row, duration, hidden)
    verdict.check("not contradicted", 0, row["contradicted"], 0, where)
    verdict.checked["matched transfers"] += row["matched"]
    verdict.checked["transfers"] += row["transfers"]
    verdict.matched_widths[kind].append(
        ((call[1] - call[0]) / max(1, x_hi), (o_max - o_min) / max(1, x_hi))
    )
    verdict.check("matched within call", call[0] - slop, o_min, o_max, where)
    verdict.check("matched within call", o_min, o_max, call[1] + slop, where)
    if kind == "collectives":  # any more than X_hi counts as X_hi
        verdict.check("matched hidden", o_min - slop, min(hidden, x_hi), o_max + slop, where)
        verdict.check("matched exposed", e_min - slop, min(exposed, x_hi), e_max + slop, where)
    elif not contention:
        verdict.check("matched hidden", o_min - slop, hidden, o_max + slop, where)
        verdict.check("matched exposed", e_min - slop, exposed, e_max + slop, where)
    elif len(moved) == 1:
        for name, part, low, high in (
            ("hidden", hidden, o_min, o_max),
            ("exposed", exposed, e_min, e_max),
        ):
            least, most = (low - slop) / x_lo, (high + slop) / x_lo
            verdict.check(f"matched share {name}", least, part / duration, most, where)
    else:
        verdict.check("matched least hidden", o_min - slop, hidden, float("inf"), where)
        verdict.check("matched least exposed", e_min - slop, exposed, float("inf"), where)


def check_causes(
    programs: Sequence[Program],
    rank: int,
    actions: Sequence[Action],
    verdict: Verdict,
    *,
    rate: float,
    where: object,
) -> None:
    """The parts of each call of one rank, and how long it waited for whom."""
    program = programs[rank]
    for (operation, section), row in program.causes.items():
        least, most = (sum(row[f"{part}_{end}"] for part in PARTS) for end in ("min", "max"))
        verdict.check("parts add up", least, row["call"], most, (where, operation, section, row))
    senders = {a.size: a.source for a in actions}
    true: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    calls: dict[str, int] = defaultdict(int)
    for call in program.completed:
        calls[call.operation] += 1
        late, collective = _waits(programs, rank, senders, call)
        for cause, interval in (("late_sender", late), ("late_collective", collective)):
            for i in (0, 1):
                true[call.operation, cause][i] += interval[i]
    for operation, count in calls.items():
        rows = [row for (name, _), row in program.causes.items() if name == operation]
        for cause in ("late_sender", "late_collective"):
            low, high = (sum(row[f"{cause}_{end}"] for row in rows) for end in ("min", "max"))
            least, most = true[operation, cause]
            slop = 4 * count + rate * sum(row["call"] for row in rows)
            story = (where, operation, rows, least, most)
            verdict.check(f"{cause} at least", float("-inf"), low - slop, most, story)
            verdict.check(f"{cause} at most", least, high + slop, float("inf"), story)
            if least == most:
                verdict.late[cause].append((low, least, high))


def _waits(
    programs: Sequence[Program], rank: int, senders: dict[int, int], call: Completed
) -> tuple[Interval, Interval]:
    """How long a call waited for senders, and after that for the ranks of a collective."""

    def held_until(moment: float) -> float:
        return min(max(moment, call.enter), call.exit)

    messages = [size for size in call.sizes if size]
    received = [size for size in messages if senders[size] != rank]
    entered = [held_until(programs[senders[size]].entered[size]) for size in received]
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


def _shifted(program: Program, by_ns: float) -> Program:
    """The same with the moments of its notes later, and its calls longer, than they were."""
    causes = {key: {**row, "call": row["call"] + int(by_ns)} for key, row in program.causes.items()}
    return replace(
        program,
        causes=causes,
        compute=[(a + by_ns, b + by_ns) for a, b in program.compute],
        entered={size: at + by_ns for size, at in program.entered.items()},
        joined=[replace(join, at=join.at + by_ns) for join in program.joined],
        completed=[replace(call, exit=call.exit + by_ns) for call in program.completed],
    )


def check_all_matched(
    programs: Sequence[dict[int, Program]],
    actions: list[Action],
    verdict: Verdict,
    *,
    contention: bool,
    eager_below: int,
    rate: float = 0,
    shift_ns: float = 0,
) -> None:
    """All seeds of a run; `programs` by rank. `rate`: how fast clocks may run; with `shift_ns` the
    judge errs."""
    begins = [a.begin for a in actions]
    for seed in sorted(programs[0]):
        all_of = [by_seed[seed] for by_seed in programs]
        start, end = all_of[0].start_ns, max(program.end_ns for program in all_of)
        own = actions[bisect_left(begins, start - 1) : bisect_left(begins, end - 1)]
        if shift_ns:
            all_of = [_shifted(program, shift_ns) for program in all_of]
        verdict.checked["clocks differ"] += all_of[0].clock_error_ns > 0
        # SMPI's MPI_Ibarrier may be over before all have entered it, as if clocks were wrong.
        if all(join.operation != "MPI_Ibarrier" for join in all_of[0].joined):
            verdict.check("clock violations", 0, all_of[0].clock_violations, 0, seed)
        for rank, program in enumerate(all_of):
            where = (seed, rank)
            check_matched(
                *(program, rank, own, verdict),
                contention=contention,
                eager_below=eager_below,
                rate=rate,
                where=where,
            )
            check_causes(all_of, rank, own, verdict, rate=rate, where=where)
