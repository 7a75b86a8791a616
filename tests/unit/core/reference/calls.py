"""Calls, sections and pauses, and the end of measuring."""

from __future__ import annotations

from typing import Any

from .posts import Posts
from .requests import Requests
from .state import Call, Thread
from .words import PATH_NONE, UNKNOWN


class Reference(Requests, Posts):
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

    def do_exposed(self, thread: int, delta: int) -> None:
        self.exposed += delta

    def do_source(self, thread: int, bits: int) -> None:
        self.source_paths = bits

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
