"""What a wrapper tells the recorder and the guard (runtime/mpi/buffers.h) around the call.

The text stands in the hole CALL, so that every template, C and Fortran, has it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from database import Facts

_NO_CALL = {"init", "finalize", "abort", "session_init", "session_finalize", "pcontrol", "none"}
_NO_CALL |= {"noted", "thread_level"}
_ENDED = "(rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS)"


@dataclass(frozen=True)
class Language:
    """How the user's handles are reached: a format for their address, and the step to the next."""

    where: str
    step: str
    fortran: bool


@dataclass(frozen=True)
class Whom:
    """With whom a buffer is exchanged."""

    peer: str
    comm: str = "comm"
    tag: str = "0"
    collective: bool = False
    in_place: bool = False
    one_sided: bool = False
    neighbours: bool = False
    """Neighbours, of which some may be missing: a block for each place."""

    @property
    def how(self) -> str:
        """The bits that go with IX_BUFFER_SENT or IX_BUFFER_RECEIVED."""
        collective = " | IX_BUFFER_COLLECTIVE" if self.collective else ""
        one_sided = " | IX_BUFFER_ONE_SIDED" if self.one_sided else ""
        return collective + one_sided + (" | IX_BUFFER_IN_PLACE" if self.in_place else "")

    @property
    def fields(self) -> str:
        """The same as fields of ix_buffer."""
        return (
            f".peer = {self.peer}, .tag = {self.tag}, .comm = {self.comm}, "
            f".collective = {int(self.collective)}, .in_place = {int(self.in_place)}"
            + (", .missing = ix_wc->missing" if self.neighbours else "")
        )


_MATCHED = Whom("MPI_ANY_SOURCE", "MPI_COMM_WORLD", "MPI_ANY_TAG")
_ALL = Whom("IX_NO_PEER", collective=True)
_ALL_HERE = replace(_ALL, in_place=True)
_NEIGHBOURS = replace(_ALL, neighbours=True)
_ROOT = Whom("root", collective=True)
_WINDOW = Whom("peer", "MPI_COMM_WORLD", one_sided=True)

C = Language("{}", "sizeof *{}", False)
FORTRAN = Language("ix_f_{}", "sizeof(MPI_Fint)", True)


def _one(receives: int, buffer: str, count: str, datatype: str, whom: Whom) -> str:
    how = ("IX_BUFFER_RECEIVED" if receives else "IX_BUFFER_SENT") + whom.how
    to = f"{whom.peer}, {whom.tag}, {whom.comm}"
    return f"ix_add_one(ix_w, {how}, {buffer}, (int64_t)({count}), {datatype}, {to});"


def _lists(receives: int, buffer: str, number: str, side: str, places: str, whom: Whom) -> str:
    return (
        f"IX_ADD_LISTS(ix_w, {receives}, {buffer}, {number}, {side}counts, {places}, "
        f"{side}type, {whom.fields});"
    )


def _places(receives: int, buffer: str, number: str, count: str, datatype: str) -> str:
    return (
        f"ix_buffers->add(ix_w, &(ix_buffer){{.address = {buffer}, .blocks = {number}, "
        f".count = {number} ? (int64_t){count} : 0, .type = {datatype}, "
        f".is_receive = {receives}, {_NEIGHBOURS.fields}}});"
    )


def _typed(receives: int, side: str, number: str, fortran: bool, whom: Whom) -> str:
    return (
        f"IX_ADD_LISTS(ix_w, {receives}, {side}buf, {number}, {side}counts, {side}displs, "
        f"MPI_DATATYPE_NULL, .types = {side}types, .by_type = 1, "
        f".fortran = {int(fortran)}, {whom.fields});"
    )


def _has(facts: Facts, role: str) -> bool:
    return role in (facts.roles or ())


def _among_neighbours(facts: Facts) -> bool:
    return bool(facts["dependence"] == "neighbours")


