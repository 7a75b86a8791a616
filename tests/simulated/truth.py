"""What the simulator says about random programs, against what the profile says.

Three files come together: the network's log (when every message really moved), what each rank wrote
about its own calls and messages, and the rows of its profile.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

Interval = tuple[float, float]

ENVELOPE = 16  # bytes that SMPI adds to each message on the wire
PERIOD, MESSAGES_BELOW = 2000, 100  # sizes modulo PERIOD: below, single messages; else blocks
QUANTITIES = (
    *("count", "transfers", "bytes", "x_lo", "x_hi", "o_min", "o_max", "e_min", "e_max"),
    *("call", "w_min", "w_max", "undetermined", "contradicted", "uncalibrated", "unknown_end"),
)
KINDS = ("call", "matched", "expected")
EVIDENCE_BOUNDS = tuple(
    f"{kind}_{part}_{end}" for kind in KINDS for part in ("o", "e") for end in ("min", "max")
)
EVIDENCE = (
    *("transfers", "matched", "expected", "contradicted", "bytes", "x_lo", "x_hi"),
    *EVIDENCE_BOUNDS,
)
PARTS = (
    *("late_sender", "late_receiver", "late_collective", "transfer", "stalled", "library"),
    "file_io",
    "unattributed",
)
CAUSES = (
    *("count", "logged", "call"),
    *(
        f"{part}_{end}"
        for part in (*PARTS, "gainable", "lost_overlap", "undriven")
        for end in ("min", "max")
    ),
)


@dataclass(frozen=True)
class Action:
    """One message on the network; times in ns."""

    size: int
    source: int
    target: int
    begin: float
    end: float


@dataclass(frozen=True)
class Joined:
    """One rank's part in a collective, by the rank's own notes."""

    block: int  # 0: it moves nothing
    operation: str
    root: int  # -1: none
    at: float


@dataclass(frozen=True)
class Completed:
    """A call that waits for all or, `any`, the first of what it completed: sizes of messages, 0 for
    a collective."""

    operation: str
    any: bool
    enter: float
    exit: float
    sizes: tuple[int, ...]


@dataclass
class Program:
    """What one rank wrote about one seed."""

    start_ns: int
    end_ns: int = 0
    exposed: bool = False  # others may put into its memory: no wait is claimed
    compute: list[Interval] = field(default_factory=list)
    messages: list[tuple[int, str, str]] = field(default_factory=list)  # size, section, operation
    collectives: list[tuple[int, str]] = field(default_factory=list)  # block, operation
    rows: list[tuple[str, str, dict[str, int]]] = field(default_factory=list)
    entered: dict[int, float] = field(default_factory=dict)  # by size of the message
    joined: list[Joined] = field(default_factory=list)
    completed: list[Completed] = field(default_factory=list)
    evidence: dict[str, dict[str, int]] = field(default_factory=dict)  # sums by section
    causes: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    clock_error_ns: int = 0
    clock_violations: int = 0

    def joined_before(self, moment: float) -> int:
        """Number of the last collective that this rank had begun."""
        return max((k for k, join in enumerate(self.joined) if join.at <= moment), default=0)

    def sums(self, section: str | None = None, operation: str | None = None) -> dict[str, int]:
        """Rows added up: of one section, of one operation, or all."""
        total = dict.fromkeys(QUANTITIES, 0)
        for name, where, row in self.rows:
            if section in (None, where) and operation in (None, name):
                for quantity, value in row.items():
                    total[quantity] += value
        return total


def read_log(file: Path) -> list[Action]:
    """The network's log, by begin; control messages are left out."""
    actions = []
    for line in file.read_text().splitlines():
        size, source, target, begin, end = line.split()
        if int(size) - ENVELOPE >= PERIOD and source != target:
            actions.append(
                Action(
                    *(int(size) - ENVELOPE, int(source), int(target)),
                    *(float(begin) * 1e9, float(end) * 1e9),
                )
            )
    return sorted(actions, key=lambda action: action.begin)


def read_programs(file: Path) -> dict[int, Program]:
    """By seed."""
    programs: dict[int, Program] = {}
    current = Program(0)
    for line in file.read_text().splitlines():
        kind, *rest = line.split()
        if kind == "program":
            current = programs[int(rest[0])] = Program(int(rest[1]))
        elif kind == "compute":
            current.compute.append((float(rest[0]), float(rest[1])))
        elif kind == "message":
            current.messages.append((int(rest[0]), rest[1], rest[2]))
            current.entered[int(rest[0])] = float(rest[3])
        elif kind == "collective":
            if int(rest[0]):
                current.collectives.append((int(rest[0]), rest[1]))
            current.joined.append(Joined(int(rest[0]), rest[1], int(rest[2]), float(rest[3])))
        elif kind == "completed":
            sizes = tuple(map(int, rest[4:]))
            times = float(rest[2]), float(rest[3])
            current.completed.append(Completed(rest[0], rest[1] == "1", *times, sizes))
        elif kind == "evidence":
            _add(current.evidence.setdefault(rest[1], {}), EVIDENCE, rest[2:])
        elif kind == "causes":
            _add(current.causes.setdefault((rest[0], rest[1]), {}), CAUSES, rest[2:])
        elif kind == "clocks":
            current.clock_error_ns, current.clock_violations = map(int, rest)
        elif kind == "row":
            values = dict(zip(QUANTITIES, map(int, rest[3:]), strict=True))
            current.rows.append((rest[0], rest[1], values))
        elif kind == "end":
            current.end_ns = int(rest[0])
        else:
            current.exposed = kind == "exposed"
    return programs


