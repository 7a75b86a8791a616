"""The order of a rank's calls, messages and computation, as the recorder wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.native import source_folder

CALL, SEND, POST, ARRIVED, GROUP = range(5)

# ixa_trace_t of runtime/access/trace.h, and clean_t of times.c
_RAW = np.dtype([("kind", "<u4"), ("id", "<u4"), ("ns", "<f4")])
_CLEAN = np.dtype([("function", "<u4"), ("ns", "<f4")])

TRACE_DTYPE = np.dtype([("rank", "<i4"), ("kind", "u1"), ("id", "<i4"), ("ns", "<f4")])
"""A row of trace.npy. CALL (0): `id` is a function of messages.json, `ns` the computation before
it; SEND (1), POST (2), ARRIVED (3): `id` is a message of messages.json, within the call before;
GROUP (4): the call before is a collective of the rank's group `id` in messages.json, not of all."""


def name_hash(name: str) -> int:
    """The recorder's hash of a function's name (FNV-1a, 32 bits)."""
    value = 2166136261
    for byte in name.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


@cache
def _names() -> dict[int, str]:
    """C names by the hash of every name under which the recorder may know the function."""
    text = (source_folder("runtime") / "mpi" / "functions.json").read_text(encoding="utf-8")
    found: dict[int, str] = {}
    for name in json.loads(text)["functions"]:
        low = name.lower()
        for known in (name, low + "_", low + "__", low, low + "_f08_", low + "_f08ts_"):
            found[name_hash(known)] = name
    return found


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
        raw = np.fromfile(file, _RAW)
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


def clean_call(folder: Path, rank: int, number: int, thread: int = 0) -> str:
    """What the clean run of a rank called at call `number` of a thread, in words."""
    name = f"times.{rank}.{thread}.bin" if thread else f"times.{rank}.bin"
    try:
        calls = np.fromfile(folder / name, _CLEAN)
    except OSError:
        return "unknown"
    return function_name(int(calls["function"][number])) if number < calls.size else "its end"


def load_trace(folder: Path) -> NDArray[Any]:
    """trace.npy of a recording; ImbrexError where it is damaged."""
    try:
        table = np.load(folder / "trace.npy", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ImbrexError(f"{folder / 'trace.npy'}: cannot be read ({error})") from error
    if table.dtype != TRACE_DTYPE:
        raise ImbrexError(f"{folder / 'trace.npy'}: is no trace of a recording")
    return np.asarray(table)