def _reduction(facts: Facts) -> str:
    """What is combined, and what of the result a process gets: all of it, or its part."""
    number = result = "count"
    if _has(facts, "rcounts"):
        number, result = "IX_SUM(rcounts, ix_wc->size, 0)", "rcounts[ix_wc->rank]"
    elif _has(facts, "rcount"):
        number, result = "(int64_t)rcount * ix_wc->size", "rcount"
    sent = (
        f"if (sbuf == MPI_IN_PLACE) {_one(0, 'rbuf', number, 'type', _ALL_HERE)} "
        f"else {_one(0, 'sbuf', number, 'type', _ALL)}"
    )
    received = _one(1, "rbuf", result, "type", _ALL)
    if facts.rooted:
        return (
            f"if (ix_wr == IX_ROLE_ROOT) {{ {sent} {received} }} "
            f"else {_one(0, 'sbuf', 'count', 'type', _ROOT)}"
        )
    return f"{sent} {received}"


def _between_root_and_all(facts: Facts) -> str:
    lists = _has(facts, "displs")
    if facts["dependence"] == "all-to-root":
        many = (
            _lists(1, "rbuf", "ix_wc->peers", "r", "displs", _ALL)
            if lists
            else _one(1, "rbuf", "(int64_t)rcount * ix_wc->peers", "rtype", _ALL)
        )
        own = f"if (sbuf != MPI_IN_PLACE) {_one(0, 'sbuf', 'scount', 'stype', _ALL)}"
        other = _one(0, "sbuf", "scount", "stype", _ROOT)
        return f"if (ix_wr == IX_ROLE_ROOT) {{ {own} {many} }} else {other}"
    many = (
        _lists(0, "sbuf", "ix_wc->peers", "s", "displs", _ALL)
        if lists
        else _one(0, "sbuf", "(int64_t)scount * ix_wc->peers", "stype", _ALL)
    )
    own = f"if (rbuf != MPI_IN_PLACE) {_one(1, 'rbuf', 'rcount', 'rtype', _ALL)}"
    other = _one(1, "rbuf", "rcount", "rtype", _ROOT)
    return f"if (ix_wr == IX_ROLE_ROOT) {{ {many} {own} }} else {other}"


def _same_to_all(facts: Facts) -> str:
    neighbours = _among_neighbours(facts)
    number = "ix_source_places(ix_wc)" if neighbours else "ix_wc->peers"
    lists = _has(facts, "rcounts")
    place = "displs[ix_wc->rank]" if lists else "(int64_t)ix_wc->rank * rcount"
    count = "rcounts[ix_wc->rank]" if lists else "rcount"
    sent = _one(0, "sbuf", "scount", "stype", _ALL)
    if not neighbours:
        own = _one(0, f"ix_item(rbuf, {place}, rtype)", count, "rtype", _ALL_HERE)
        sent = f"if (sbuf == MPI_IN_PLACE) {own} else {sent}"
    if lists:
        received = _lists(1, "rbuf", number, "r", "displs", _NEIGHBOURS if neighbours else _ALL)
    elif neighbours:
        received = _places(1, "rbuf", number, "rcount", "rtype")
    else:
        received = _one(1, "rbuf", f"(int64_t)rcount * {number}", "rtype", _ALL)
    return f"{sent} {received}"


def _own_to_each(facts: Facts, fortran: bool) -> str:
    neighbours = _among_neighbours(facts)
    to = "ix_destination_places(ix_wc)" if neighbours else "ix_wc->peers"
    source = "ix_source_places(ix_wc)" if neighbours else "ix_wc->peers"

    def side(receives: int, letter: str, number: str, whom: Whom) -> str:
        if _has(facts, f"{letter}types"):
            return _typed(receives, letter, number, fortran, whom)
        if _has(facts, f"{letter}counts"):
            return _lists(receives, f"{letter}buf", number, letter, f"{letter}displs", whom)
        if neighbours:
            return _places(receives, f"{letter}buf", number, f"{letter}count", f"{letter}type")
        count = f"(int64_t){letter}count * {number}"
        return _one(receives, f"{letter}buf", count, f"{letter}type", whom)

    whom = _NEIGHBOURS if neighbours else _ALL
    sent = side(0, "s", to, whom)
    if not neighbours:
        sent = f"if (sbuf == MPI_IN_PLACE) {side(0, 'r', source, _ALL_HERE)} else {sent}"
    return f"{sent} {side(1, 'r', source, whom)}"


