"""From facts to the holes of a template: which C a wrapper of each kind consists of.

A template is a whole C function with holes `@NAME@`. Seven holes are the shell, so that another
language's wrapper can use the same body: SIGNATURE, UNMEASURED (what is done when the runtime does
not measure; the arguments as C has them follow), ARGUMENTS (those alone, in a template without
UNMEASURED), ENTER (the beginning of a recorded call), CALL (declares and sets `int rc`), RETURN,
and LEAVE (the end of a recorded call, and RETURN).
"""

from __future__ import annotations

import re
from pathlib import Path

from database import Facts

_SLACK = {
    "standard": "IX_SLACK_TAIL",
    "synchronous": "IX_SLACK_TAIL",
    "buffered": "IX_SLACK_UNKNOWN",
    "ready": "IX_SLACK_UNKNOWN",
}

_COLLECTIVE_BEGIN = {
    "blocking": "ix_blocking(ix_t, &ix_x)",
    "nonblocking": "ix_begin(ix_t, ix_handle(*request), &ix_x)",
    "persistent": "ix_persistent(ix_t, ix_handle(*request), &ix_x)",
}

# Records of the call log: enum ix_log_kind.
_LOG_SEND = {
    "standard": "IX_LOG_SEND",
    "synchronous": "IX_LOG_SYNC_SEND",
    "buffered": "IX_LOG_BUFFERED_SEND",
    "ready": "IX_LOG_READY_SEND",
}

_LOG_COLLECTIVE = {
    "blocking": "ix_log_collective({record})",
    "nonblocking": "ix_log_collective_begun({record}, *request)",
    "persistent": "ix_log_collective_planned({record}, *request)",
}

# Which ranks a rank needs, as the call log names it.
_LOG_DEPENDENCE = {
    "all-to-all": "IX_LOG_ALL",
    "root-to-all": "IX_LOG_FROM_ROOT",
    "all-to-root": "IX_LOG_TO_ROOT",
    "prefix": "IX_LOG_SCAN",
    "neighbours": "IX_LOG_NEIGHBOURS",
}

# Kinds that move nothing by themselves, although some drive progress.
_CALL_TIME_ONLY = {"parrived"}

# Numbers of elements by rule of the database: (C for the number of peers, whether count is a list;
# of a list also those to leave out, as bits, or the communicator where that is a rank's own block)
_RULES = {
    "one": ("1", False),
    "peers": ("ix_c->peers", False),
    "locals": ("ix_c->size", False),
    "sources": ("ix_sources(ix_c)", False),
    "destinations": ("ix_destinations(ix_c)", False),
    "one-if-destinations": ("(ix_destinations(ix_c) > 0)", False),
    "each-peer": ("ix_c", True),
    "each-local": ("ix_c->size, 0", True),
    "each-source": ("ix_source_places(ix_c), ix_c->missing", True),
    "each-destination": ("ix_destination_places(ix_c), ix_c->missing", True),
}


# Kinds whose blocking form begins and ends its transfers within the call.
_WITHIN_THE_CALL = {"send", "recv", "sendrecv", "sendrecv_replace", "collective"}


def leaves_nothing_open(facts: Facts) -> bool:
    """Whether a call has nothing to do with what is open after or before it."""
    if facts.kind in _WITHIN_THE_CALL:
        return facts.form == "blocking"
    return facts.kind in _CALL_TIME_ONLY | {"call", "probe"}


def no_need(facts: Facts) -> str:
    """C: that a call needs no progress thread while nothing is open; empty: it always might."""
    if facts.kind in {"send", "recv"} and facts.form == "nonblocking":
        return "ix_is_without_need(count, type, peer, comm)"
    return "ix_knows_no_request()" if facts.kind == "completion" else ""


def _bytes(item: str) -> str:
    rule, count, datatype = item.split()
    typed = rule.endswith("-type")
    number, listed = _RULES[rule.removesuffix("-type")]
    name = "IX_SUM_PEERS" if rule.startswith("each-peer") else "IX_SUM"
    if typed:
        return f"{name}_TYPES({count}, {datatype}, {number})"
    if listed:
        return f"{name}({count}, {number}) * ix_type_bytes({datatype})"
    times = "" if number == "1" else f"{number} * "
    return f"{times}(int64_t){count} * ix_type_bytes({datatype})"


def _unless_in_place(item: str, roles: list[str]) -> str:
    buffer = item.split()[1][0] + "buf"
    expression = _bytes(item)
    if buffer in roles and item.split()[1][0] in "sr":
        return f"({buffer} == MPI_IN_PLACE ? 0 : {expression})"
    return expression


