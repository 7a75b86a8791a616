"""Totals and rows of a run, in seconds and bytes, named as in `show --json`."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any, Literal, get_args

import numpy as np

from imbrex.profile.aggregate import Integers, group, sum_by, total
from imbrex.profile.format import QUANTITIES, SCHEMA_VERSION
from imbrex.profile.run import Run
from imbrex.profile.sites import Site

By = Literal["site", "operation", "size", "section", "rank", "path"]
GROUPINGS: tuple[By, ...] = get_args(By)

_COLUMNS = {
    "site": ("site", "operation"),
    "operation": ("operation",),
    "size": ("size_class",),
    "section": ("section",),
    "rank": ("rank",),
    "path": ("path",),
}


@dataclass(frozen=True)
class Sums:
    """Sums over ranks and transfers: times in s, `bytes` in bytes, the rest counts.

    The three parts of the transfer time (docs/guide/show.md): hidden for certain is
    `overlap_min_s`, exposed for certain `exposed_min_s`, undetermined the rest of
    `transfer_max_s`.
    """

    count: int = 0
    transfers: int = 0
    bytes: int = 0
    transfer_min_s: float = 0.0
    transfer_max_s: float = 0.0
    overlap_min_s: float = 0.0
    overlap_max_s: float = 0.0
    exposed_min_s: float = 0.0
    exposed_max_s: float = 0.0
    call_s: float = 0.0
    wait_min_s: float = 0.0
    wait_max_s: float = 0.0
    undetermined: int = 0
    contradicted: int = 0
    uncalibrated: int = 0
    unknown_end: int = 0

    @property
    def undetermined_s(self) -> float:
        """The transfer time that is neither hidden nor exposed for certain."""
        return max(0.0, self.transfer_max_s - self.overlap_min_s - self.exposed_min_s)

    @property
    def hidden_share(self) -> tuple[float, float] | None:
        """The least and the largest share of the transfer time that can have been hidden.

        Hidden h and exposed e lie within their bounds and add up to no more than the transfer time
        can be. The share h / (h + e) grows with h and falls with e, so that its extremes are at
        corners (docs/theory/measuring.md). That they add up to X_lo the bounds say already, and of
        a transfer that was faster it is wrong. None where no transfer time is known.
        """
        most = min(self.transfer_max_s, self.overlap_max_s + self.exposed_max_s)
        if most <= 0:
            return None
        hidden = self.overlap_min_s
        exposed = min(self.exposed_max_s, most - hidden)
        low = hidden / (hidden + exposed) if hidden > 0 else 0.0
        exposed = self.exposed_min_s
        hidden = min(self.overlap_max_s, most - exposed)
        high = hidden / (hidden + exposed) if hidden > 0 else 0.0
        return low, max(low, high)

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def to_json(self) -> dict[str, Any]:
        low, high = self.hidden_share or (None, None)
        return {
            name.removesuffix("_ns") + ("_s" if name.endswith("_ns") else ""): getattr(
                self, name.removesuffix("_ns") + ("_s" if name.endswith("_ns") else "")
            )
            for name in QUANTITIES
        } | {
            "undetermined_s": self.undetermined_s,
            "hidden_share_min": low,
            "hidden_share_max": high,
        }


@dataclass(frozen=True)
class Row:
    """The sums of one group. `key` is what the rows share, as a user reads it."""

    key: str
    sums: Sums
    site: Site | None = None
    operation: str | None = None
    number: int = 0
    sizes: tuple[int, int] | None = None
    """The smallest and the largest size class (log2 of bytes) with a transfer, or None."""


_SUMS = [
    (name.removesuffix("_ns") + "_s", 1e9) if name.endswith("_ns") else (name, None)
    for name in QUANTITIES
]
"""The field of Sums for each quantity, and what makes seconds of it."""


def make_sums(values: Integers) -> Sums:
    """Sums from one row of `aggregate` (ns, exact) to seconds."""
    fields: dict[str, Any] = {
        name: value / divisor if divisor else value
        for (name, divisor), value in zip(_SUMS, values.tolist(), strict=True)
    }
    return Sums(**fields)


def totals(run: Run) -> Sums:
    """The sums over the whole run."""
    return make_sums(total(run.over_ranks))


def rows(run: Run, by: By) -> list[Row]:
    """The sums by site (and operation), operation, size, section, rank or path.

    Sizes, ranks and paths come in ascending order, the others by exposed time for certain, then
    by call time, the largest first.
    """
    columns = _COLUMNS[by]
    measures = run.measures if by == "rank" else run.over_ranks
    by_size, sums_by_size = group(measures, (*columns, "size_class"))
    sizes = _sizes(by_size)
    keys, sums = sum_by(by_size[:, :-1], sums_by_size)
    found = []
    for key, values in zip(keys.tolist(), sums, strict=True):
        first = key[0]
        site = run.site(first) if by == "site" else None
        operation = run.operation(key[-1]) if by in ("site", "operation") else None
        label = _label(run, by, first)
        found.append(Row(label, make_sums(values), site, operation, first, sizes.get(tuple(key))))
    if by in ("site", "operation", "section"):
        found.sort(key=exposure, reverse=True)
    return found


def _label(run: Run, by: By, number: int) -> str:
    if by == "site":
        return run.site(number).label
    if by == "operation":
        return run.operation(number)
    if by == "size":
        return size_label(number)
    if by == "section":
        return run.section(number) or "(none)"
    return str(number) if by == "rank" else run.path(number)


def exposure(row: Row) -> tuple[float, float, float]:
    """The order of rows: exposed for certain, then possibly exposed, then time in the call."""
    return row.sums.exposed_min_s, row.sums.exposed_max_s, row.sums.call_s


def _sizes(by_size: Integers) -> dict[tuple[int, ...], tuple[int, int]]:
    """The range of size classes with transfers in each group; the last column is the class."""
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for *key, size_class in by_size.tolist():
        if size_class >= 0:
            low, high = found.get(tuple(key), (size_class, size_class))
            found[tuple(key)] = (min(low, size_class), max(high, size_class))
    return found


def size_label(size_class: int) -> str:
    """A size class as a user reads it: `64 KiB` for 64 KiB up to (not including) 128 KiB."""
    if size_class < 0:
        return "no data"
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    unit = min(size_class // 10, len(units) - 1)
    return f"{1 << (size_class - 10 * unit)} {units[unit]}"


def wall_s(run: Run) -> float:
    """The time from MPI_Init to MPI_Finalize of the rank where it was longest."""
    return float(run.ranks["wall_ns"].max()) / 1e9 if len(run.ranks) else 0.0


def totals_json(run: Run) -> dict[str, Any]:
    """The `totals` object of `show --json`."""
    ranks = run.ranks
    return totals(run).to_json() | {
        "compute_s": int(np.asarray(ranks["compute_ns"], np.int64).sum()) / 1e9,
        "wall_s": wall_s(run),
        "ranks": len(ranks),
    }


def row_json(run: Run, row: Row, by: By) -> dict[str, Any]:
    """A row of `show --json`: what it stands for, then the same quantities as `totals`."""
    entry: dict[str, Any] = {}
    if row.site is not None:
        entry |= {
            "site": row.site.id,
            "file": row.site.file,
            "line": row.site.line,
            "function": row.site.function,
            "inlined_into": list(row.site.inlined_into),
            "image": row.site.image,
            "operation": row.operation,
            "called_from": [path.to_json() for path in run.call_paths.get(row.site.id, ())],
        }
    elif by == "size":
        size = row.number
        entry |= {
            "size": row.key,
            "from_bytes": 1 << size if size >= 0 else 0,
            "to_bytes": (2 << size) - 1 if size >= 0 else 0,
        }
    elif by == "rank":
        entry["rank"] = row.number
    else:
        entry[by] = row.key
    return entry | row.sums.to_json()


def show_json(run: Run, by: By) -> dict[str, Any]:
    """The object of `show --json`: `totals`, `sites`, and a list named after another grouping."""
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "totals": totals_json(run),
        "sites": [row_json(run, row, "site") for row in rows(run, "site")],
    }
    if run.guard is not None:
        content["guard"] = run.guard.to_json()
    if by != "site":
        content[by + "s" if by != "size" else "sizes"] = [
            row_json(run, row, by) for row in rows(run, by)
        ]
    return content
