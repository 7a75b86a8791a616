"""The order of a rank's calls, messages and computation, as the recorder wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex import mpi_facts
from imbrex.profile.recording_format import CALL, TRACE_DTYPE

_TAKEN = 5

# ixa_trace_t of runtime/access/trace.h, and clean_t of timeline.c
_RAW = np.dtype([("kind", "<u4"), ("id", "<u4"), ("ns", "<f4")])
CLEAN_DTYPE = np.dtype([("function", "<u4"), ("ns", "<f4")])


def name_hash(name: str) -> int:
    """The recorder's hash of a function's name (FNV-1a, 32 bits)."""
    value = 2166136261
    for byte in name.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


@cache
def _names() -> dict[int, str]:
    """C names by the hash of every name under which the recorder may know the function."""
    functions = [*mpi_facts.functions()]
    functions += [large for name in functions if (large := mpi_facts.large_count_form(name))]
    return {
        name_hash(known): name
        for name in functions
        for known in (name, *mpi_facts.fortran_names(name))
    }


def function_name(number: int) -> str:
    """The MPI name that a hash stands for."""
    return _names().get(number, "an MPI call")


def read_trace(folder: Path, ranks: Iterable[int]) -> tuple[NDArray[Any], list[str]]:
    """The rows of all ranks (TRACE_DTYPE) out of raw files, and the functions they name."""
    parts: list[NDArray[Any]] = []
    functions: list[str] = []
    number: dict[int, int] = {}
    for rank in ranks:
        file = folder / f"trace.{rank}.bin"
        if not file.exists():
            continue
        raw = _taken(np.fromfile(file, _RAW))
        part = np.zeros(raw.size, TRACE_DTYPE)
        part["rank"], part["kind"], part["ns"] = rank, raw["kind"], raw["ns"]
        calls = raw["kind"] == CALL
        ids = raw["id"].astype(np.int64)
        for value in np.unique(ids[calls]).tolist():
            if value not in number:
                number[value] = len(functions)
                functions.append(function_name(value))
        ids[calls] = [number[value] for value in ids[calls].tolist()]
        part["id"] = ids
        parts.append(part)
    return (np.concatenate(parts) if parts else np.zeros(0, TRACE_DTYPE)), functions


def _taken(raw: NDArray[Any]) -> NDArray[Any]:
    """Posts of receives from any rank or tag as those of the messages that they took."""
    told = np.flatnonzero(raw["kind"][:-1] == _TAKEN)
    raw["id"][raw["id"][told]] = raw["id"][told + 1]
    kept: NDArray[Any] = raw[raw["kind"] != _TAKEN]
    return kept


def clean_call(folder: Path, rank: int, number: int, thread: int = 0) -> str:
    """What the clean run of a rank called at call `number` of a thread, in words."""
    name = f"times.{rank}.{thread}.bin" if thread else f"times.{rank}.bin"
    try:
        calls = np.fromfile(folder / name, CLEAN_DTYPE)
    except OSError:
        return "unknown"
    return function_name(int(calls["function"][number])) if number < calls.size else "its end"
