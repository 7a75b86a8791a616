"""A run with causes whose sums are known: two ranks, 1 s each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.profile.causes import CAUSES, CAUSES_DTYPE, GAINS, PARTNERS_DTYPE, WAITS_DTYPE
from imbrex.profile.evidence import BOUNDS_NS, EVIDENCE_DTYPE
from imbrex.profile.format import MEASURES_DTYPE, RANKS_DTYPE
from imbrex.profile.run import Run, load_run

OPERATIONS = [
    *("MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Recv", "MPI_Send", "MPI_Allreduce"),
    *("MPI_Bcast", "MPI_Alltoall", "MPI_Test", "MPI_Reduce", "MPI_Win_fence", "MPI_Win_flush"),
    *("MPI_Put", "MPI_Psend_init", "MPI_Intercomm_create", "MPI_Neighbor_alltoall"),
    *("MPI_Allgatherv", "MPI_Scan"),
]
MS = 1_000_000
SITES = {1: 30, 2: 38, 3: 46, 4: 60}
"""Lines of wave.f90 by number of the site."""


def filled(dtype: np.dtype[np.void], entries: list[dict[str, int]]) -> np.ndarray[Any, Any]:
    table = np.zeros(len(entries), dtype)
    for row, entry in zip(table, entries, strict=True):
        for name, value in entry.items():
            row[name] = value
    return table


def _call(
    operation: str, site: int, ms: float, ranks: tuple[int, ...] = (0, 1), **parts: Any
) -> list[dict[str, int]]:
    """Rows of causes.npy, the same for each of the ranks: causes in ms, one number or a pair."""
    row = {
        "site": site,
        "operation": OPERATIONS.index(operation),
        "count": parts.pop("count", 10),
        "logged": 10,
        "call_ns": int(ms * MS),
    }
    for name, value in parts.items():
        assert name in CAUSES + GAINS
        low, high = value if isinstance(value, tuple) else (value, value)
        row |= {f"{name}_min_ns": int(low * MS), f"{name}_max_ns": int(high * MS)}
    return [row | {"rank": rank} for rank in ranks]


@pytest.fixture
def call() -> Callable[..., list[dict[str, int]]]:
    """Rows of causes.npy: `call(operation, site, ms, late_sender=(low_ms, high_ms), ...)`."""
    return _call


@pytest.fixture
def make_caused(tmp_path: Path) -> Callable[..., Run]:
    """Load a run of two ranks and 1 s each, with these rows of causes.npy and other tables."""

    def make(
        causes: list[dict[str, int]] | None,
        waits: list[dict[str, int]] = [],  # noqa: B006
        partners: list[dict[str, int]] = [],  # noqa: B006
        evidence: list[dict[str, int]] = [],  # noqa: B006
        profile: dict[str, Any] | None = None,
        compute_ms: tuple[float, ...] | None = None,
        calls: list[dict[str, int]] | None = None,
        name: str = "run",
        **job: Any,
    ) -> Run:
        folder = tmp_path / name
        folder.mkdir()
        calls = causes if calls is None else calls
        assert calls is not None
        measures = [
            {
                **{key: row[key] for key in ("rank", "site", "operation", "count", "call_ns")},
                **{"size_class": -1, **{k: v for k, v in row.items() if k in _OWN}},
            }
            for row in calls
        ]
        for row in evidence:
            measures.append(
                {
                    **{k: row.get(k, 0) for k in ("rank", "site", "operation", "transfers")},
                    **{"size_class": 20, "path": 2},
                    **{k: row[k] for k in ("transfer_min_ns", "transfer_max_ns")},
                    **{
                        k.removeprefix("call_"): row.get(k, 0)
                        for k in BOUNDS_NS
                        if k.startswith("call_")
                    },
                }
            )
        ranks = np.zeros(len(compute_ms or (0, 0)), RANKS_DTYPE)
        ranks["rank"] = np.arange(len(ranks))
        ranks["host"] = b"node1"
        ranks["wall_ns"] = 1000 * MS
        for rank in range(len(ranks)):
            ranks["call_ns"][rank] = sum(r["call_ns"] for r in calls if r["rank"] == rank)
        ranks["compute_ns"] = (
            1000 * MS - ranks["call_ns"]
            if compute_ms is None
            else [int(ms * MS) for ms in compute_ms]
        )
        np.save(folder / "measures.npy", filled(MEASURES_DTYPE, measures))
        np.save(folder / "ranks.npy", ranks)
        if causes is not None:
            np.save(folder / "causes.npy", filled(CAUSES_DTYPE, causes))
            np.save(folder / "waits.npy", filled(WAITS_DTYPE, waits))
            np.save(folder / "partners.npy", filled(PARTNERS_DTYPE, partners))
        if evidence:
            np.save(folder / "evidence.npy", filled(EVIDENCE_DTYPE, evidence))
        (tmp_path / "wave.f90").touch()
        sites = [
            {"id": 0, "image": None, "build_id": None, "offset": "0x0"},
            *(
                {"id": number, "image": "/x/wave", "offset": hex(16 * number)}
                | {"file": str(tmp_path / "wave.f90"), "line": line, "function": "step"}
                for number, line in SITES.items()
            ),
        ]
        (folder / "sites.json").write_text(json.dumps({"schema_version": 1, "sites": sites}))
        if profile is not None:
            (folder / "machine.json").write_text(json.dumps(profile))
        entry = {
            "schema_version": 1,
            "format": "imbrex-run",
            "command": ["mpirun", "-n", str(len(ranks)), "./wave"],
            "ranks": len(ranks),
            "hosts": ["node1"],
            "library": {"name": "Open MPI", "version": "4.1.4"},
            "events": {"intra-node": "call"},
            "machine": {"origin": "quick", "file": None, "created": "2026-01-01T00:00:00Z"},
            "operations": OPERATIONS,
            "log": {"budget_bytes": 64 << 20, "logged_share": 1.0, "windows": 1, "level": 0}
            if causes is not None
            else None,
        }
        (folder / "run.json").write_text(json.dumps(entry | job))
        return load_run(folder)

    return make


_OWN = {"wait_min_ns", "wait_max_ns", "exposed_min_ns", "exposed_max_ns", "transfers", "bytes"} | {
    "transfer_max_ns"
}
