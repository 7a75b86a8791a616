"""The time in MPI calls, shared out to causes (causes.npy); without them only what calls say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from imbrex.diagnosis.interval import NOTHING, Interval, total
from imbrex.profile.aggregate import Integers, group, sum_columns
from imbrex.profile.causes import CAUSES, GAINS
from imbrex.profile.format import QUANTITIES, Table
from imbrex.profile.run import Run

LATE = ("late_sender", "late_receiver", "late_collective")
"""The causes that are another rank's lateness."""
MOVING = ("transfer", "stalled")
"""The causes that are the movement of data."""
APART = 0.6
"""How much of the time in which data moved may be open between the two that they are told apart."""
UNKNOWN = "unattributed"

_COUNTS = ("count", "logged", "call_ns")
_ENDS = tuple(f"{name}_{end}_ns" for name in (*CAUSES, *GAINS) for end in ("min", "max"))
COLUMNS = _COUNTS + _ENDS
"""The columns of causes.npy that are summed."""


@dataclass(frozen=True)
class Division:
    """Call time in s over ranks, and the part of it that each cause has.

    `gainable` is what perfect overlap could save at most, `lost_overlap` what progress during the
    computation would have; `undriven` is what moved, or did not, while the partner computed. Of
    `calls` calls `logged` are in the call log.
    """

    call_s: float = 0.0
    causes: Mapping[str, Interval] = field(default_factory=dict)
    gainable: Interval = NOTHING
    lost_overlap: Interval = NOTHING
    undriven: Interval = NOTHING
    calls: int = 0
    logged: int = 0

    def cause(self, name: str) -> Interval:
        """The part of one cause."""
        return self.causes.get(name, Interval())

    @property
    def late(self) -> Interval:
        """All lateness of other ranks."""
        return total(self.cause(name) for name in LATE).at_most(self.call_s)

    @property
    def moving(self) -> Interval:
        """Time in which all partners were there: transfer and stalled."""
        both = self.cause("transfer") + self.cause("stalled")
        rest = total(part for name, part in self.causes.items() if name not in MOVING)
        high = max(both.low, min(both.high, self.call_s - rest.low))
        return Interval(min(max(both.low, self.call_s - rest.high), high), high)

    @property
    def parts(self) -> dict[str, Interval]:
        """The causes to be told: transfer and stalled as one, `moving`, where they are not told
        apart, which leaves less open than each alone."""
        moving = self.moving
        apart = max(self.cause(name).width for name in MOVING)
        if apart <= APART * moving.middle:
            return dict(self.causes)
        parts = {name: part for name, part in self.causes.items() if name not in MOVING}
        return {**parts, "moving": moving}

    @property
    def progress(self) -> Interval:
        """What progress of all ranks while they compute could save: for certain only where the rank
        that waits computed itself."""
        lost = self.lost_overlap
        return Interval(lost.low, max(lost.low, min(lost.high + self.undriven.high, self.call_s)))

    @property
    def uncertain_s(self) -> float:
        """The time that no single cause has for certain."""
        return max(0.0, self.call_s - sum(part.low for part in self.causes.values()))

    def causes_json(self) -> dict[str, list[float]]:
        """The object `causes` of the JSON: [min, max] of every cause."""
        return {name: self.cause(name).to_json() for name in CAUSES}


NO_TIME = Division()


def added(divisions: Iterable[Division]) -> Division:
    """The sum of divisions."""
    parts = list(divisions)
    return Division(
        call_s=sum(part.call_s for part in parts),
        causes={name: total(part.cause(name) for part in parts) for name in CAUSES},
        gainable=total(part.gainable for part in parts),
        lost_overlap=total(part.lost_overlap for part in parts),
        undriven=total(part.undriven for part in parts),
        calls=sum(part.calls for part in parts),
        logged=sum(part.logged for part in parts),
    )


