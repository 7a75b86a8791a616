"""The experiments of the probes: one table for C and Python, probes/experiments.def."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from imbrex.mpi_environment.native import read_table

_LINE = r"^EXPERIMENT\((\w+), ([01]), (\d+)\)$"


@cache
def _table() -> tuple[tuple[str, bool, int], ...]:
    """Name, whether it is part of a calibration, and share, in the order in which they run."""
    found = read_table("probes", "experiments.def", _LINE)
    return tuple((name, always == "1", int(share)) for name, always, share in found)


def all_experiments() -> Mapping[str, float]:
    """What `imbrex probe` runs, with each one's share of the time, about; the shares add up to 1.

    ImbrexError where the table is missing.
    """
    return _shares({name: share for name, _, share in _table()})


def calibration() -> Mapping[str, float]:
    """What `imbrex calibrate` runs, likewise."""
    return _shares({name: share for name, always, share in _table() if always})


def _shares(parts: Mapping[str, int]) -> Mapping[str, float]:
    whole = sum(parts.values())
    return MappingProxyType({name: part / whole for name, part in parts.items()})
