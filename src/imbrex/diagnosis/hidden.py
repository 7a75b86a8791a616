"""How much of the transfers was hidden, by each kind of evidence, and which kind decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from imbrex.profile.aggregate import Integers, group, sum_by
from imbrex.profile.evidence import BOUNDS_NS, KINDS
from imbrex.profile.format import Table
from imbrex.profile.run import Run
from imbrex.profile.summary import Sums, make_sums

WORTH_SAYING = 0.5
"""A hidden share that is wider says nothing that a user could act on."""

_COLUMNS = ("transfers", *BOUNDS_NS)
_PARTS = ("overlap_min", "overlap_max", "exposed_min", "exposed_max")


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
    every = run.measures if "rank" in keys else run.over_ranks
    inside = bool(np.any(every["source"] != 0))
    found, sums = _grouped(every, keys)
    logged = _logged(run, keys)
    return {
        key: _hidden(make_sums(values), logged.get(key), inside)
        for key, values in zip(found, sums, strict=True)
    }


def _grouped(table: Table, keys: Sequence[str]) -> tuple[list[tuple[int, ...]], Integers]:
    found, sums = group(table, tuple(keys) or ("reserved",))
    return [tuple(key) if keys else () for key in found.tolist()], sums


def _logged(run: Run, keys: Sequence[str]) -> dict[tuple[int, ...], dict[str, float]]:
    """Sums of evidence.npy, times in s."""
    table = run.evidence
    if table is None:
        return {}
    columns = np.zeros((len(table), max(1, len(keys))), np.int64)
    for at, name in enumerate(keys):
        columns[:, at] = table[name]
    values = np.empty((len(table), len(_COLUMNS)), np.int64)
    for at, name in enumerate(_COLUMNS):
        values[:, at] = table[name]
    found, sums = sum_by(columns, values)
    return {
        tuple(key) if keys else (): {
            name.removesuffix("_ns"): value / 1e9 if name.endswith("_ns") else float(value)
            for name, value in zip(_COLUMNS, row, strict=True)
        }
        for key, row in zip(found.tolist(), sums.tolist(), strict=True)
    }


def _hidden(sums: Sums, logged: Mapping[str, float] | None, inside: bool) -> Hidden:
    bounds = {"call": sums}
    if logged is not None:
        for kind in KINDS[1:]:
            cut = _cut(sums, logged, kind, inside)
            if cut is not None:
                bounds[kind] = cut
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


def _cut(sums: Sums, logged: Mapping[str, float], kind: str, inside: bool) -> Sums | None:
    """The bounds of all transfers, those that are logged cut by a kind of evidence.

    What is not logged keeps its own. Bounds from inside the library may be narrower than those
    recomputed from the log: then both are cut with each other, where every transfer is logged.
    """
    if inside and logged["transfers"] < sums.transfers:
        return None
    changed = {}
    for part in _PARTS:
        own = getattr(sums, part + "_s")
        call, cut = logged[f"call_{part}"], logged[f"{kind}_{part}"]
        if inside:
            changed[part + "_s"] = max(own, cut) if part.endswith("min") else min(own, cut)
        else:
            changed[part + "_s"] = max(0.0, own - call) + cut
    for name in ("overlap", "exposed"):
        low, high = changed[f"{name}_min_s"], changed[f"{name}_max_s"]
        changed[f"{name}_min_s"] = min(low, high)
    return replace(sums, **changed)
