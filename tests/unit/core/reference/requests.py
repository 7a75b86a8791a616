"""Commands on requests and groups."""

from __future__ import annotations

from typing import Any

from .books import Books, larger
from .state import Slot
from .words import CALL_ONLY


class Requests(Books):
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
        if not slot or slot.kind != "persistent" or slot.ending:
            return
        assert slot.template is not None and call is not None
        if slot.active or slot.members:
            self.lose(thread, slot, False)
        if not self.begins(thread, slot.template):
            return
        slot.transfer = self.open(thread, slot.template, slot.operation)
        self.note_first(call, slot.transfer)
        slot.active = True

    def do_finish(self, thread: int, handle: int, size: int, path: int) -> None:
        call = self.thread(thread).call
        slot = self.take(thread, handle) if call else None
        if not slot or not call:
            return
        if slot.kind == "persistent":
            call.finished += slot.members
            slot.members = []
            if not slot.active:
                return
            slot.active, slot.ending = False, True
        assert slot.transfer is not None
        if slot.duplicate and size > slot.transfer.bytes:
            size = -1  # of another one with this handle
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
        f = self.open(thread, {**x, "flags": x["flags"] | CALL_ONLY}, operation)
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

    def do_forget(self, thread: int, group: int) -> None:
        g = self.find(("group", group)) if self.thread(thread).call else None
        if g:
            self.release(g)

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
        slot = self.take(thread, handle) if self.thread(thread).call else None
        if slot:
            self.lose(thread, slot, False)
            self.release(slot)

    def do_cancel(self, thread: int, handle: int) -> None:
        slot = self.take(thread, handle) if self.thread(thread).call else None
        if slot:
            self.lose(thread, slot, True)
            if slot.kind == "one":
                self.release(slot)

    def do_shared(self, thread: int, handle: int) -> None:
        self.shared.add(handle)
