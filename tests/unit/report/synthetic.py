"""Run directories with a time line, of any number of ranks: a ring in which each rank receives from
the one before it. Every fourth iteration a message is hidden, late, stalled or exposed.

Times are in us; iteration k begins at k * 1000.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from imbrex.profile.causes import CAUSES_DTYPE, PARTNERS_DTYPE, WAITS_DTYPE
from imbrex.profile.format import MEASURES_DTYPE, RANKS_DTYPE
from imbrex.profile.timeline.format import TIMELINE_DTYPE
from imbrex.profile.timeline.overview import OVERVIEW_DTYPE

OPERATIONS = ["MPI_Irecv", "MPI_Isend", "MPI_Waitall"]
PERIOD, X_LO, X_HI, BYTES = 1000, 100, 200, 1 << 20
FATES = ("hidden", "late", "stalled", "exposed")
# Of each fate: begin of the send, begin and end of the wait, parts of the wait.
_SHAPES: dict[str, tuple[int, int, int, dict[str, int]]] = {
    "hidden": (20, 600, 610, {"transfer": 5}),
    "late": (500, 100, 650, {"late_sender": 400, "transfer": 120}),
    "stalled": (20, 400, 900, {"stalled": 300, "transfer": 150}),
    "exposed": (20, 40, 190, {"transfer": 140}),
}
_RECV, _SEND, _COMPLETION, _FIRST = 5, 1, 7, 1


def timeline_rows(ranks: int, iterations: int) -> np.ndarray[Any, Any]:
    """Rows of timeline.npy, times in ns."""
    rank = np.repeat(np.arange(ranks), iterations)
    step = np.tile(np.arange(iterations), ranks)
    shape = np.asarray([_SHAPES[FATES[k % 4]][:3] for k in range(iterations)])[step]
    begin = step * PERIOD
    rows = np.zeros((len(rank), 3), TIMELINE_DTYPE)
    rows["rank"], rows["flags"], rows["match"] = rank[:, None], _FIRST, 1
    rows["site"] = rows["operation"] = np.arange(3)
    rows["site"] += 1
    rows["path"], rows["sequence"], rows["comm"] = 2, step[:, None] + 1, 1
    rows["kind"] = [_RECV, _SEND, _COMPLETION]
    before, behind = (rank - 1) % ranks, (rank + 1) % ranks
    rows["peer"] = np.stack([before, behind, np.full(len(rank), -1)], axis=1)
    rows["match"][:, 2] = 0
    rows["bytes"] = [BYTES, BYTES, 0]
    enter = np.stack([begin + 5, begin + shape[:, 0], begin + shape[:, 1]], axis=1)
    # Of a late sender the send comes after the wait for the receive was entered: other order.
    rows["enter_ns"] = enter * 1000
    rows["exit_ns"] = rows["enter_ns"] + 2000
    rows["exit_ns"][:, 2] = (begin + shape[:, 2]) * 1000
    rows["end_enter_ns"], rows["end_exit_ns"] = enter[:, 2:] * 1000, rows["exit_ns"][:, 2:]
    rows["peer_enter_ns"] = np.stack([enter[:, 1], enter[:, 0], np.full(len(rank), -1)], 1)
    rows["peer_enter_ns"][:, :2] *= 1000
    rows["peer_exit_ns"] = np.stack([enter[:, 2], rows["exit_ns"][:, 2], enter[:, 2]], 1)
    rows["x_lo_ns"], rows["x_hi_ns"] = [X_LO * 1000, X_LO * 1000, 0], [X_HI * 1000, X_HI * 1000, 0]
    for number, fate in enumerate(FATES):
        mine = step % 4 == number
        for cause, time in _SHAPES[fate][3].items():
            for end in ("min", "max"):
                rows[f"{cause}_{end}_ns"][mine, 2] = time * 1000
        hidden = (150, 200) if fate == "hidden" else (0, 20)
        exposed = (0, 50) if fate == "hidden" else (100, 200)
        for name, ends in (("hidden", hidden), ("exposed", exposed)):
            for end, time in zip(("min", "max"), ends, strict=True):
                rows[f"{name}_{end}_ns"][mine, :2] = time * 1000
        if fate == "stalled":
            for end in ("min", "max"):
                rows[f"lost_overlap_{end}_ns"][mine, 2] = 370_000
    return rows.reshape(-1)


def overview_rows(ranks: int, iterations: int, stretches: int) -> np.ndarray[Any, Any]:
    """Rows of overview.npy of the same run, each stretch by sampling its calls."""
    length = iterations * PERIOD * 1000 // stretches
    rows = np.zeros((ranks, stretches), OVERVIEW_DTYPE)
    rows["rank"] = np.arange(ranks)[:, None]
    rows["begin_ns"] = np.arange(stretches) * length
    rows["length_ns"] = rows["logged_ns"] = length
    calls = timeline_rows(1, iterations)
    edges = np.arange(stretches + 1) * length

    def add(name: str, first: Any, last: Any) -> None:
        inside = np.clip(edges[None, :], first[:, None], last[:, None]) - first[:, None]
        rows[name] += np.diff(inside.sum(axis=0))

    add("call_ns", calls["enter_ns"], calls["exit_ns"])
    at = calls["enter_ns"] + calls["late_sender_min_ns"]
    add("late_sender_ns", calls["enter_ns"], at)
    transfer = calls["exit_ns"] - calls["transfer_min_ns"]
    add("transfer_ns", transfer, calls["exit_ns"])
    add("stalled_ns", transfer - calls["stalled_min_ns"], transfer)
    return rows.reshape(-1)


def write_run(
    folder: Path, ranks: int = 2, iterations: int = 12, source: Path | None = None, **changes: Any
) -> Path:
    """A run directory of so many ranks; `source`: the file that the call sites are in."""
    folder.mkdir(parents=True)
    rows = timeline_rows(ranks, iterations)
    _tables(folder, ranks, iterations, rows)
    np.save(folder / "timeline.npy", rows)
    file = str(source) if source is not None else "/nowhere/ring.c"
    sites = [
        {"id": n, "image": "/x/ring", "offset": f"{16 * n:#x}", "file": file, "line": 3 + n}
        | {"function": "exchange"}
        for n in range(1, 4)
    ]
    sites = changes.pop("sites", [{"id": 0}, *sites])
    (folder / "sites.json").write_text(json.dumps({"schema_version": 1, "sites": sites}))
    job = {
        "schema_version": 1, "format": "imbrex-run", "ranks": ranks, "hosts": ["node1"],
        "command": ["mpirun", "-n", str(ranks), "./ring"],
        "library": {"name": "Open MPI", "version": "4.1.4"}, "operations": OPERATIONS,
        "machine": {"origin": "cached", "file": None, "created": None},
        "events": {"intra-node": "call"},
        "log": {"budget_bytes": 1 << 20, "logged_share": 1.0},
        "clocks": {"error_s": 0.0, "violations": 0},
        "matching": {"matched": 2 * ranks * iterations, "unmatched": {}},
        "timeline": {"begin_s": 0.0, "end_s": iterations * PERIOD / 1e6},
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(job | changes))
    return folder


def _tables(folder: Path, ranks: int, iterations: int, rows: np.ndarray[Any, Any]) -> None:
    table = np.zeros(ranks, RANKS_DTYPE)
    table["rank"], table["host"] = np.arange(ranks), b"node1"
    table["wall_ns"] = iterations * PERIOD * 1000
    call = (rows["exit_ns"] - rows["enter_ns"]).reshape(ranks, iterations, 3).sum(axis=1)
    table["call_ns"] = call.sum(axis=1)
    # The ranks of the second half compute less: that is what a strip of ranks shows.
    table["compute_ns"] = table["wall_ns"] - table["call_ns"]
    table["compute_ns"][ranks // 2 :] //= 2
    table["calls"] = 3 * iterations
    np.save(folder / "ranks.npy", table)

    measures = np.zeros((ranks, 3), MEASURES_DTYPE)
    causes = np.zeros((ranks, 3), CAUSES_DTYPE)
    for found in (measures, causes):
        found["rank"] = np.arange(ranks)[:, None]
        found["site"], found["operation"] = np.arange(1, 4), np.arange(3)
        found["count"] = iterations
        found["call_ns"] = call
    measures["size_class"], measures["path"] = [20, 20, -1], [2, 2, 0]
    measures["transfers"] = [iterations, iterations, 0]
    measures["bytes"] = measures["transfers"] * BYTES
    for name, time in (("transfer_min_ns", X_LO), ("transfer_max_ns", X_HI)):
        measures[name] = measures["transfers"] * time * 1000
    measures["overlap_max_ns"] = measures["exposed_max_ns"] = measures["transfer_max_ns"]
    causes["logged"] = iterations
    whole = rows.reshape(ranks, iterations, 3)
    for name in ("late_sender", "transfer", "stalled", "lost_overlap"):
        for end in ("min", "max"):
            causes[f"{name}_{end}_ns"] = whole[f"{name}_{end}_ns"].sum(axis=1)
    moving = causes["transfer_min_ns"] + causes["stalled_min_ns"]
    causes["gainable_min_ns"] = causes["gainable_max_ns"] = moving
    rest = causes["call_ns"] - moving - causes["late_sender_min_ns"]
    causes["library_min_ns"] = causes["library_max_ns"] = rest
    np.save(folder / "measures.npy", measures.reshape(-1))
    np.save(folder / "causes.npy", causes.reshape(-1))

    waits = np.zeros(ranks, WAITS_DTYPE)
    waits["rank"], waits["site"], waits["operation"] = np.arange(ranks), 3, 2
    waits["start_site"], waits["start_operation"], waits["count"] = 1, 0, iterations
    partners = np.zeros((ranks, 2), PARTNERS_DTYPE)
    partners["rank"] = np.arange(ranks)[:, None]
    partners["peer"] = (np.arange(ranks)[:, None] + [-1, 1]) % ranks
    partners["messages"], partners["bytes"] = iterations, iterations * BYTES
    for end in ("min", "max"):
        late = causes[f"late_sender_{end}_ns"][:, 2]
        partners[f"late_{end}_ns"][:, 0] = waits[f"late_{end}_ns"] = late
        waits[f"moving_{end}_ns"] = moving[:, 2]
    np.save(folder / "waits.npy", waits)
    np.save(folder / "partners.npy", partners.reshape(-1))