def _collective_holes(facts: Facts) -> dict[str, str]:
    data: dict[str, str] = facts["data"]
    roles = facts.roles or []
    holes = {"CALIBRATION": "IX_OP_" + facts["calibration"].removeprefix("MPI_")}
    holes["ROOT"] = "root" if facts.rooted else "IX_NO_ROOT"
    if facts.rooted:
        holes["BYTES"] = (
            f"ix_role == IX_ROLE_ROOT ? {_bytes(data['root'])} : {_bytes(data['other'])}"
        )
    else:
        parts = [_unless_in_place(data[k], roles) for k in ("contributes", "obtains") if k in data]
        holes["BYTES"] = parts[0] if len(parts) == 1 else f"IX_MAX({parts[0]}, {parts[1]})"
    return holes


def _logged_collective(facts: Facts) -> str:
    """Its record in the call log."""
    counts = {"scounts", "rcounts"} & set(facts.roles or ())
    root = "root" if facts.rooted else "IX_NO_ROOT"
    flags = "IX_LOG_VARYING" if counts else "0"
    if facts["data"] and not counts:  # what moves nothing need wait for nobody
        flags = "ix_bytes ? 0 : IX_LOG_VARYING"
    record = f"ix_t, ix_c, {root}, {_LOG_DEPENDENCE[facts['dependence']]}, {flags}, ix_bytes"
    return _LOG_COLLECTIVE[facts.form].format(record=record)


# Whose list of blocks the call log gets, and the member whose block stays where it is.
_LISTS = {
    "contributes": ("", "ix_c->rank"),
    "obtains": ("if (ix_c && ix_c->rank == 0) ", "-1"),
    "root": ("if (ix_role == IX_ROLE_ROOT) ", "ix_c->rank"),
}


def _logged_blocks(facts: Facts) -> str:
    """The sizes of its blocks in the call log, where there is one for each member: of those that
    each sends, else of those that all or the root know."""
    data: dict[str, str] = facts["data"]
    listed = [k for k in _LISTS if data.get(k, "").startswith("each-peer")]
    if not listed:
        return ""
    rule, *lists = data[listed[0]].split()
    if len(listed) == 2:  # in place what comes is as long as what goes
        own = data[listed[1]].split()[1:]
        pairs = zip(lists, own, strict=True)
        lists = [f"(sbuf == MPI_IN_PLACE ? {there} : {here})" for here, there in pairs]
    condition, own_block = _LISTS[listed[0]]
    macro = "IX_LOG_BLOCKS_TYPES" if rule.endswith("-type") else "IX_LOG_BLOCKS_OF"
    persistent = int(facts.form == "persistent")
    arguments = f"ix_t, ix_c, {own_block}, {persistent}, ix_bytes, {', '.join(lists)}"
    return f"\n        {condition}{macro}({arguments});"


# The peer and the tag that a blocking call of a kind waits for.
_AWAITED = {"send": "peer, tag", "recv": "peer, tag", "probe": "peer, tag"}
_AWAITED |= dict.fromkeys(("sendrecv", "sendrecv_replace"), "rpeer, rtag")


def _awaits(facts: Facts) -> str:
    """What a call that may block says of whom it waits for; empty: nothing."""
    if facts.fields.get("form", "blocking") != "blocking" or facts.fields.get("mode") == "buffered":
        return ""
    if facts.kind in _AWAITED:
        return f"\n    ix_awaits(ix_t, comm, {_AWAITED[facts.kind]});"
    root = "root" if facts.kind == "collective" and facts.rooted else "IX_LOG_NOBODY"
    return f"\n    ix_awaits_all(ix_t, comm, {root});"


def _found_nothing(facts: Facts) -> str:
    """What a call that looks once says where it found nothing; empty: it waits until it does."""
    looks = facts.kind in {"peek", "parrived"} or facts["form"] in {"test", "nonblocking"}
    if not looks:
        return ""
    nothing = "*outcount == 0" if facts.fields.get("which") == "some" else "!*flag"
    return f"\n    if (rc == MPI_SUCCESS && {nothing})\n        ix_log_found_nothing(ix_t);"


