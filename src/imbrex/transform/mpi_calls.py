"""MPI's functions as `transform` sees them: which it rewrites, and how it reads their arguments.

What a function is, and where its arguments stand, is in the table of MPI functions
(`imbrex.mpi_facts`); here stands what the rewrites and analyses make of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from imbrex import mpi_facts
from imbrex.transform.model.reasons import ReasonKind

ERRORS_RETURN = ("MPI_File_", "MPI_T_", "MPI_Session_", "MPI_Add_error", "MPI_Register_datarep")
"""Beginnings of functions whose errors do not end the program, whatever its error handler is."""


@dataclass(frozen=True, slots=True)
class PointToPoint:
    """Positions of the arguments of one transfer inside a call."""

    direction: str  # "send", "receive" or "collective"
    start: str  # name of the nonblocking counterpart
    buffer: int
    count: int
    datatype: int
    peer: int = -1  # -1: a collective has none
    tag: int = -1
    communicator: int = -1
    mode: str = "standard"  # or "synchronous", "ready"


def _position(name: str, *roles: str) -> int:
    found = (mpi_facts.position(name, role) for role in roles)
    return next(position for position in found if position is not None)


def _positions(names: Iterable[str], *roles: str) -> dict[str, int]:
    """Where the first of these arguments stands, for the functions that have one."""
    given = {name: mpi_facts.arguments(name) or () for name in names}
    return {
        name: next(arguments.index(role) for role in roles if role in arguments)
        for name, arguments in given.items()
        if set(roles) & set(arguments)
    }


def _parts(name: str) -> tuple[PointToPoint, ...]:
    """The transfers of a call. A receive comes first: it is posted before the send is started."""
    of_both = mpi_facts.facts(name).kind == "sendrecv"
    parts = []
    for buffer in mpi_facts.buffers(name):
        sends = buffer.access == "r"
        start = mpi_facts.nonblocking_form(name) or ""
        if of_both:
            start = "MPI_Isend" if sends else "MPI_Irecv"
        parts.append(
            PointToPoint(
                "send" if sends else "receive",
                start,
                buffer.address,
                buffer.count,
                buffer.datatype,
                buffer.peer,
                buffer.tag,
                _position(name, "comm"),
                mpi_facts.facts(name).fields.get("mode", "standard"),
            )
        )
    return tuple(sorted(parts, key=lambda part: part.direction))


def _is_buffered(name: str) -> bool:
    return bool(mpi_facts.facts(name).fields.get("mode") == "buffered")


_BLOCKING = sorted(mpi_facts.of_kind("send", "recv", "sendrecv", form="blocking"))
BLOCKING: dict[str, tuple[PointToPoint, ...]] = {
    name: _parts(name) for name in _BLOCKING if not _is_buffered(name)
}
STATUS: dict[str, int] = _positions([*BLOCKING, "MPI_Sendrecv_replace"], "status")

# Communicators that are known to differ from each other.
WORLDS = frozenset({"MPI_COMM_WORLD", "MPI_COMM_SELF"})
NO_STATUS = frozenset({"MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE"})

# Nonblocking calls of one process with another, whose requests are followed.
NONBLOCKING = frozenset(
    name for name in mpi_facts.of_kind("send", "recv", form="nonblocking") if not _is_buffered(name)
)
# All parts of calls whose arguments are known, and of these the receiving and the sending ones.
PARTS: dict[str, tuple[PointToPoint, ...]] = {
    name: _parts(name) for name in (*BLOCKING, *sorted(NONBLOCKING))
}


def _of_direction(direction: str) -> dict[str, PointToPoint]:
    return {n: p for n, parts in PARTS.items() for p in parts if p.direction == direction}


RECEIVES = _of_direction("receive")
SENDS = _of_direction("send")

# Collectives that move data, of all processes and of neighbours.
COLLECTIVES = frozenset(
    n for n in mpi_facts.of_kind("collective", form="blocking") if mpi_facts.moves_data(n)
)

# Blocking calls that are reported but that no rewrite takes, each with its reason.
LEFT_ALONE: dict[str, ReasonKind] = {
    **dict.fromkeys(
        filter(_is_buffered, _BLOCKING),
        ReasonKind.BUFFERED_SEND,
    ),
    **dict.fromkeys(
        mpi_facts.of_kind("sendrecv_replace", form="blocking"),
        ReasonKind.ONE_BUFFER,
    ),
    **dict.fromkeys(
        mpi_facts.of_kind("collective", form="blocking") - COLLECTIVES,
        ReasonKind.BARRIER,
    ),
}


def _result(name: str) -> PointToPoint | None:
    """Where a collective leaves its result; None for those that are not rewritten: with a datatype
    for each process, with parts of a reduction, or whose processes need different ones' data."""
    buffers = mpi_facts.buffers(name)
    result = next(b for b in buffers if "w" in b.access)
    start = mpi_facts.nonblocking_form(name)
    in_parts = mpi_facts.is_reduction(name) and any(b.per_process for b in buffers)
    partial = mpi_facts.dependence(name) in ("prefix", "neighbours")
    if start is None or result.typed or in_parts or partial:
        return None
    return PointToPoint("collective", start, result.address, result.count, result.datatype)