def block_sizes(block: int) -> list[int]:
    """What messages of a collective of such blocks may be long."""
    return [k * block for k in range(1, 5) if k * block % PERIOD >= MESSAGES_BELOW]


def _add(sums: dict[str, int], names: Sequence[str], values: Sequence[str]) -> None:
    for name, value in zip(names, values, strict=True):
        sums[name] = sums.get(name, 0) + int(value)


def covered(intervals: Iterable[Interval], begin: float, end: float) -> float:
    """How much of begin..end lies in the intervals, which do not overlap."""
    return sum(max(0.0, min(b, end) - max(a, begin)) for a, b in intervals)


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time in intervals that do not overlap."""
    joined: list[Interval] = []
    for a, b in sorted(intervals):
        if joined and a <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return joined


@dataclass
class Verdict:
    """What was checked, what was wrong, and how wide the bounds were: (max - min) / X by kind."""

    violations: list[str] = field(default_factory=list)
    checked: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    widths: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    hidden_ns: float = 0.0
    waits: list[Interval] = field(default_factory=list)  # claimed and true
    # of each row: (max - min) / X_hi of the hidden time, by `call`, `matched`, `expected`
    matched_widths: dict[str, list[tuple[float, float, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    # per rank and operation: least, true and most
    late: dict[str, list[tuple[float, float, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def check(self, kind: str, low: float, value: float, high: float, where: object) -> None:
        self.checked[kind] += 1
        if not low <= value <= high:
            self.violations.append(f"{kind}: {value} is not in {low} .. {high}: {where}")

    def table(self) -> str:
        lines = [f"{'kind':<24}{'checked':>9}{'median (max - min)/X':>24}{'undetermined':>14}"]
        for kind, widths in sorted(self.widths.items()):
            widths.sort()
            wide = sum(w >= 1 for w in widths) / len(widths)
            lines.append(
                f"{kind:<24}{len(widths):>9}{widths[len(widths) // 2]:>24.3f}{wide:>14.0%}"
            )
        names = [f"{statistic} {kind}" for statistic in ("median", "mean") for kind in KINDS]
        lines.append(f"{'kind':<24}{'rows':>9}" + "".join(f"{name:>17}" for name in names))
        for kind, widths in sorted(self.matched_widths.items()):
            columns = [sorted(row[i] for row in widths) for i in range(len(KINDS))]
            values = [column[len(column) // 2] for column in columns]
            values += [sum(column) / len(column) for column in columns]
            lines.append(
                f"{kind:<24}{len(widths):>9}" + "".join(f"{value:>17.3f}" for value in values)
            )
        for cause, found in sorted(self.late.items()):
            least, truth, most = (sum(f[i] for f in found) * 1e-9 for i in (0, 1, 2))
            lines.append(f"{cause}: {least:.4f} to {most:.4f} s, truth {truth:.4f} s")
        claimed, true = (sum(w[i] for w in self.waits) for i in (0, 1))
        lines.append(f"wait: {claimed / true:.0%} of it is claimed for certain" if true else "")
        lines.append(f"{sum(self.checked.values())} checks, {len(self.violations)} violations")
        return "\n".join(lines)


def kind_of(size: int, operation: str, eager_below: int) -> str:
    """How the report groups transfers."""
    if operation in ("MPI_Put", "MPI_Get"):
        return "one-sided"
    way = "eager" if size < eager_below else "rendezvous"
    return f"{way} {'receives' if operation.endswith('recv') else 'sends'}"


def check_program(
    program: Program,
    rank: int,
    actions: list[Action],
    verdict: Verdict,
    *,
    contention: bool,
    eager_below: int,
    where: object,
) -> None:
    """One rank's profile of one program against the network's log of that program.

    Without contention times must lie within the bounds. With it the hidden and the exposed share
    of each transfer must lie within the bounds divided by X_lo, and no upper limit holds for how
    long data moved in a call.
    """
    own = [a for a in actions if rank in (a.source, a.target)]
    moving = [(a.begin, a.end) for a in own]
    sections: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for size, section, operation in program.messages:
        found = [a for a in own if a.size == size]
        verdict.check("messages found", 1, len(found), 1, (where, size, operation))
        for a in found[:1]:
            hidden = covered(program.compute, a.begin, a.end)
            kind = kind_of(size, operation, eager_below)
            sections[section].append((kind, a.end - a.begin, hidden))
    for section, transfers in sections.items():
        _check_section(program, section, transfers, verdict, contention, (where, section))
    _check_collectives(program, own, verdict, contention, where)
    _check_wait(program, moving, verdict, contention, where)


def _check_section(
    program: Program,
    section: str,
    transfers: list[tuple[str, float, float]],
    verdict: Verdict,
    contention: bool,
    where: object,
) -> None:
    row = program.sums(section=section)
    slop = 4 * len(transfers)  # simulated times are rounded to ns
    duration, hidden = (sum(t[i] for t in transfers) for i in (1, 2))
    exposed = duration - hidden
    where = (where, row, transfers)
    verdict.check("one row each", len(transfers), row["transfers"], len(transfers), where)
    verdict.check("calibrated", 0, row["contradicted"] + row["uncalibrated"], 0, where)
    verdict.hidden_ns += hidden
    for kind, _, _ in transfers[:1]:
        verdict.widths[kind].append((row["o_max"] - row["o_min"]) / max(1, row["x_hi"]))
    if not contention:
        verdict.check("transfer", row["x_lo"] - slop, duration, row["x_hi"] + slop, where)
        verdict.check("hidden", row["o_min"] - slop, hidden, row["o_max"] + slop, where)
        verdict.check("exposed", row["e_min"] - slop, exposed, row["e_max"] + slop, where)
        return
    verdict.check("transfer", row["x_lo"] - slop, duration, float("inf"), where)
    for name, part, low, high in (("hidden", hidden, "o_min", "o_max"),
                                  ("exposed", exposed, "e_min", "e_max")):  # fmt: skip
        if len(transfers) == 1:
            x_lo = max(1, row["x_lo"])
            least, most = (row[low] - slop) / x_lo, (row[high] + slop) / x_lo
            verdict.check(f"share {name}", least, part / duration, most, where)
        else:
            verdict.check(f"least {name}", row[low] - slop, part, float("inf"), where)


def _check_collectives(
    program: Program, own: list[Action], verdict: Verdict, contention: bool, where: object
) -> None:
    blocks = {k * block: block for block, _ in program.collectives for k in range(1, 5)}
    moved: dict[int, list[Interval]] = defaultdict(list)
    for a in own:
        if a.size % PERIOD >= MESSAGES_BELOW:
            verdict.check("blocks known", 1, a.size in blocks, 1, (where, a))
            moved[blocks.get(a.size, 0)].append((a.begin, a.end))
    by_operation: dict[str, list[int]] = defaultdict(list)
    for block, operation in program.collectives:
        by_operation[operation].append(block)
    for operation, members in by_operation.items():
        row = program.sums(operation=operation)
        times = [union(moved[block]) for block in members]
        duration = sum(b - a for t in times for a, b in t)
        hidden = sum(covered(program.compute, a, b) for t in times for a, b in t)
        verdict.check("collectives", len(members), row["transfers"], len(members), (where, row))
        verdict.check("calibrated", 0, row["contradicted"] + row["uncalibrated"], 0, (where, row))
        if row["x_hi"]:
            verdict.widths["collectives"].append((row["o_max"] - row["o_min"]) / row["x_hi"])
        # Ranks that enter apart spread their messages over more than X_hi: then, as under
        # contention, the bounds are those of shares, here 0 and 1.
        verdict.check("collectives", 0, row["o_min"] + row["e_min"], 0, (where, row))
        verdict.checked["collectives beyond X_hi"] += duration > row["x_hi"]
        verdict.hidden_ns += hidden


def _check_wait(
    program: Program, moving: list[Interval], verdict: Verdict, contention: bool, where: object
) -> None:
    """Call time in which nothing of this rank moved."""
    calls = [(a[1], b[0]) for a, b in pairwise(program.compute)]
    calls = [(a, b) for a, b in calls if b > a]
    in_calls = sum(b - a for a, b in calls)
    waited = in_calls - sum(covered(calls, a, b) for a, b in union(moving))
    row = program.sums()
    slop = 4 * (len(calls) + len(moving))
    verdict.check("call time", in_calls, row["call"], in_calls, where)
    verdict.check("most wait", waited - slop, row["w_max"], float("inf"), where)
    if program.exposed:
        return
    if not contention:
        verdict.check("least wait", 0, row["w_min"], waited + slop, where)
        verdict.waits.append((row["w_min"], waited))


def check_all(
    programs: list[dict[int, Program]],
    actions: list[Action],
    verdict: Verdict,
    *,
    contention: bool,
    eager_below: int,
) -> None:
    """All seeds of a run; `programs` by rank."""
    begins = [a.begin for a in actions]
    seeds = sorted(programs[0])
    for seed in seeds:
        start = programs[0][seed].start_ns
        ends = [p[seed].end_ns for p in programs]
        verdict.check("programs ended", 1, min(ends), float("inf"), seed)
        end = max(ends)
        own = actions[bisect_left(begins, start - 1) : bisect_left(begins, end - 1)]
        for rank, by_seed in enumerate(programs):
            check_program(
                by_seed[seed],
                rank,
                own,
                verdict,
                contention=contention,
                eager_below=eager_below,
                where=(seed, rank),
            )
