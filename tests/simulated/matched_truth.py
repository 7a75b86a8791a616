"""What the ranks found when they matched their calls, against the network's log and the ranks' own
notes: the bounds called `matched` and `expected` of evidence.npy. Causes: cause_truth.py."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from .cause_truth import check_causes
from .truth import (
    EVIDENCE_BOUNDS,
    Action,
    Interval,
    Program,
    Verdict,
    block_sizes,
    covered,
    kind_of,
    union,
)

SHIFTED_NS = 1e5  # by how much a judge that must find faults errs


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
    slop = 4 * len(moved) + rate * row["x_hi"]
    where = (where, section, row)
    verdict.check("not contradicted", 0, row["contradicted"], 0, where)
    verdict.checked["matched transfers"] += row["matched"]
    verdict.checked["expected transfers"] += row["expected"]
    verdict.checked["transfers"] += row["transfers"]
    widths = [(b[1] - b[0]) / max(1, row["x_hi"]) for b in (bounds, bounds[4:], bounds[8:])]
    verdict.matched_widths[kind].append((widths[0], widths[1], widths[2]))
    for name, at in (("matched", 4), ("expected", 8)):
        least, most = bounds[at : at + 2]
        verdict.check(f"{name} within call", bounds[0] - slop, least, most, where)
        verdict.check(f"{name} within call", least, most, bounds[1] + slop, where)
        collective = kind == "collectives"
        four = bounds[at : at + 4]
        _check_bounds(
            name,
            four,
            program,
            moved,
            verdict,
            contention,
            collective,
            row["x_lo"],
            row["x_hi"],
            slop,
            where,
        )


def _check_bounds(
    name: str,
    bounds: Sequence[int],
    program: Program,
    moved: list[list[Interval]],
    verdict: Verdict,
    contention: bool,
    collective: bool,
    x_lo: int,
    x_hi: int,
    slop: float,
    where: object,
) -> None:
    """Hidden and exposed of one kind of evidence."""
    o_min, o_max, e_min, e_max = bounds
    duration = sum(b - a for times in moved for a, b in times)
    hidden = sum(covered(program.compute, a, b) for times in moved for a, b in times)
    exposed = duration - hidden
    where = (where, duration, hidden)
    if collective:  # any more than X_hi counts as X_hi
        verdict.check(f"{name} hidden", o_min - slop, min(hidden, x_hi), o_max + slop, where)
        verdict.check(f"{name} exposed", e_min - slop, min(exposed, x_hi), e_max + slop, where)
    elif not contention:
        verdict.check(f"{name} hidden", o_min - slop, hidden, o_max + slop, where)
        verdict.check(f"{name} exposed", e_min - slop, exposed, e_max + slop, where)
    elif len(moved) == 1:
        for part_name, part, low, high in (
            ("hidden", hidden, o_min, o_max),
            ("exposed", exposed, e_min, e_max),
        ):
            least, most = (low - slop) / x_lo, (high + slop) / x_lo
            verdict.check(f"{name} share {part_name}", least, part / duration, most, where)
    else:
        verdict.check(f"{name} least hidden", o_min - slop, hidden, float("inf"), where)
        verdict.check(f"{name} least exposed", e_min - slop, exposed, float("inf"), where)


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
            check_causes(
                *(all_of, rank, own, verdict),
                contention=contention,
                eager_below=eager_below,
                rate=rate,
                where=where,
            )
