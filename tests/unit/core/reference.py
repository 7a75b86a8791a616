"""The slow, obvious account of what the engine must record.

It keeps every event and works the quantities out afterwards, from the intervals themselves, by the
formulae of docs/theory.md: no running sums as in the C core, exact fractions for interpolation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Any

NONE, TAIL, HEAD, UNKNOWN = range(4)
PATH_NONE, SELF, INTRA, INTER, ANY = range(5)
UP_TO, COLLECTIVE = 1, 2
UNBOUNDED = 1 << 40
PATH_NAMES = {"self": SELF, "intra-node": INTRA, "inter-node": INTER}
ROLES = {"any": 0, "root": 1, "other": 2}


@dataclass(frozen=True)
class Time:
    lo: int = 0
    hi: int = 0
    tail: int = -1
    head: int = -1
    most: int = 0
    calibrated: bool = False


@dataclass
class Table:
    """Curves of (size, x_lo, x_hi, tail, head), by path and by (operation, ranks, role, path)."""

    paths: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)
    collectives: dict[tuple[int, int, int, int], list[tuple[int, ...]]] = field(
        default_factory=dict
    )

    def text(self, operations: list[str]) -> str:
        lines = ["imbrex-table 1"]
        names = {v: k for k, v in PATH_NAMES.items()}
        roles = {v: k for k, v in ROLES.items()}
        for path, points in self.paths.items():
            lines.append(f"path {names[path]}")
            lines += ["point " + " ".join(map(str, p)) for p in points]
        for (op, ranks, role, path), points in self.collectives.items():
            lines.append(f"collective {operations[op]} {ranks} {roles[role]} {names[path]}")
            lines += ["point " + " ".join(map(str, p)) for p in points]
        return "\n".join([*lines, "end"])

    def path_time(self, path: int, size: int) -> Time:
        if path == ANY:
            most = [t.most for p in self.paths if (t := self.path_time(p, size)).calibrated]
            return Time(most=max(most), calibrated=True) if most else Time()
        return interpolate(self.paths.get(path), size)

    def collective_time(self, op: int, ranks: int, role: int, path: int, size: int) -> Time:
        curve = self.collectives.get((op, ranks, role, path))
        if curve is None:
            curve = self.collectives.get((op, ranks, 0, path))
        return interpolate(curve, size)


def interpolate(points: list[tuple[int, ...]] | None, size: int) -> Time:
    if not points:
        return Time()
    below = [p for p in points if p[0] <= size]
    above = [p for p in points if p[0] >= size]
    if below and above and below[-1] == above[0]:
        values: list[Fraction | None] = [None if v < 0 else Fraction(v) for v in below[-1][1:]]
    elif not below:
        first = points[0]
        values = [None if v < 0 else Fraction(v) for v in first[1:]]
        values[0] = Fraction(first[1] * size, first[0])
    elif not above:
        last = points[-1]
        values = [None if v < 0 else Fraction(v * size, last[0]) for v in last[1:]]
    else:
        p, q = below[-1], above[0]
        share = Fraction(size - p[0], q[0] - p[0])
        values = [
            None if a < 0 or b < 0 else a + (b - a) * share
            for a, b in zip(p[1:], q[1:], strict=True)
        ]
    lo = floor(values[0] or 0)
    hi, tail, head = (-1 if v is None else ceil(v) for v in values[1:])
    return Time(lo, hi, tail, head, max([hi] + [p[2] for p in below]), True)


@dataclass
class Transfer:
    x: dict[str, Any]
    thread: int
    begin_index: int
    begin_ns: int
    site: int
    operation: int
    x_operation: int
    section: str
    source: int = 0
    silent: bool = False
    unsized: bool = False
    unknown_end: bool = False
    slack: int = NONE
    bytes: int = 0
    path: int = 0
    open_ns: int = 0
    up_to: bool = False
    tag: int = 0
    close_index: int | None = None
    tail_until: int = 0
    time: Time = field(default_factory=Time)


@dataclass
class Slot:
    key: tuple[str, int] | None  # None: nobody finds it
    sequence: int
    kind: str = "one"
    transfer: Transfer | None = None
    template: dict[str, Any] | None = None
    operation: int = 0
    active: bool = False
    ending: bool = False
    duplicate: bool = False
    members: list[Slot] = field(default_factory=list)


@dataclass
class Call:
    thread: int
    operation: int
    site: int
    enter_ns: int
    enter_index: int
    unrecorded: bool
    exposed: bool
    leave_ns: int | None = None
    counted: bool = True
    first: tuple[int, int] | None = None
    finished: list[Slot] = field(default_factory=list)
    blocking: list[Transfer] = field(default_factory=list)
    moving: int = 0
    outside: int = 0
    begun: int = 0
    depth: int = 1


@dataclass
class Thread:
    born_ns: int
    calls: list[Call] = field(default_factory=list)
    call: Call | None = None
    sections: list[str] = field(default_factory=list)
    debt_paid: int = 0
    outside: int = 0
    recorded: int = 0
    wait_min: int = 0


class Reference:
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

    def take(self, handle: int) -> Slot | None:
        slot = self.find(("request", handle))
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

    def left_to_source(self, path: int) -> bool:
        return path <= INTER and bool(self.source_paths >> path & 1)

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
        f.silent = muted or self.left_to_source(f.path)
        self.dropped += muted
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
        f.silent = f.silent or self.left_to_source(f.path)

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
            if t.call is not None:
                t.call.outside += min(raw, hi)
            else:
                t.outside += min(raw, hi)
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

    # -- commands

    def run(self, thread: int, name: str, *args: Any) -> None:
        self.index += 1
        self.thread(thread)
        getattr(self, "do_" + name)(thread, *args)

    def do_advance(self, thread: int, ns: int) -> None:
        self.now += ns

    def do_enter(self, thread: int, operation: int, site: int) -> None:
        t = self.thread(thread)
        if t.call:
            t.call.depth += 1
            return
        t.call = Call(thread, operation, site, self.now, self.index, self.paused, self.exposed != 0)
        t.calls.append(t.call)

    def outermost(self, thread: int) -> Call | None:
        call = self.thread(thread).call
        return call if call and call.depth == 1 else None

    def begins(self, thread: int, x: dict[str, Any]) -> Call | None:
        return self.outermost(thread) if x["bytes"] > 0 and x["path"] != PATH_NONE else None

    def do_blocking(self, thread: int, x: dict[str, Any]) -> None:
        call = self.begins(thread, x)
        if not call:
            return
        f = self.open(thread, x)
        self.note_first(call, f)
        if len(call.blocking) == 8:
            self.close_unknown(thread, f)
        else:
            call.blocking.append(f)

    def do_begin(self, thread: int, handle: int, x: dict[str, Any]) -> None:
        call = self.begins(thread, x)
        if not call:
            return
        if handle in self.shared:
            self.do_blocking(thread, x)
            return
        slot = self.reserve(("request", handle))
        f = self.open(thread, x)
        self.note_first(call, f)
        if slot is None:
            self.close_unknown(thread, f)
        else:
            slot.transfer = f
            self.publish(slot, ("request", handle))

    def do_persistent(self, thread: int, handle: int, x: dict[str, Any]) -> None:
        call = self.outermost(thread)
        if not call:
            return
        slot = self.reserve(("request", handle))
        if slot is None:
            self.overflow += 1
            return
        slot.kind, slot.template, slot.operation = "persistent", x, call.operation
        self.publish(slot, ("request", handle))

    def do_start(self, thread: int, handle: int) -> None:
        call = self.outermost(thread)
        slot = self.find(("request", handle)) if call else None
        if not slot or slot.kind != "persistent" or slot.active or slot.ending:
            return
        assert slot.template is not None and call is not None
        if not self.begins(thread, slot.template):
            return
        slot.transfer = self.open(thread, slot.template, slot.operation)
        self.note_first(call, slot.transfer)
        slot.active = True

    def do_finish(self, thread: int, handle: int, size: int, path: int) -> None:
        call = self.thread(thread).call
        slot = self.take(handle) if call else None
        if not slot or not call:
            return
        if slot.kind == "persistent":
            call.finished += slot.members
            slot.members = []
            if not slot.active:
                return
            slot.active, slot.ending = False, True
        assert slot.transfer is not None
        if slot.transfer.up_to:
            self.received(slot.transfer, size, path)
        call.finished.append(slot)

    def do_group(self, thread: int, group: int, tag: int, x: dict[str, Any]) -> None:
        call = self.begins(thread, x)
        if not call:
            return
        g = self.find(("group", group))
        if g is None:
            g = self.find(("request", group))
            if g is None or g.kind != "persistent":
                g = self.reserve(("group", group))
                if g is not None:
                    g.kind = "group"
                    self.publish(g, ("group", group))
        slot = self.reserve(None) if g is not None else None
        operation = g.operation if g is not None and g.kind == "persistent" else None
        f = self.open(thread, x, operation)
        f.tag = tag
        self.note_first(call, f)
        if slot is None or g is None:
            self.close_unknown(thread, f)
        else:
            slot.transfer = f
            g.members.append(slot)

    def do_endgroup(self, thread: int, group: int, tag: int, slack: int) -> None:
        call = self.thread(thread).call
        g = self.find(("group", group)) if call else None
        if not g or not call:
            return
        for slot in list(g.members):
            assert slot.transfer is not None
            if tag in (-1, slot.transfer.tag):
                slot.transfer.slack = larger(slot.transfer.slack, slack)
                call.finished.append(slot)
                g.members.remove(slot)

    def lose(self, thread: int, slot: Slot, cancelled: bool) -> None:
        if slot.kind == "one" or slot.active:
            assert slot.transfer is not None
            slot.transfer.unsized = slot.transfer.unsized or cancelled
            self.close_unknown(thread, slot.transfer)
            slot.active = False
        for member in slot.members:
            assert member.transfer is not None
            self.close_unknown(thread, member.transfer)
            self.release(member)
        slot.members = []

    def do_free(self, thread: int, handle: int) -> None:
        slot = self.take(handle) if self.thread(thread).call else None
        if slot:
            self.lose(thread, slot, False)
            self.release(slot)

    def do_cancel(self, thread: int, handle: int) -> None:
        slot = self.take(handle) if self.thread(thread).call else None
        if slot:
            self.lose(thread, slot, True)
            if slot.kind == "one":
                self.release(slot)

    def do_shared(self, thread: int, handle: int) -> None:
        self.shared.add(handle)

    def do_exposed(self, thread: int, delta: int) -> None:
        self.exposed += delta

    def do_source(self, thread: int, bits: int) -> None:
        self.source_paths = bits

    def last_boundary(self, thread: int) -> int:
        t = self.threads[thread]
        if t.call:
            return t.call.enter_ns
        ends = [c.leave_ns for c in t.calls if c.leave_ns is not None]
        return ends[-1] if ends else t.born_ns

    def changed_in_call(self, t: Thread) -> bool:
        c = t.call
        return c is not None and any(i > c.enter_index for i in self.pause_indices)

    def do_post(self, thread: int, token: int, ago: int, source: int, x: dict[str, Any]) -> None:
        t = self.thread(thread)
        if x["bytes"] <= 0 or x["path"] == PATH_NONE:
            self.tokens[token] = None
            return
        unsure = self.changed_in_call(t)
        slot = self.reserve(None)
        outside = t.call is None
        if outside:  # a call that is nothing but a place
            last = t.calls[-1].operation if t.calls else 0
            t.call = Call(thread, last, 0, self.now, self.index, self.paused, False)
        f = self.open(thread, x)
        f.silent = t.call is not None and t.call.unrecorded
        if outside:
            t.call = None
        f.begin_ns = max(self.last_boundary(thread), self.now - ago)
        f.source = source
        if unsure:
            f.slack = UNKNOWN
        if slot is None:
            self.close_unknown(thread, f)
        else:
            slot.transfer = f
        self.tokens[token] = slot
        self.settle_outside(t)

    def do_complete(
        self, thread: int, token: int, ago: int, size: int, slack: int, source: int
    ) -> None:
        t = self.thread(thread)
        slot = self.tokens.pop(token, None)
        if not slot:
            return
        f = slot.transfer
        assert f is not None
        f.slack = UNKNOWN if self.changed_in_call(t) else larger(f.slack, slack)
        f.source = min(f.source, source)
        silent = f.silent
        self.received(f, size, -1)
        f.silent = silent
        if f.up_to:
            self.close_unknown(thread, f)
        else:
            self.close(thread, f, max(self.last_boundary(thread), self.now - ago))
        self.release(slot)
        self.settle_outside(t)

    def settle_outside(self, t: Thread) -> None:
        if t.call is None:
            self.debt += t.outside
            t.outside = 0

    def do_section(self, thread: int, name: str) -> None:
        self.thread(thread).sections.append(name)

    def do_endsection(self, thread: int, name: str) -> None:
        stack = self.thread(thread).sections
        if name not in stack:
            self.section_errors += 1
            return
        level = len(stack) - 1 - stack[::-1].index(name)
        self.section_errors += len(stack) - 1 - level
        del stack[level:]

    def do_pause(self, thread: int) -> None:
        if not self.paused:
            self.pauses.append([self.now, None])
            self.pause_indices.append(self.index)

    def do_resume(self, thread: int) -> None:
        if self.paused:
            self.pauses[-1][1] = self.now
            self.pause_indices.append(self.index)

    def do_leave(self, thread: int) -> None:
        self.leave(thread, True)

    def do_leave_uncounted(self, thread: int) -> None:
        self.leave(thread, False)

    def leave(self, thread: int, counted: bool) -> None:
        t = self.thread(thread)
        call = t.call
        if not call:
            return
        call.depth -= 1
        if call.depth:
            return
        call.leave_ns = self.now
        call.counted = counted
        recorded = counted and not call.unrecorded
        for f in call.blocking:
            if f.up_to:
                self.close_unknown(thread, f)
            else:
                self.close(thread, f, self.now)
        for slot in call.finished:
            assert slot.transfer is not None
            f = slot.transfer
            if slot.duplicate:
                f.slack = UNKNOWN
            if f.up_to:
                self.close_unknown(thread, f)
            else:
                self.close(thread, f, self.now)
            if slot.kind == "persistent":
                slot.ending = False
            else:
                self.release(slot)
        t.call = None
        if not recorded:
            self.owe(t, call.outside, call.outside)
            return
        self.record(t, call)

    def owe(self, t: Thread, debt: int, own: int) -> None:
        self.debt += debt
        t.debt_paid += debt - own

    def record(self, t: Thread, call: Call) -> None:
        assert call.leave_ns is not None
        dt = call.leave_ns - call.enter_ns - self.paused_between(call.enter_ns, call.leave_ns)
        moved = sum(
            f.open_ns
            for f in self.transfers
            if f.close_index is None or f.close_index >= call.enter_index
        )
        before = [
            f.tail_until
            for f in self.transfers
            if f.close_index is not None and f.close_index < call.enter_index
        ]
        moved += max(0, min(call.leave_ns, max(before, default=0)) - call.enter_ns)
        self.owe(t, call.outside, min(call.outside, max(0, moved - dt)))
        if self.concurrent:
            self.owe(t, min(call.begun, dt), 0)
        wait = 0 if call.exposed or self.exposed else max(0, dt - moved)
        paid = min(wait, self.debt - t.debt_paid)
        t.debt_paid += paid
        t.wait_min += wait - paid
        section = "/".join(t.sections)
        size_class, path = call.first or (-1, PATH_NONE)
        key = (call.site, call.operation, section, size_class, path, 0)
        self.add(key, [1, 0, 0, 0, 0, 0, 0, 0, 0, dt, wait - paid, dt - call.moving, 0, 0, 0, 0])
        t.recorded += 1

    def stop(self) -> None:
        self.index += 1
        main = self.threads[0]
        for t in self.threads.values():
            self.section_errors += len(t.sections)
            t.call = None
        for slot in list(self.slots):
            if slot.transfer and (slot.kind == "one" or slot.active):
                self.close_unknown(0, slot.transfer)
        self.debt += main.outside
        self.settled = 0
        for t in self.threads.values():
            self.settled += min(t.wait_min, self.debt - t.debt_paid)

    def sums(self) -> tuple[int, int, int]:
        """Compute and call time of all threads, number of calls."""
        compute = call = 0
        for number, t in self.threads.items():
            exits = [c.leave_ns for c in t.calls if c.leave_ns is not None]
            end = self.now if number == 0 else (max(exits) if exits else t.born_ns)
            c, n, _ = self.measure(number, t.born_ns, end)
            compute, call = compute + c, call + n
        return compute, call, sum(t.recorded for t in self.threads.values())


def larger(a: int, b: int) -> int:
    if a == b or b == NONE:
        return a
    return b if a == NONE else UNKNOWN