def _collective(facts: Facts, fortran: bool) -> str:
    among = "ix_comm *ix_wc = ix_comm_of(comm); ix_buffers->among(ix_w, ix_wc);"
    if not facts["data"]:
        return among
    if _among_neighbours(facts):
        # Asked once, before the buffers name who is missing.
        among += " (void)ix_source_places(ix_wc);"
    if _has(facts, "buf"):
        buffers = (
            f"if (ix_wr == IX_ROLE_ROOT) {_one(0, 'buf', 'count', 'type', _ALL)} "
            f"else {_one(1, 'buf', 'count', 'type', _ROOT)}"
        )
    elif _has(facts, "op"):
        buffers = _reduction(facts)
    elif facts.rooted:
        buffers = _between_root_and_all(facts)
    elif facts["data"]["contributes"].startswith("one"):
        buffers = _same_to_all(facts)
    else:
        buffers = _own_to_each(facts, fortran)
    root = "root" if facts.rooted else "IX_NO_ROOT"
    return f"{among} int ix_wr = ix_role_in(ix_wc, {root}); if (ix_wr >= 0) {{ {buffers} }}"


def _buffers(facts: Facts, fortran: bool) -> str:
    kind = facts.kind
    point, to, source = (Whom(f"{side}peer", tag=f"{side}tag") for side in ("", "s", "r"))
    if kind == "send":
        return _one(0, "buf", "count", "type", point)
    if kind == "recv":
        return _one(1, "buf", "count", "type", point)
    if kind == "mrecv":
        return _one(1, "buf", "count", "type", _MATCHED)
    if kind == "sendrecv":
        return _one(0, "sbuf", "scount", "stype", to) + _one(1, "rbuf", "rcount", "rtype", source)
    if kind == "sendrecv_replace":
        return _one(0, "buf", "count", "type", replace(to, in_place=True)) + _one(
            1, "buf", "count", "type", source
        )
    if kind == "collective":
        return _collective(facts, fortran)
    if kind == "rma":
        roles = facts.roles or []
        count = "count" if "count" in roles else "1"
        own = int(facts["direction"] == "get" and "rbuf" not in roles)
        text = _one(own, "buf", count, "type", _WINDOW)
        if "cbuf" in roles:
            text += _one(0, "cbuf", "1", "type", _WINDOW)
        if "rbuf" in roles:
            several = "rcount" in roles
            text += _one(
                1, "rbuf", "rcount" if several else "1", "rtype" if several else "type", _WINDOW
            )
        return text
    return ""


def _completion(facts: Facts, language: Language) -> tuple[bool, str]:
    """Whether it polls, and what stands behind the call."""
    which = facts["which"]
    waits = facts["form"] == "wait"
    status = "rc == MPI_SUCCESS ? {} : NULL".format(
        "status" if which in ("one", "any") else "statuses"
    )
    if which == "one":
        found = "1" if waits else f"{_ENDED} && *flag"
        where = language.where.format("request")
        return (
            not waits,
            f"ix_buffers->complete(ix_w, {found}, 1, &ix_was, {where}, 0, NULL, {status})",
        )
    where = f"{language.where.format('requests')}, {language.step.format('requests')}"
    if which == "all":
        found = "1" if waits else f"{_ENDED} && *flag"
        return (
            not waits,
            f"ix_buffers->complete(ix_w, {found}, (int)ix_count, ix_saved, {where}, NULL, "
            f"{status})",
        )
    if which == "any":
        found = "1" if waits else f"{_ENDED} && *flag"
        number = "ix_is_index(*index, (int)ix_count)"
        return (
            not waits,
            f"ix_buffers->complete(ix_w, {found}, {number}, ix_saved, {where}, index, {status})",
        )
    number = f"{_ENDED} && ix_is_index(*outcount, (int)ix_count + 1) ? *outcount : 0"
    return (
        True,
        f"ix_buffers->complete(ix_w, *outcount != 0, {number}, ix_saved, {where}, indices, "
        f"{status})",
    )