def template_and_holes(name: str, facts: Facts) -> tuple[str, dict[str, str]]:
    """Template file (without `.c`) and the holes that the facts fill."""
    kind = facts.kind
    fields = facts.fields
    if kind == "send":
        return f"send_{facts['form']}", {
            "SLACK": _SLACK[facts["mode"]],
            "KIND": _LOG_SEND[facts["mode"]],
            "AWAITS": _awaits(facts),
        }
    if kind in {"recv", "mrecv", "sendrecv", "sendrecv_replace"}:
        awaits = "" if kind == "mrecv" else _awaits(facts)
        return f"{kind}_{facts['form']}", {"AWAITS": awaits}
    if kind in {"probe", "mprobe"}:
        seen = "*flag" if facts["form"] == "nonblocking" else "1"
        awaits = _awaits(facts) if kind == "probe" else ""
        return kind, {"SEEN": seen, "AWAITS": awaits, "NOTHING": _found_nothing(facts)}
    if kind == "completion":
        seen = "*flag" if facts["form"] == "test" else "1"
        return f"{kind}_{facts['which']}", {"SEEN": seen, "NOTHING": _found_nothing(facts)}
    if kind == "peek":
        return f"peek_{facts['which']}", {"NOTHING": _found_nothing(facts)}
    if kind == "parrived":
        return kind, {"NOTHING": _found_nothing(facts)}
    if kind in {"start", "pready"}:
        return f"{kind}_{facts['which']}", {}
    if kind == "partitioned_init":
        return f"partitioned_{facts['side']}", {}
    if kind == "collective":
        logged = {"LOG": _logged_collective(facts), "AWAITS": _awaits(facts)}
        if not facts["data"]:
            return "barrier", logged
        begin = {"BEGIN": _COLLECTIVE_BEGIN[facts["form"]]}
        logged["BLOCKS"] = _logged_blocks(facts)
        return kind, {**_collective_holes(facts), **begin, **logged}
    if kind == "rma":
        holes = {
            "KIND": "IX_LOG_PUT" if fields["direction"] == "put" else "IX_LOG_GET",
            "BYTES": _bytes(fields["data"]),
            "CALIBRATION": "IX_OP_" + facts["calibration"].removeprefix("MPI_"),
        }
        if fields["form"] == "request":
            holes["SLACK"] = "IX_SLACK_TAIL" if fields["direction"] == "put" else "IX_SLACK_NONE"
        return f"rma_{fields['form']}", holes
    if name == "MPI_Init_thread":
        return "init_thread", {}
    if kind == "noted":
        return kind, {"NOTE": facts["note"]}
    if kind == "rma_sync":
        return _epoch(name, facts)
    creates = fields.get("creates")
    if creates:
        return _creation(creates) if "comm" in creates else ("comm_from_group", {})
    return "call" if kind in _CALL_TIME_ONLY else kind, {}


def _epoch(name: str, facts: Facts) -> tuple[str, dict[str, str]]:
    """The beginning or end of an epoch on a window."""
    target = "peer" if facts["scope"] == "target" else "IX_ALL"
    looks = facts.form == "test"
    holes = {
        "TARGET": target,
        "FENCE": "IX_FENCE_OF(assert)" if name == "MPI_Win_fence" else "IX_NO_FENCE",
        "SEEN": "*flag" if looks else "1",
        "NOTHING": _found_nothing(facts) if looks else "",
        "FOUND": "\n        ix_log_end_polls(ix_t);" if looks else "",
        "GROUP": _group_epoch(facts),
    }
    if facts["closes"] == "none":
        log = f"ix_log_epoch(ix_t, win, {target}, {holes['FENCE']});"
        if "lock_type" in (facts.roles or ()):
            log = "ix_log_lock(ix_t, win, peer, IX_LOCK_OF(lock_type), assert);"
        return "call" if name == "MPI_Win_sync" else "rma_open", {**holes, "LOG": log}
    slack = {"all": "IX_SLACK_NONE", "local": "IX_SLACK_TAIL"}[facts["closes"]]
    return "rma_close", {**holes, "SLACK": slack}


def _group_epoch(facts: Facts) -> str:
    """C: an epoch with the members of a group begins, or ends."""
    if "group_epoch" not in facts.fields:
        return ""
    kind = f"ix_t, win, IX_LOG_{facts['group_epoch'].upper()}"
    if "group" in (facts.roles or ()):
        return f"ix_log_group_epoch_begun({kind}, group, assert);"
    return f"ix_log_group_epoch_ended({kind});"


def _creation(creates: dict[str, int]) -> tuple[str, dict[str, str]]:
    """The making of a communicator. The request of one that is made in the background gives it its
    number at once."""
    form = "nonblocking" if "request" in creates else "blocking"
    record = "ix_t, ix_comm_of(comm), IX_NO_ROOT, IX_LOG_ALL, 0, 0"
    awaits = "\n    ix_awaits_all(ix_t, comm, IX_LOG_NOBODY);" if form == "blocking" else ""
    return f"comm_{form}", {"LOG": _LOG_COLLECTIVE[form].format(record=record), "AWAITS": awaits}


def fill(template: str, holes: dict[str, str]) -> str:
    """Put the holes into the template. Raises KeyError for a hole that nobody fills."""
    return re.sub(r"@([A-Z]+)@", lambda match: holes[match.group(1)], template)


class Templates:
    """The templates of one directory, read once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._texts: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._texts:
            self._texts[name] = (self._directory / f"{name}.c").read_text()
        return self._texts[name]
