"""The call sites of a run with their causes as one flat table, for data frames and spreadsheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from imbrex.formats.arrays import Column, TableFormat
from imbrex.profile.aggregate import Integers, group, sum_by
from imbrex.profile.causes import CAUSES, CAUSES_TABLE, GAINS
from imbrex.profile.format import KEY_COLUMNS, MEASURES, QUANTITIES, Table
from imbrex.profile.run import Run
from imbrex.profile.sites import plain

_KEYS = ("rank", "site", "operation", "section")
_ENDS = ("min", "max")
# The cause `transfer` is call time; the `transfer_min_ns` of measures.npy are times of transfers.
_OF_CAUSES = {
    "logged": "logged",
    **{f"{name}_{end}_ns": f"cause_{name}_{end}_s" for name in CAUSES for end in _ENDS},
    **{f"{name}_{end}_ns": f"{name}_{end}_s" for name in GAINS for end in _ENDS},
}
"""The columns of causes.npy, and what they are called here."""
_OF_MEASURES = {
    name: name.removesuffix("_ns") + "_s" if name.endswith("_ns") else name for name in QUANTITIES
}


def _as_documented(format_: TableFormat, names: Mapping[str, str]) -> tuple[Column, ...]:
    """Columns of a table of the run directory, with times in seconds."""
    found = {column.name: column for column in format_.columns}
    return tuple(
        Column(called, "f8", found[name].meaning, "s")
        if name.endswith("_ns")
        else Column(called, "i8", found[name].meaning, found[name].unit)
        for name, called in names.items()
    )


SITES_TABLE = TableFormat(
    "the call sites of an exported run",
    "export it again",
    (
        KEY_COLUMNS[0],
        Column("host", "text", "where the rank ran"),
        Column("site", "i4", "the call site's number, as in sites.json"),
        Column("file", "text", "its source file; empty where it is not known"),
        Column("line", "i4", "in the source file; 0 where it is not known"),
        Column("function", "text", "function around the call"),
        Column("image", "text", "program or library"),
        Column("operation", "text", "MPI name"),
        Column("section", "text", "the section that the call was made in"),
        *_as_documented(MEASURES, _OF_MEASURES),
        *_as_documented(CAUSES_TABLE, _OF_CAUSES),
    ),
)
"""One row for each rank, call site, operation and section."""


@dataclass(frozen=True)
class SitesTable:
    """The columns of SITES_TABLE by name, all of the same length.

    Those of the causes are None throughout where the ranks did not match their calls.
    """

    columns: dict[str, list[Any] | np.ndarray[Any, Any] | None]
    rows: int


def sites_table(run: Run) -> SitesTable:
    """The call sites of a run, by rank, site, operation and section."""
    keys, sums = group(run.measures, _KEYS)
    causes = _causes(run.causes)
    if causes is not None:
        keys, sums, causes_of = _joined(keys, sums, *causes)
    hosts = dict(zip(run.ranks["rank"].tolist(), _hosts(run), strict=True))
    sites = {number: run.site(number) for number in np.unique(keys[:, 1]).tolist()}
    of = [sites[number] for number in keys[:, 1].tolist()]
    columns: dict[str, list[Any] | np.ndarray[Any, Any] | None] = {
        "rank": keys[:, 0],
        "host": [hosts.get(rank, "") for rank in keys[:, 0].tolist()],
        "site": keys[:, 1],
        "file": [plain(site.file or "") for site in of],
        "line": np.asarray([site.line or 0 for site in of], np.int64),
        "function": [plain(site.function or "") for site in of],
        "image": [plain(site.image or "") for site in of],
        "operation": [run.operation(number) for number in keys[:, 2].tolist()],
        "section": [plain(run.section(number)) for number in keys[:, 3].tolist()],
    }
    for at, (name, called) in enumerate(_OF_MEASURES.items()):
        columns[called] = _scaled(name, sums[:, at])
    for at, (name, called) in enumerate(_OF_CAUSES.items()):
        columns[called] = None if causes is None else _scaled(name, causes_of[:, at])
    return SitesTable(columns, len(keys))


def _hosts(run: Run) -> list[str]:
    return [plain(bytes(host).decode("utf-8", "replace")) for host in run.ranks["host"]]


def _scaled(name: str, values: Integers) -> np.ndarray[Any, Any]:
    return values / 1e9 if name.endswith("_ns") else values


def _causes(table: Table | None) -> tuple[Integers, Integers] | None:
    if table is None:
        return None
    return sum_by(_columns(table, _KEYS), _columns(table, tuple(_OF_CAUSES)))


def _columns(table: Table, names: Sequence[str]) -> Integers:
    values = np.empty((len(table), len(names)), np.int64)
    for at, name in enumerate(names):
        values[:, at] = table[name]
    return values


def _joined(
    keys: Integers, sums: Integers, cause_keys: Integers, causes: Integers
) -> tuple[Integers, Integers, Integers]:
    """The rows of either table, with 0 for what it does not have."""
    left = np.hstack([sums, np.zeros((len(sums), causes.shape[1]), np.int64)])
    right = np.hstack([np.zeros((len(causes), sums.shape[1]), np.int64), causes])
    both, values = sum_by(np.concatenate([keys, cause_keys]), np.concatenate([left, right]))
    return both, values[:, : sums.shape[1]], values[:, sums.shape[1] :]
