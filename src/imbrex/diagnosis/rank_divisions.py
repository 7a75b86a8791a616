"""The division of each rank's call time, and of the whole run.

The ranks are elements of arrays: a run has up to a million, of which no object each is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imbrex.diagnosis.division import COLUMNS, MOVING, UNKNOWN, Division, tightened
from imbrex.diagnosis.interval import Interval
from imbrex.profile.aggregate import Integers, group, sum_columns
from imbrex.profile.causes import CAUSES, GAINS
from imbrex.profile.format import QUANTITIES
from imbrex.profile.run import Run

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Spans:
    """An interval (s) for each rank."""

    low: Numbers
    high: Numbers

    def __add__(self, other: Spans) -> Spans:
        return Spans(self.low + other.low, self.high + other.high)

    def at_most(self, limit: Numbers) -> Spans:
        """The same, cut at a limit."""
        return Spans(np.minimum(self.low, limit), np.minimum(self.high, limit))

    def placed(self, at: Integers, count: int) -> Spans:
        """At other places among `count` ranks; the others have nothing."""
        return Spans(_placed(self.low, at, count), _placed(self.high, at, count))

    @property
    def sum(self) -> Interval:
        """Over the ranks."""
        return Interval(float(self.low.sum()), float(self.high.sum()))


@dataclass(frozen=True)
class RankDivisions:
    """For each of `ranks`, in ascending order, what `Division` has of it."""

    ranks: Integers
    call_s: Numbers
    spans: Mapping[str, Spans]
    calls: Integers
    logged: Integers

    @property
    def moving(self) -> Spans:
        """Time in which all partners were there."""
        return _moving(self.spans, self.call_s)

    def of(self, run: Run, column: str) -> Numbers:
        """A column of ranks.npy for these ranks, 0 where one is not there."""
        numbers = np.asarray(run.ranks["rank"], np.int64)
        known = np.isin(numbers, self.ranks)
        at = np.searchsorted(self.ranks, numbers[known])
        return _placed(run.ranks[column][known].astype(np.float64), at, len(self.ranks))


def divide_ranks(run: Run) -> RankDivisions:
    """What `divide(run, ("rank",))` has, in arrays.

    Time that causes.npy does not have (a rank that could not match) is unattributed.
    """
    measured, sums = group(run.measures, ("rank",))
    own = dict(zip(QUANTITIES, sums.T, strict=True))
    table = np.zeros(0, dtype=[("rank", "i8"), *((name, "i8") for name in COLUMNS)])
    told, sums = sum_columns(table if run.causes is None else run.causes, ("rank",), COLUMNS)
    logged = dict(zip(COLUMNS, sums.T, strict=True))
    every = np.union1d(measured[:, 0], told[:, 0])
    at, at_told = (np.searchsorted(every, found[:, 0]) for found in (measured, told))
    count = len(every)

    told_s = _placed(logged["call_ns"] / 1e9, at_told, count)
    is_told = _placed(np.ones(len(told)), at_told, count) > 0
    own_s = _placed(own["call_ns"] / 1e9, at, count)
    no_wait_s = np.maximum(0.0, own_s - _placed(own["wait_min_ns"] / 1e9, at, count))
    missing_s = np.where(own_s - told_s > 1e-9 * own_s, own_s - told_s, 0.0)
    # Of a rank without causes its own calls say when nothing can have moved.
    can_move_s = np.where(is_told, missing_s, no_wait_s)
    spans = {name: span.placed(at_told, count) for name, span in _narrowed(logged).items()}
    spans[UNKNOWN] += Spans(missing_s, missing_s)
    for name in GAINS:
        spans[name] += Spans(np.zeros(count), can_move_s)

    of_log, of_all = _counted(logged["count"], at_told, count), _counted(own["count"], at, count)
    calls = np.where(is_told & (missing_s == 0), of_log, np.maximum(of_all, of_log))
    in_log = _counted(logged["logged"], at_told, count)
    return RankDivisions(every, told_s + missing_s, spans, calls, in_log)


def divide_all(run: Run) -> Division:
    """The division of the whole run; what is gainable is at most the compute time of each rank."""
    found = divide_ranks(run)
    gainable = found.spans["gainable"].at_most(found.of(run, "compute_ns") / 1e9).sum
    return tightened(
        Division(
            call_s=float(found.call_s.sum()),
            causes={name: found.spans[name].sum for name in CAUSES},
            gainable=gainable,
            lost_overlap=found.spans["lost_overlap"].sum.at_most(gainable.high),
            undriven=found.spans["undriven"].sum,
            calls=int(found.calls.sum()),
            logged=int(found.logged.sum()),
        )
    )


def _narrowed(sums: Mapping[str, Integers]) -> dict[str, Spans]:
    """Causes and gains of each rank, cut as `tightened` does."""
    spans = {}
    for name in (*CAUSES, *GAINS):
        low, high = (sums[f"{name}_{end}_ns"] / 1e9 for end in ("min", "max"))
        spans[name] = Spans(np.minimum(low, high), high)
    call_s = sums["call_ns"] / 1e9
    certain = _sum(spans[name].low for name in CAUSES)
    moving = _moving(spans, call_s)
    for name in CAUSES:
        low, high = spans[name].low, spans[name].high
        left = call_s - (certain - low)
        spans[name] = Spans(low, np.maximum(low, np.minimum(high, left)))
    for name, limit in zip(GAINS, (call_s, call_s, moving.high), strict=True):
        spans[name] = spans[name].at_most(limit)
    return spans


def _moving(spans: Mapping[str, Spans], call_s: Numbers) -> Spans:
    both = spans[MOVING[0]] + spans[MOVING[1]]
    rest = [spans[name] for name in CAUSES if name not in MOVING]
    left = call_s - _sum(span.low for span in rest)
    high = np.maximum(both.low, np.minimum(both.high, left))
    least = call_s - _sum(span.high for span in rest)
    return Spans(np.minimum(np.maximum(both.low, least), high), high)


def _sum(values: Iterable[Numbers]) -> Numbers:
    return np.asarray(np.sum(list(values), axis=0), np.float64)


def _placed(values: Numbers, at: Integers, count: int) -> Numbers:
    found = np.zeros(count)
    found[at] = values
    return found


def _counted(values: Integers, at: Integers, count: int) -> Integers:
    found = np.zeros(count, np.int64)
    found[at] = values
    return found
