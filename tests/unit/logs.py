"""Runs with call logs written down call by call, in the format of runtime/core/call_log.h."""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.unit.analysis.jobs import CANCELLED, ITSELF, OPEN, OPERATIONS, Op, Rank

from imbrex.profile.call_log import RECORD_DTYPE, Kind
from imbrex.profile.format import MEASURES_DTYPE, RANKS_DTYPE

HEADER_BYTES, CHUNK_BYTES, PLACES = 4096, 4096, 64
COMMS_AT, MEMBERS_AT = 512, 2048
MEASURED_NS = 10_000
"""What ranks measure behind their last call."""


def _records(ops: Sequence[Op], unlogged: dict[int, int]) -> np.ndarray[Any, Any]:
    records = np.zeros(len(ops), RECORD_DTYPE)
    counted: dict[tuple[int, ...], int] = defaultdict(int)
    before: dict[int, int] = defaultdict(int)
    # record i lies in place 1 + i % 63 of chunk i // 63, whose order counts from 1
    ids = [(1 + i // (PLACES - 1)) * PLACES + 1 + i % (PLACES - 1) for i in range(len(ops))]
    for i, op in enumerate(ops):
        stream: tuple[int, ...] | None = None
        if Kind.ALL <= op.kind <= Kind.SCAN:
            stream = (op.comm,)
        elif op.kind in (1, 2, 3, 4, Kind.RECV) and op.peer >= 0 and not op.flags & CANCELLED:
            stream = (op.comm, op.peer, op.tag, int(op.kind == Kind.RECV))
        sequence = op.sequence
        if stream is not None and not sequence:
            counted[stream] += 1
            sequence = counted[stream]
        before[op.thread] += unlogged.get(i, 0)
        end = ids[i] if op.end == ITSELF else 0 if op.end == OPEN else ids[op.end]
        records[i] = (
            *(op.enter, op.exit, before[op.thread], op.bytes, op.site),
            *(OPERATIONS.index(op.operation), op.section, op.comm, op.peer, op.tag),
            *(sequence, end, op.kind, op.path, op.thread, op.flags),
        )
        if i + 1 == len(ops) or ops[i + 1].flags & 1:
            before[op.thread] += op.exit - op.enter
    return records


def log_bytes(
    rank: int, job: Rank, comms: dict[int, Sequence[int]], *, end_ns: int, level: int = 0
) -> bytes:
    """The log of one rank whose calls all lie in one window of time and one thread."""
    records = _records(job.ops, job.unlogged)
    chunks = -(-len(records) // (PLACES - 1))
    comm_table, members = b"", []
    for number, own in comms.items():
        mine = list(own).index(rank) if rank in own else -1
        comm_table += struct.pack(
            "<IIiiiIII", number, 0, mine, len(own), len(own), len(members), len(members), 0
        )
        members += list(own)
    header = struct.pack(
        "<8sIIQQIIIIIIqqq",
        *(b"IMBREXL1", 1, 280, HEADER_BYTES + chunks * CHUNK_BYTES, HEADER_BYTES),
        *(chunks, chunks, chunks, 40, level, 1, 0, end_ns, 0),
    )
    header += struct.pack("<QQQQ", COMMS_AT, 32, len(comms), len(comms))
    header += struct.pack("<QQQQ", MEMBERS_AT, 4, len(members), len(members))
    header += struct.pack("<qq", -job.ahead, end_ns - job.ahead)
    text = bytearray(HEADER_BYTES)
    text[: len(header)] = header
    text[COMMS_AT : COMMS_AT + len(comm_table)] = comm_table
    text[MEMBERS_AT : MEMBERS_AT + 4 * len(members)] = struct.pack(f"<{len(members)}i", *members)
    for chunk in range(chunks):
        mine = records[chunk * (PLACES - 1) : (chunk + 1) * (PLACES - 1)]
        head = struct.pack("<IIHBB", 1 + chunk, 0, 0, 0, 1 + len(mine)).ljust(64, b"\0")
        text += (head + mine.tobytes()).ljust(CHUNK_BYTES, b"\0")
    return bytes(text)


def write_logged_run(
    folder: Path,
    ranks: Sequence[Rank],
    comms: dict[int, Sequence[int]] | None = None,
    *,
    hosts: Sequence[str] = (),
    sites: dict[int, dict[str, Any]] | None = None,
    logs: bool = True,
    **job: Any,
) -> Path:
    """A run directory with the log of each rank; `sites` are fields of sites.json by number."""
    folder.mkdir()
    end_ns = MEASURED_NS + max((op.exit for rank in ranks for op in rank.ops), default=0)
    comms = comms or {1: range(len(ranks))}
    if logs:
        (folder / "log").mkdir()
        for number, rank in enumerate(ranks):
            text = log_bytes(number, rank, comms, end_ns=end_ns)
            (folder / "log" / f"rank-{number}.log").write_bytes(text)
    measures, table = [], np.zeros(len(ranks), RANKS_DTYPE)
    for number, rank in enumerate(ranks):
        inside = 0
        for op in rank.ops:
            row = np.zeros(1, MEASURES_DTYPE)
            row["rank"], row["site"], row["size_class"] = number, op.site, -1
            row["operation"], row["section"] = OPERATIONS.index(op.operation), op.section
            row["count"] = op.flags & 1
            row["call_ns"] = op.exit - op.enter if op.flags & 1 else 0
            inside += int(row["call_ns"][0])
            measures.append(row)
        table[number]["rank"] = number
        table[number]["host"] = (hosts[number] if hosts else "node1").encode()
        table[number]["wall_ns"] = end_ns
        table[number]["call_ns"], table[number]["compute_ns"] = inside, end_ns - inside
    np.save(folder / "measures.npy", np.concatenate(measures or [np.empty(0, MEASURES_DTYPE)]))
    np.save(folder / "ranks.npy", table)
    used = sorted({0, *(op.site for rank in ranks for op in rank.ops), *(sites or {})})
    entries = [
        {"id": number, "image": "/x/app", "offset": hex(16 * number)}
        | ({"file": "/x/wave.c", "line": 10 * number, "function": "step"} if number else {})
        | (sites or {}).get(number, {})
        for number in used
    ]
    (folder / "sites.json").write_text(json.dumps({"schema_version": 1, "sites": entries}))
    entry = {
        "schema_version": 1,
        "format": "imbrex-run",
        "command": ["mpirun", "-n", str(len(ranks)), "./wave"],
        "started": "2026-01-02T03:04:05+00:00",
        "ranks": len(ranks),
        "hosts": list(dict.fromkeys(hosts or ["node1"])),
        "library": {"name": "Open MPI", "version": "4.1.4"},
        "operations": list(OPERATIONS),
        "sections": ["", "solver"],
        "clocks": {"error_s": 0.0, "violations": 0},
    }
    (folder / "run.json").write_text(json.dumps(entry | job))
    return folder
