"""Commands of an event source inside the library."""

from __future__ import annotations

from typing import Any

from .books import Books, larger
from .state import Call, Thread
from .words import NONE, PATH_NONE, UNKNOWN


class Posts(Books):
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
        self.dropped += f.silent and self.is_posted_too(f)
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

    def do_note(self, thread: int, token: int, handle: int) -> None:
        slot = self.find(("request", handle)) if self.outermost(thread) else None
        single = slot is not None and slot.kind == "one" and not slot.duplicate
        self.notes[token] = (handle, slot) if single else None

    def do_early(self, thread: int, token: int, ago: int) -> None:
        t = self.thread(thread)
        handle, slot = self.notes.get(token) or (0, None)
        if slot is None or slot.duplicate or self.find(("request", handle)) is not slot:
            return
        slot.key = None
        f = slot.transfer
        assert f is not None
        f.slack = UNKNOWN if self.changed_in_call(t) else NONE
        self.close(thread, f, max(self.last_boundary(thread), self.now - ago))
        self.release(slot)
        self.settle_outside(t)

    def settle_outside(self, t: Thread) -> None:
        if t.call is None:
            self.debt += t.outside
            t.outside = 0