def has_causes(run: Run) -> bool:
    """Whether the ranks matched their calls, so that lateness and transfer are told apart."""
    return run.causes is not None and len(run.causes) > 0


def divide(run: Run, keys: Sequence[str]) -> dict[tuple[int, ...], Division]:
    """The division of the call time for each group of rows that agree in `keys`.

    `keys` are among rank, site, operation and section. Time that causes.npy does not have (a rank
    that could not match) is unattributed.
    """
    measured = _measured(run, keys)
    if run.causes is None:
        return measured
    found = _recorded(run.causes, keys)
    for key, rest in measured.items():
        division = found.get(key)
        missing_s = rest.call_s - (division.call_s if division else 0.0)
        if division is None:
            found[key] = rest
        elif missing_s > 1e-9 * rest.call_s:
            found[key] = _with_unknown(division, missing_s, rest.calls)
    return found


def _recorded(table: Table, keys: Sequence[str]) -> dict[tuple[int, ...], Division]:
    found, sums = sum_columns(table, keys, COLUMNS)
    return {
        tuple(key): _division(row) for key, row in zip(found.tolist(), sums.tolist(), strict=True)
    }


def _division(values: list[int]) -> Division:
    row = dict(zip(COLUMNS, values, strict=True))

    def interval(name: str) -> Interval:
        low, high = row[f"{name}_min_ns"] / 1e9, row[f"{name}_max_ns"] / 1e9
        return Interval(min(low, high), high)

    return tightened(
        Division(
            call_s=row["call_ns"] / 1e9,
            causes={name: interval(name) for name in CAUSES},
            gainable=interval("gainable"),
            lost_overlap=interval("lost_overlap"),
            undriven=interval("undriven"),
            calls=row["count"],
            logged=row["logged"],
        )
    )


def tightened(division: Division) -> Division:
    """No cause has more than what the others leave for certain."""
    certain = sum(part.low for part in division.causes.values())
    causes = {
        name: Interval(
            part.low, max(part.low, min(part.high, division.call_s - (certain - part.low)))
        )
        for name, part in division.causes.items()
    }
    return replace(
        division,
        causes=causes,
        gainable=division.gainable.at_most(division.call_s),
        lost_overlap=division.lost_overlap.at_most(division.call_s),
        undriven=division.undriven.at_most(division.moving.high),
    )


def _with_unknown(division: Division, missing_s: float, calls: int) -> Division:
    """With call time of which the table of causes has nothing."""
    unknown = division.cause(UNKNOWN) + Interval(missing_s, missing_s)
    return Division(
        division.call_s + missing_s,
        {**division.causes, UNKNOWN: unknown},
        Interval(division.gainable.low, division.gainable.high + missing_s),
        Interval(division.lost_overlap.low, division.lost_overlap.high + missing_s),
        Interval(division.undriven.low, division.undriven.high + missing_s),
        max(calls, division.calls),
        division.logged,
    )


def _measured(run: Run, keys: Sequence[str]) -> dict[tuple[int, ...], Division]:
    """What measures.npy alone says: nothing of causes; no gain while nothing can have moved."""
    measures = run.measures if "rank" in keys else run.over_ranks
    found, sums = group(measures, tuple(keys))
    return {tuple(key): _unknown(row) for key, row in zip(found.tolist(), sums, strict=True)}


def _unknown(sums: Integers) -> Division:
    row = dict(zip(QUANTITIES, sums.tolist(), strict=True))
    call_s = row["call_ns"] / 1e9
    can_move_s = max(0.0, call_s - row["wait_min_ns"] / 1e9)
    return Division(
        call_s=call_s,
        causes={
            name: Interval(call_s, call_s) if name == UNKNOWN else Interval() for name in CAUSES
        },
        gainable=Interval(0.0, can_move_s),
        lost_overlap=Interval(0.0, can_move_s),
        undriven=Interval(0.0, can_move_s),
        calls=row["count"],
    )