# Collectives with a nonblocking counterpart: where they leave their result.
BLOCKING_COLLECTIVES: dict[str, PointToPoint] = {
    name: part for name in sorted(COLLECTIVES) if (part := _result(name)) is not None
}
# Of these, the ones whose buffers all hold `count` elements of `datatype`.
ONE_COUNT = frozenset(
    name
    for name in BLOCKING_COLLECTIVES
    if len({(b.count, b.datatype, b.per_process) for b in mpi_facts.buffers(name)}) == 1
)
OPERATION: dict[str, int] = _positions(BLOCKING_COLLECTIVES, "op")
# Where the operation stands, in all forms of all reductions.
OPERATION_OF: dict[str, int] = _positions(mpi_facts.of_kind("collective"), "op")
OPERATIONS = frozenset(
    name for name, known in mpi_facts.operations().items() if known["class"] == "reduction"
)
# Of these, the ones whose outcome is one of the values: their order matters for zeros' signs alone.
SELECTIONS = frozenset(n for n, known in mpi_facts.operations().items() if "selects" in known)
PREDEFINED_OPERATIONS = frozenset(mpi_facts.operations())


def _types(kind: str) -> frozenset[str]:
    return frozenset(n for n, known in mpi_facts.datatypes().items() if known["class"] == kind)


# Types on which those operations give the same in whatever order they are applied.
EXACT_TYPES = _types("exact")
FLOATING_TYPES = _types("floating")
ORDERED = COLLECTIVES | {start for n in COLLECTIVES if (start := mpi_facts.nonblocking_form(n))}

# Routines whose outcome depends on timing: with one of them in the program, the results of
# other communication may depend on when each process does it. A ready send is correct only where
# its receive has been posted, which other messages tell (MPI 4.0, section 3.4).
TIMING_DEPENDENT = frozenset(filter(mpi_facts.is_timing_dependent, mpi_facts.functions()))
# What may take a message, or tell of one, and what may send one.
RECEIVING = (
    frozenset(filter(mpi_facts.receives, mpi_facts.functions()))
    | mpi_facts.of_kind("recv", form="persistent")
    | mpi_facts.of_kind("probe", "mprobe", "start")
)
SENDING = frozenset(filter(mpi_facts.sends, mpi_facts.functions())) | mpi_facts.of_kind("start")
# Routines that neither communicate nor order anything, and whose arguments are known.
LOCAL = frozenset(
    name for name in mpi_facts.of_kind("none") if mpi_facts.arguments(name) is not None
) | {"MPI_F_sync_reg"}
WAITS = frozenset(
    name
    for name in mpi_facts.of_kind("completion", form="wait")
    if not mpi_facts.is_timing_dependent(name)
)

