"""How busy the links of the hosts were with what the ranks waited for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from imbrex import mpi_facts
from imbrex.diagnosis.rank_divisions import divide_ranks
from imbrex.profile.format import PATH_NAMES, Table
from imbrex.profile.run import Run

_ALONE = 0.75
"""The share of a link's load from which one rank has it for itself."""


def shared_load(run: Run) -> float:
    """The largest share of their time in data movement for which ranks keep the link of their host
    busy together, at the least; 0 where no two of a host use it.

    A message needs the link for X_lo at the least, the time at the smallest gap that streaming
    showed, and what was exposed of that for certain passed while its rank waited. Links carry both
    directions at once. Only messages: what a collective sends over a link does not follow from its
    calls.
    """
    table = run.evidence
    if table is None or len(run.job.hosts) < 2:
        return 0.0
    between = table[table["path"] == PATH_NAMES.index("inter-node")]
    out, into = (_exposed_s(run, between, one) for one in (_sends, _receives))
    divided = divide_ranks(run)
    spans = divided.moving
    at = np.searchsorted(divided.ranks, run.ranks["rank"])
    known = np.isin(run.ranks["rank"], divided.ranks)
    moving = np.zeros(len(run.ranks))
    moving[known] = ((spans.low + spans.high) / 2)[at[known]]
    # What was sent may leave in a later call, whatever that waits for.
    in_calls = run.ranks["call_ns"] / 1e9
    most = 0.0
    for host in np.unique(run.ranks["host"]):
        members = run.ranks["host"] == host
        for load, times in ((out[members], in_calls[members]), (into[members], moving[members])):
            if load.sum() > 0 and load.max() <= _ALONE * load.sum():
                most = max(most, float(load.sum() / max(times.max(), load.max())))
    return most


def _sends(operation: str) -> float:
    return _part(operation, mpi_facts.sends(operation))


def _receives(operation: str) -> float:
    return _part(operation, mpi_facts.receives(operation))


def _part(operation: str, goes_this_way: bool) -> float:
    """Of MPI_Sendrecv one row has both ways: half of it is taken for each."""
    both = mpi_facts.sends(operation) and mpi_facts.receives(operation)
    return 0.5 if both else float(goes_this_way)


def _exposed_s(run: Run, rows: Table, part: Callable[[str], float]) -> npt.NDArray[np.float64]:
    """By place of the rank in ranks.npy: what was exposed for certain, one way."""
    weights = np.array([part(name) for name in run.job.operations] or [0.0])
    exposed_s = rows["expected_exposed_min_ns"] * weights[rows["operation"]] / 1e9
    order = np.argsort(run.ranks["rank"])
    places = order[np.searchsorted(run.ranks["rank"][order], rows["rank"])]
    sums = np.bincount(places, weights=exposed_s, minlength=len(run.ranks))
    return np.asarray(sums, np.float64)