def _peek(facts: Facts) -> str:
    which = facts["which"]
    if which == "one":
        return "ix_buffers->seen(ix_w, rc == MPI_SUCCESS && *flag, &request, NULL)"
    found = "rc == MPI_SUCCESS && *flag"
    if which == "all":
        return f"ix_buffers->seen(ix_w, {found} ? (int)count : 0, requests, NULL)"
    if which == "any":
        return f"ix_buffers->seen(ix_w, {found} && ix_is_index(*index, count), requests, index)"
    number = "rc == MPI_SUCCESS && ix_is_index(*outcount, (int)count + 1) ? *outcount : 0"
    return f"ix_buffers->seen(ix_w, {number}, requests, indices)"


# Calls that copy between the user's data, which a datatype describes, and a buffer: by the role of
# that datatype, which is of what MPI_Pack reads and of what MPI_Unpack writes.
_PACKING = {
    "stype": "ix_buffers->packing(ix_w, &(ix_buffer){.address = sbuf, .count = (int64_t)scount, "
    ".type = stype}, (const char *)rbuf + *position);",
    "rtype": "ix_buffers->packing(ix_w, &(ix_buffer){.address = rbuf, .count = (int64_t)rcount, "
    ".type = rtype, .is_receive = 1}, (const char *)sbuf + *position);",
}


def _packing(facts: Facts) -> str:
    if not _has(facts, "position"):
        return ""
    return _PACKING["stype" if _has(facts, "stype") else "rtype"]


def _after(facts: Facts, language: Language) -> tuple[bool, str]:
    kind = facts.kind
    request = language.where.format("request")
    started = f"ix_buffers->begun(ix_w, *request, {request})"
    if kind == "completion":
        return _completion(facts, language)
    if kind == "peek":
        return True, _peek(facts)
    if kind == "request_free":
        return False, f"ix_buffers->freed(ix_w, ix_was, {request})"
    if kind == "cancel":
        return False, f"ix_buffers->cancelled(ix_w, *request, {request})"
    if kind == "rma":
        on_window = "ix_buffers->begun_on(ix_w, win, peer)"
        return False, started if facts["form"] == "request" else on_window
    if kind == "rma_sync" and facts["closes"] != "none":
        target = "peer" if facts["scope"] == "target" else "IX_ALL"
        return False, f"ix_buffers->complete_on(ix_w, win, {target})"
    if kind == "win_free":
        return False, "ix_buffers->complete_on(ix_w, ix_was, IX_ALL)"
    if kind in {"probe", "mprobe"} and facts["form"] == "nonblocking":
        return True, "ix_buffers->passed(ix_w, rc == MPI_SUCCESS && *flag)"
    if kind == "parrived":
        return True, "ix_buffers->passed(ix_w, rc == MPI_SUCCESS && *flag)"
    if kind in {"send", "recv", "mrecv", "sendrecv", "sendrecv_replace", "collective"}:
        form = facts["form"]
        if form == "blocking":
            receives = kind in {"recv", "mrecv", "sendrecv", "sendrecv_replace"}
            status = "rc == MPI_SUCCESS ? status : NULL" if receives else "NULL"
            return False, f"ix_buffers->done(ix_w, {status})"
        return False, started if form == "nonblocking" else "ix_buffers->planned(ix_w, *request)"
    return False, "ix_buffers->passed(ix_w, 1)"


def observed(facts: Facts, language: Language) -> tuple[str, str]:
    """What stands before and behind the call in a wrapper; both empty for a call that is none."""
    if facts.kind in _NO_CALL:
        return "", ""
    polls, after = _after(facts, language)
    before = _buffers(facts, language.fortran)
    if packing := _packing(facts):
        before, after = packing, "ix_buffers->packed(ix_w, rc == MPI_SUCCESS)"
    elif facts.kind == "start":
        one = facts["which"] == "one"
        variable, number = ("request", "1") if one else ("requests", "(int)count")
        where = language.where.format(variable)
        step = "0" if one else language.step.format(variable)
        before = f"ix_buffers->starting(ix_w, {number}, {variable}, {where}, {step});"
    elif before:
        persistent = facts.fields.get("form") == "persistent"
        before += "" if persistent else " ix_buffers->before(ix_w);"
    enter = f"ix_watched_call *ix_w = ix_observed_enter(ix_t, {int(polls)});"
    if before:
        enter += f"\n    if (IX_UNLIKELY(ix_w)) {{\n        {before}\n    }}"
    return enter + "\n    ", f";\n    if (IX_UNLIKELY(ix_w))\n        {after}"
