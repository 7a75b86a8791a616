"""The clock, the open requests, and a transfer from its begin to its row."""

from __future__ import annotations

from typing import Any

from .state import Call, Slot, Thread, Transfer
from .times import Table, Time
from .words import (
    ANY,
    CALL_ONLY,
    COLLECTIVE,
    HEAD,
    INTER,
    NONE,
    PATH_NONE,
    TAIL,
    UNBOUNDED,
    UNKNOWN,
    UP_TO,
)


def larger(a: int, b: int) -> int:
    if a == b or b == NONE:
        return a
    return b if a == NONE else UNKNOWN


class Books:
    def __init__(self, table: Table, concurrent: bool = False, capacity: int = 4096) -> None:
        self.table = table
        self.concurrent = concurrent
        self.capacity = capacity
        self.now = 0
        self.index = 0
        self.threads: dict[int, Thread] = {0: Thread(0)}
        self.pauses: list[list[int | None]] = []  # [from, to]
        self.slots: list[Slot] = []
        self.sequence = 0
        self.shared: set[int] = set()
        self.transfers: list[Transfer] = []
        self.exposed = 0
        self.debt = 0
        self.source_paths = 0
        self.dropped = self.overflow = self.section_errors = 0
        self.rows: dict[tuple[Any, ...], list[int]] = {}
        self.tokens: dict[int, Slot | None] = {}
        self.notes: dict[int, tuple[int, Slot | None] | None] = {}
        self.pause_indices: list[int] = []

    # -- time

    @property
    def paused(self) -> bool:
        return bool(self.pauses) and self.pauses[-1][1] is None

    def paused_between(self, a: int, b: int) -> int:
        total = 0
        for start, end in self.pauses:
            assert start is not None
            total += max(0, min(b, self.now if end is None else end) - max(a, start))
        return total

    def measure(self, thread: int, a: int, b: int) -> tuple[int, int, int]:
        """Compute, call and unmeasured time of the thread in [a, b]."""
        compute, call, lost = b - a, 0, 0
        t = self.threads[thread]
        for c in t.calls:
            lo = max(a, c.enter_ns)
            hi = min(b, self.now if c.leave_ns is None else c.leave_ns)
            if hi <= lo:
                continue
            inside = hi - lo - self.paused_between(lo, hi)
            if c.unrecorded:
                lost += inside
                compute -= inside
            elif c.counted:
                call += inside
                compute -= inside
        paused = self.paused_between(a, b)
        return compute - paused, call, lost + paused

    # -- tables

    def thread(self, number: int) -> Thread:
        return self.threads.setdefault(number, Thread(self.now))

    def reserve(self, key: tuple[str, int] | None) -> Slot | None:
        if len(self.slots) >= self.capacity:
            return None
        self.sequence += 1
        slot = Slot(None, self.sequence)
        self.slots.append(slot)
        return slot

    def publish(self, slot: Slot, key: tuple[str, int]) -> None:
        slot.key = key
        for other in self.slots:
            if other is not slot and other.key == key:
                other.duplicate = slot.duplicate = True

    def find(self, key: tuple[str, int]) -> Slot | None:
        found = [s for s in self.slots if s.key == key]
        return min(found, key=lambda s: s.sequence) if found else None

    def take(self, thread: int, handle: int) -> Slot | None:
        """The oldest of this thread, or else of any."""
        key = ("request", handle)
        slot = self.find(key)
        mine = [
            s
            for s in self.slots
            if s.key == key and s.kind == "one" and s.transfer and s.transfer.thread == thread
        ]
        if slot and slot.duplicate and mine:
            slot = min(mine, key=lambda s: s.sequence)
        if slot and slot.kind != "persistent":
            slot.key = None
        return slot

    def release(self, slot: Slot) -> None:
        self.slots.remove(slot)

    # -- transfers

    def look_up(self, f: Transfer) -> Time:
        if f.x["flags"] & COLLECTIVE:
            return self.table.collective_time(
                f.x_operation, f.x["ranks"], f.x["role"], f.path, f.bytes
            )
        return self.table.path_time(f.path, f.bytes)

    def left_to_source(self, f: Transfer) -> bool:
        seen = f.path <= INTER and bool(self.source_paths >> f.path & 1)
        return seen and not f.x["flags"] & CALL_ONLY

    def is_posted_too(self, f: Transfer) -> bool:
        wildcard = f.path == ANY and self.source_paths != 0 and not f.x["flags"] & CALL_ONLY
        return wildcard or self.left_to_source(f)

    def open(self, thread: int, x: dict[str, Any], operation: int | None = None) -> Transfer:
        t = self.thread(thread)
        call = t.call
        assert call is not None
        op = call.operation if operation is None else operation
        f = Transfer(
            x, thread, self.index, call.enter_ns, call.site, call.operation,
            x["operation"] or op, "/".join(t.sections), slack=x["slack"], bytes=x["bytes"],
            path=x["path"], up_to=bool(x["flags"] & UP_TO),
        )  # fmt: skip
        f.time = self.look_up(f)
        f.open_ns = f.time.most if f.time.calibrated else UNBOUNDED
        muted = call.unrecorded
        f.silent = muted or self.left_to_source(f)
        self.dropped += muted and not self.is_posted_too(f)
        self.transfers.append(f)
        call.begun += f.open_ns
        return f

    def note_first(self, call: Call, f: Transfer) -> None:
        if call.first is None and not f.silent and f.path != ANY:
            call.first = (f.bytes.bit_length() - 1, f.path)

    def received(self, f: Transfer, size: int, path: int) -> None:
        if path != -1:
            f.path = path
        if f.path == PATH_NONE:
            size = 0
        if size != -1:
            f.bytes = size
            f.up_to = False
        if f.bytes > 0:
            f.time = self.look_up(f)
        f.silent = f.silent or self.left_to_source(f)

    def close(self, thread: int, f: Transfer, end_ns: int, known: bool = True) -> None:
        t = self.threads[thread]
        f.close_index = self.index
        if f.bytes <= 0:
            return
        hi = f.time.hi
        raw = {
            NONE: 0,
            TAIL: hi if f.time.tail < 0 else f.time.tail,
            HEAD: hi if f.time.head < 0 else f.time.head,
            UNKNOWN: hi,
        }[f.slack]
        if f.slack == TAIL and f.time.tail >= 0:
            f.tail_until = end_ns + raw if raw else 0
        elif f.time.calibrated:
            apart = f.x["flags"] & COLLECTIVE and f.slack == UNKNOWN
            outside = f.time.most if apart else min(raw, hi)
            if t.call is not None:
                t.call.outside += outside
            else:
                t.outside += outside
        if f.silent:
            return
        compute = call = 0
        here = 0
        if known and f.thread == thread:
            compute, call, lost = self.measure(thread, f.begin_ns, end_ns)
            slack = min(hi, raw + lost)
            undetermined = hi > 0 and raw + lost >= hi
            current = t.call
            if current is not None and not current.unrecorded and current.counted:
                here = self.measure(thread, max(f.begin_ns, current.enter_ns), end_ns)[1]
        else:
            slack, undetermined = hi, hi > 0
        lo = f.time.lo
        contradicted = lo > compute + call + slack
        overlap = [max(0, lo - call - slack), min(hi, compute + slack)]
        exposed = [max(0, lo - compute - slack), min(hi, call + slack)]
        if contradicted:
            overlap[0] = exposed[0] = 0
        if t.call is not None and known and f.thread == thread:
            t.call.moving = max(t.call.moving, exposed[0] - (call - here))
        key = (
            f.site, f.operation, f.section, f.bytes.bit_length() - 1,
            0 if f.path == ANY else f.path, f.source,
        )  # fmt: skip
        self.add(
            key,
            [
                *(0, 1, 0 if f.unsized else f.bytes, lo, hi, *overlap, *exposed, 0, 0, 0),
                *(int(undetermined), int(contradicted), int(not f.time.calibrated)),
                int(f.unknown_end),
            ],
        )

    def close_unknown(self, thread: int, f: Transfer) -> None:
        f.slack = UNKNOWN
        f.unknown_end = True
        if f.unsized or f.up_to:
            f.unsized = True
            f.time = Time(0, f.time.most, -1, -1, f.time.most, f.time.calibrated)
        self.close(thread, f, self.now, known=False)

    def add(self, key: tuple[Any, ...], values: list[int]) -> None:
        row = self.rows.setdefault(key, [0] * 16)
        for i, v in enumerate(values):
            row[i] += v

    def outermost(self, thread: int) -> Call | None:
        call = self.thread(thread).call
        return call if call and call.depth == 1 else None

    def begins(self, thread: int, x: dict[str, Any]) -> Call | None:
        return self.outermost(thread) if x["bytes"] > 0 and x["path"] != PATH_NONE else None
