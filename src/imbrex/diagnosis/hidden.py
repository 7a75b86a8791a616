"""How much of the transfers was hidden, by each kind of evidence, and which kind decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from imbrex.diagnosis.both_sides import narrowed
from imbrex.profile.aggregate import Integers, group, sum_by, sum_columns
from imbrex.profile.evidence import BOUNDS_NS, KINDS
from imbrex.profile.format import QUANTITIES, Table
from imbrex.profile.run import Run
from imbrex.profile.summary import Sums, make_sums

WORTH_SAYING = 0.5
"""A hidden share that is wider says nothing that a user could act on."""

_COLUMNS = ("transfers", *BOUNDS_NS)
_PARTS = ("overlap_min", "overlap_max", "exposed_min", "exposed_max")
_FINE = ("site", "operation", "section", "size_class", "path")
"""By these a transfer is booked in measures.npy and in evidence.npy alike, and by its rank."""
_ALL = ("reserved",)


@dataclass(frozen=True)
class Hidden:
    """The hidden share of the transfer time, from 0 to 1, by each kind of evidence there is.

    `decides` is the share of the transfer time that each kind decides beyond the kinds before it:
    hidden for certain or exposed for certain.
    """

    by: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    decides: Mapping[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> str | None:
        """The weakest kind of evidence that shows the narrowest share."""
        if not self.by:
            return None
        narrowest = min(high - low for low, high in self.by.values())
        return next(k for k, (low, high) in self.by.items() if high - low <= narrowest + 0.005)

    @property
    def share(self) -> tuple[float, float] | None:
        """The narrowest hidden share."""
        return None if self.kind is None else self.by[self.kind]

    @property
    def says_something(self) -> bool:
        """Whether the share is narrow enough to be told."""
        return self.share is not None and self.share[1] - self.share[0] < WORTH_SAYING


NOT_KNOWN = Hidden()


def hidden_of(run: Run, keys: Sequence[str]) -> dict[tuple[int, ...], Hidden]:
    """The hidden share for each group of transfers that agree in `keys`.

    `keys` are among rank, site, operation, section, size_class and path; of the whole run where
    there are none.
    """
    found = {key: _hidden(bounds) for key, bounds in _bounds_of(run, keys).items()}
    if not keys and () in found:
        found[()] = _with_both_sides(run, found[()])
    return found


def _with_both_sides(run: Run, whole: Hidden) -> Hidden:
    of_operation = {
        run.operation(key[0]): bounds for key, bounds in _bounds_of(run, ("operation",)).items()
    }
    by = {
        kind: share
        if kind == KINDS[0]
        else narrowed(
            run, {name: of.get(kind, of[KINDS[0]]) for name, of in of_operation.items()}, share
        )
        for kind, share in whole.by.items()
    }
    return replace(whole, by=by)


def _bounds_of(run: Run, keys: Sequence[str]) -> dict[tuple[int, ...], dict[str, Sums]]:
    """For each group the bounds by each kind of evidence that there is."""
    every = run.measures if "rank" in keys else run.over_ranks
    inside = bool(np.any(every["source"] != 0))
    found, sums = group(every, tuple(keys) or _ALL)
    cuts = {} if run.evidence is None else _cuts(every, run.evidence, tuple(keys), inside)
    named = [tuple(key) if keys else () for key in found.tolist()]
    return {
        key: _by_kind(make_sums(values), cuts.get(key, {}))
        for key, values in zip(named, sums, strict=True)
    }


def _cuts(
    every: Table, evidence: Table, keys: tuple[str, ...], inside: bool
) -> dict[tuple[int, ...], dict[str, dict[str, float]]]:
    """For each group and kind of evidence the bounds of its transfers, in s, cut by that kind.

    What is not logged keeps its own. Bounds from inside the library may be narrower than those
    recomputed from the log: then both are cut with each other, in rows of which every transfer is
    logged. A collective is one transfer in the log, and many messages inside.
    """
    fine = (*keys, *(name for name in _FINE if name not in keys)) if inside else keys or _ALL
    found, own = group(every, fine)
    columns, values = sum_columns(evidence, fine, _COLUMNS)
    # Both tables side by side, row by row of their common keys.
    width = own.shape[1]
    both = np.zeros((len(own) + len(values), width + values.shape[1]), np.int64)
    both[: len(own), :width], both[len(own) :, width:] = own, values
    found, both = sum_by(np.concatenate([found, columns]), both)
    mine = {name: both[:, i] for i, name in enumerate(QUANTITIES)}
    logged = {name: both[:, width + i] for i, name in enumerate(_COLUMNS)}
    is_whole = mine["transfers"] == logged["transfers"]
    cuts = [
        _cut_rows(mine, logged, f"{kind}_{part}", part, is_whole if inside else None)
        for kind in KINDS[1:]
        for part in _PARTS
    ]
    outer, sums = sum_by(found[:, : len(keys)] if keys else found[:, :1] * 0, np.stack(cuts, 1))
    names = [(kind, part) for kind in KINDS[1:] for part in _PARTS]
    result: dict[tuple[int, ...], dict[str, dict[str, float]]] = {}
    for key, row in zip(outer.tolist(), sums.tolist(), strict=True):
        of_kind = result.setdefault(tuple(key) if keys else (), {kind: {} for kind in KINDS[1:]})
        for (kind, part), value in zip(names, row, strict=True):
            of_kind[kind][part] = value / 1e9
    return result


def _cut_rows(
    mine: Mapping[str, Integers],
    logged: Mapping[str, Integers],
    column: str,
    part: str,
    is_whole: npt.NDArray[np.bool_] | None,
) -> Integers:
    """One part of the bounds, row by row; `is_whole`: where the library's own bounds stand beside
    all of the log's. None: all bounds come from the calls."""
    own, cut = mine[f"{part}_ns"], logged[f"{column}_ns"]
    if is_whole is None:
        rest: Integers = np.maximum(0, own - logged[f"call_{part}_ns"])
        return rest + cut
    both = np.maximum(own, cut) if part.endswith("min") else np.minimum(own, cut)
    shown: Integers = np.where(is_whole, both, own)
    return shown


def _by_kind(sums: Sums, cuts: Mapping[str, Mapping[str, float]]) -> dict[str, Sums]:
    bounds = {"call": sums}
    for kind, changed in cuts.items():
        # Of different kinds of evidence: the lower end may pass the upper one by what they err.
        ends: dict[str, Any] = {
            f"{part}_s": min(value, changed[part.replace("_min", "_max")])
            for part, value in changed.items()
        }
        bounds[kind] = replace(sums, **ends)
    return bounds


def _hidden(bounds: Mapping[str, Sums]) -> Hidden:
    sums = bounds["call"]
    by = {kind: s.hidden_share for kind, s in bounds.items() if s.hidden_share is not None}
    decides, before = {}, 0.0
    for kind in KINDS:
        if sums.transfer_max_s <= 0 or kind not in bounds:
            decides[kind] = 0.0
            continue
        decided = 1 - bounds[kind].undetermined_s / sums.transfer_max_s
        decides[kind] = max(0.0, decided - before)
        before = max(before, decided)
    return Hidden({k: v for k, v in by.items() if v is not None}, decides)