# Nonblocking starts: their parts, and where their request stands; likewise of waits.
STARTS: dict[str, PointToPoint] = {
    **{name: PARTS[name][0] for name in sorted(NONBLOCKING)},
    **{part.start: part for part in BLOCKING_COLLECTIVES.values()},
}
REQUEST_OF_START: dict[str, int] = _positions(STARTS, "request")
REQUEST_OF_WAIT: dict[str, int] = _positions(WAITS, "request", "requests")
STATUS_OF_WAIT: dict[str, int] = _positions(WAITS, "status", "statuses")
# Waits for one or some of several requests: which, depends on timing.
_WAITS_FOR_SOME = mpi_facts.of_kind("completion", form="wait") - WAITS
COMPLETIONS = WAITS | _WAITS_FOR_SOME
# Where the requests stand that a call may complete; a test may leave them as they are.
REQUEST_OF_COMPLETION: dict[str, int] = _positions(
    mpi_facts.of_kind("completion"), "request", "requests"
)
# What makes persistent requests whose messages are followed, what starts them, and where the
# request stands in all that may be done with one.
INITS: dict[str, PointToPoint] = {
    name: _parts(name)[0]
    for name in sorted(mpi_facts.of_kind("send", "recv", form="persistent"))
    if mpi_facts.facts(name).fields.get("mode", "standard") in ("standard", "synchronous")
}
# All parts of calls that say where messages are, at once or whenever they are started.
TOLD: dict[str, tuple[PointToPoint, ...]] = PARTS | {name: (INITS[name],) for name in INITS}
PERSISTENT_STARTS = mpi_facts.of_kind("start")
REQUEST_OF_PERSISTENT: dict[str, int] = _positions(
    [*INITS, *PERSISTENT_STARTS, *WAITS, *mpi_facts.of_kind("request_free")],
    "request",
    "requests",
)
# Calls that may serve only to drive the library, and where the flag stands that they set.
_ASKING = mpi_facts.of_kind("probe", form="nonblocking") | {
    name for name in mpi_facts.of_kind("peek") if mpi_facts.position(name, "request") is not None
}
FLAG_OF_PROGRESS: dict[str, int] = _positions(_ASKING, "flag")
REQUEST_OF_PROGRESS: dict[str, int] = _positions(_ASKING, "request")

# Memory that a call touches: argument position -> "r" or "w" (the memory it names). A call that is
# not here may do anything.
_FOLLOWED = (
    *BLOCKING,
    *LEFT_ALONE.keys() - mpi_facts.of_kind("collective"),
    *(name for name in COLLECTIVES if mpi_facts.dependence(name) != "neighbours"),
    *STARTS,
    *LOCAL,
    *COMPLETIONS,
    *_ASKING,
)
EFFECTS: dict[str, dict[int, str]] = {
    name: {at: "w" if "w" in mode else "r" for at, mode in mpi_facts.access(name).items()}
    for name in _FOLLOWED
}
EFFECTS["MPI_F_sync_reg"] = {0: "r"}  # of Fortran alone: it keeps the compiler from moving accesses
# Number of arguments in C; Fortran may add the error code.
C_ARGUMENTS: dict[str, int] = {
    name: len(arguments) for name in EFFECTS if (arguments := mpi_facts.arguments(name))
}


def error_position(name: str) -> int | None:
    """Where Fortran's error code stands; None for functions whose arguments are not known."""
    arguments = mpi_facts.arguments(name)
    return None if arguments is None else len(arguments)


SOURCE_POSITION: dict[str, int] = {
    **{name: part.peer for name, part in RECEIVES.items()},
    **_positions(["MPI_Sendrecv_replace"], "rpeer"),
}
WILDCARDS = frozenset({"MPI_ANY_SOURCE", "MPI_ANY_TAG"})

# Bytes are compared by name of the element type: MPI type -> C and Fortran element types.
ELEMENT_OF: dict[str, frozenset[str]] = {
    name: frozenset(known["elements"])
    for name, known in mpi_facts.datatypes().items()
    if "elements" in known
}
# Bytes of one element, where every compiler agrees on them.
ELEMENT_SIZE: dict[str, int] = {
    name: known["bytes"] for name, known in mpi_facts.datatypes().items() if "bytes" in known
}
PREDEFINED = frozenset(mpi_facts.datatypes())
# Calls that tell an absolute address, of which a datatype may be made.
ADDRESSES = frozenset({"MPI_Get_address", "MPI_Address"})

# Calls that keep an address, or give one that was kept: attributes and what goes with a key,
# windows, buffers of sends, generalized requests.
KEEPS = re.compile(
    r"\bMPI_(?:\w*(?:attr|keyval|Attr_put|Attr_get|Keyval_create|_attach|_detach|tach_buffer)"
    r"|Win_(?:create|allocate\w*|shared_query)|Grequest_start|Register_datarep):"
)

# The buffers of messages. The count of one with a block for each process is that of one block.
BUFFERS: dict[str, tuple[mpi_facts.Buffer, ...]] = {
    name: mpi_facts.buffers(name)
    for name in mpi_facts.of_kind("send", "recv", "sendrecv", "sendrecv_replace", "collective")
}
