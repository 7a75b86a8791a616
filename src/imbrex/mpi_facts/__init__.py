"""What is known about the functions of MPI: one table for the generator of the wrappers and for all
of Imbrex, runtime/mpi/functions.json.

Names are those of C. A name ending in _c (large counts) has the facts of the name without it; a
name that the table does not have is a call of which nothing is known. Positions of arguments count
from 0, as in C; Fortran's are the same, with the error code behind them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import imbrex
from imbrex.errors import ImbrexError
from imbrex.mpi_facts.database import LARGE, LARGE_SINCE, Database, Facts

Access = Literal["r", "w", "rw"]
Dependence = Literal["none", "root-to-all", "all-to-root", "all-to-all", "prefix", "neighbours"]
Completion = Literal["call", "request", "start", "synchronization", "none"]

# Beginnings of the roles of a buffer's count, datatype and so on: buf count, sbuf scount, ...
_SIDES = {"buf": "", "sbuf": "s", "rbuf": "r", "cbuf": ""}


@dataclass(frozen=True)
class Buffer:
    """A message's buffer among the arguments of a call: positions, -1 for what it has not.

    `access`: `r` where the call reads the user's data out of it (a send), `w` where it puts the
    data there (a receive), `rw` where that depends on the process (MPI_Bcast). `count` is the
    position of a number or, where `lists`, of an array of them; likewise `datatype` where `typed`.
    `per_process`: the buffer holds that many elements for each process (of MPI_Gather's root).
    """

    access: Access
    address: int
    count: int
    datatype: int
    displacements: int
    peer: int
    tag: int
    lists: bool = False
    typed: bool = False
    per_process: bool = False


@cache
def _database() -> Database:
    """The table, of a checkout or of an installed package."""
    package = Path(imbrex.__file__).parent
    for folder in (package.parent.parent, package / "_native"):
        file = folder / "runtime" / "mpi" / "functions.json"
        if file.is_file():
            return Database(file)
    raise ImbrexError("the table of MPI functions is missing: reinstall Imbrex")


def functions() -> Mapping[str, Facts]:
    """All functions that the table describes, by name, without those that end in _c."""
    return _database().functions


def facts(name: str) -> Facts:
    """What the table says of `name`; `known` is False where it says nothing."""
    return _database().facts(name)


def without_large(name: str) -> str:
    """MPI_Send of MPI_Send_c; any other name itself."""
    base = name.removesuffix(LARGE)
    return base if base in functions() else name


def of_kind(*wanted: str, form: str = "") -> frozenset[str]:
    """The functions of these kinds (and of this form, where one is given)."""
    return frozenset(
        name for name, f in functions().items() if f.kind in wanted and form in ("", f.form)
    )


def since(name: str) -> str:
    """The version of MPI that brought the function ("3.0"), "" where that is not known."""
    known = facts(name)
    if not known.known:
        return ""
    if without_large(name) != name:
        return max(LARGE_SINCE, str(known.fields.get("since", "")))
    return str(known.fields.get("since", ""))


def is_blocking(name: str) -> bool:
    """Whether it moves data and returns when its own part of that is over (MPI_Send, MPI_Bcast)."""
    return completion(name) == "call"


def is_nonblocking(name: str) -> bool:
    """Whether it starts a transfer that a wait or test of its request completes."""
    return completion(name) == "request"


def is_persistent(name: str) -> bool:
    """Whether it makes a request that MPI_Start starts, once or many times."""
    return completion(name) == "start"


def completion(name: str) -> Completion:
    """What completes a transfer of this function: its own `call`; a wait or test of the `request`
    that it makes; the same after each `start`; a `synchronization` of the window, for one-sided
    calls without a request; `none` for what moves no data of the user's."""
    known = facts(name)
    if known.kind == "rma":
        return "request" if known.form == "request" else "synchronization"
    if not moves_data(name):
        return "none"
    return {"blocking": "call", "nonblocking": "request", "persistent": "start"}[known.form]  # type: ignore[return-value]


def moves_data(name: str) -> bool:
    """Whether it transfers the user's data, or begins to: not MPI_Barrier, not a probe."""
    known = facts(name)
    if known.kind == "collective":
        return bool(known["data"])
    return known.kind in _TRANSFERS


_TRANSFERS = frozenset(
    ("send", "recv", "mrecv", "sendrecv", "sendrecv_replace", "partitioned_init", "rma")
)


def blocking_form(name: str) -> str:
    """MPI_Allreduce of MPI_Iallreduce and of MPI_Allreduce_init, MPI_Put of MPI_Rput; the name
    itself (without _c) of what is no form of another."""
    return facts(name).base or name


def form_of(name: str, form: str) -> str | None:
    """The nonblocking, persistent, blocking or request form of a function, with _c if it has that;
    None where there is none: form_of("MPI_Bcast", "nonblocking") is "MPI_Ibcast"."""
    found = _forms().get((blocking_form(name), form))
    if found is None:
        return None
    return found + LARGE if without_large(name) != name else found


@cache
def _forms() -> dict[tuple[str, str], str]:
    return {(f.base, f.form): name for name, f in functions().items()}


def nonblocking_form(name: str) -> str | None:
    """The nonblocking form of a function: MPI_Ibcast of MPI_Bcast; None where there is none."""
    return form_of(name, "nonblocking")


def large_count_form(name: str) -> str | None:
    """The form with counts of type MPI_Count: MPI_Send_c of MPI_Send; None where there is none."""
    base = without_large(name)
    return base + LARGE if facts(base).fields.get("large_count") else None


def dependence(name: str) -> Dependence:
    """Whose data a process needs in a collective call, so for whom it may have to wait.

    `root-to-all`: the root's (MPI_Bcast); `all-to-root`: the root that of all others, and they
    nobody's (MPI_Reduce); `all-to-all`: that of all (MPI_Alltoall, and MPI_Barrier, which has no
    data but waits for all); `prefix`: that of lower ranks (MPI_Scan); `neighbours`: that of its
    sources in the topology; `none`: it is no collective that communicates the user's data.
    """
    return facts(name).fields.get("dependence", "none")  # type: ignore[no-any-return]


def is_collective(name: str) -> bool:
    """Whether it is a collective that communicates or synchronizes: also MPI_Ibarrier and those of
    neighbours; not the making of communicators, windows and files."""
    return facts(name).kind == "collective"


def is_reduction(name: str) -> bool:
    """Whether it combines data by an operation, MPI_SUM or the user's own."""
    return is_collective(name) and position(name, "op") is not None


def sends(name: str) -> bool:
    """Whether the call itself sends a message to one process, or starts to: also MPI_Sendrecv."""
    known = facts(name)
    return known.kind in ("send", "sendrecv", "sendrecv_replace") and known.form != "persistent"


def receives(name: str) -> bool:
    """Whether the call itself receives a message of one process, or starts to."""
    known = facts(name)
    receiving = ("recv", "mrecv", "sendrecv", "sendrecv_replace")
    return known.kind in receiving and known.form != "persistent"


def completes_requests(name: str) -> bool:
    """Whether it waits for requests or tests them: MPI_Wait to MPI_Testsome."""
    return facts(name).kind == "completion"


def is_wait(name: str) -> bool:
    """Whether it may wait for what other calls began: MPI_Wait to MPI_Waitsome, and what ends an
    epoch or part of one of one-sided communication (MPI_Win_fence, unlock, flush, wait)."""
    known = facts(name)
    if known.kind == "rma_sync":
        return bool(known["closes"] != "none" or known.form == "wait")
    return known.kind == "completion" and known.form == "wait"


def is_poll(name: str) -> bool:
    """Whether it only looks, and returns at once: MPI_Test, MPI_Iprobe, MPI_Request_get_status."""
    known = facts(name)
    return (
        (known.kind == "completion" and known.form == "test")
        or (known.kind in ("probe", "mprobe") and known.form == "nonblocking")
        or (known.kind == "rma_sync" and known.form == "test")
        or known.kind in ("peek", "parrived")
    )


def is_local(name: str) -> bool:
    """Whether it neither communicates nor drives progress (MPI_Comm_rank)."""
    return facts(name).kind in ("none", "noted", "thread_level")


def is_timing_dependent(name: str) -> bool:
    """Whether what it does, or whether it is correct, depends on when each process calls what:
    probes, tests, waits for any, ready sends, one-sided and dynamic communication."""
    return bool(facts(name).fields.get("timing_dependent", False))


def spawns(name: str) -> bool:
    """Whether it starts processes."""
    return bool(facts(name).fields.get("spawns", False))


def arguments(name: str) -> tuple[str, ...] | None:
    """The roles of the arguments in C, in order; None where the table does not have them.

    buf, sbuf, rbuf: buffers; count, type, peer, tag, comm, root, op, request, status, flag, ...,
    with s or r in front where there is one for sending and one for receiving.
    """
    roles = facts(name).roles
    return None if roles is None else tuple(roles)


def position(name: str, role: str) -> int | None:
    """Where an argument stands: position("MPI_Send", "tag") is 4; None where there is none."""
    roles = arguments(name) or ()
    return roles.index(role) if role in roles else None


def access(name: str) -> dict[int, Access]:
    """The memory that a call touches, by the position of the argument that points to it.

    What a nonblocking call starts may touch its buffers until it is complete. Empty where the
    table does not have the arguments.
    """
    known = facts(name)
    own: dict[str, Access] = known.fields.get("access", {})
    by_role: dict[str, Access] = {**_database().access, **own}  # type: ignore[dict-item]
    return {i: by_role[r] for i, r in enumerate(known.roles or ()) if r in by_role}


def buffers(name: str) -> tuple[Buffer, ...]:
    """The buffers of the messages that a call sends and receives, in the order of its arguments;
    that of MPI_Sendrecv_replace twice, once for each direction. Empty where it has none."""
    known = facts(name)
    roles = known.roles or []
    if not moves_data(name):
        return ()
    touched = access(name)
    found = []
    for role, side in _SIDES.items():
        if role not in roles:
            continue
        mode = touched[roles.index(role)]
        if known.kind == "sendrecv_replace":
            found += [_buffer(known, role, "", "r", "s"), _buffer(known, role, "", "w", "r")]
        else:
            found.append(_buffer(known, role, side, mode, side))
    return tuple(sorted(found, key=lambda buffer: buffer.address))


def _buffer(known: Facts, role: str, side: str, mode: Access, whose: str) -> Buffer:
    """`side` begins the names of the count and so on, `whose` those of the peer and the tag."""
    roles = known.roles or []

    def at(*names: str) -> int:
        return next((roles.index(n) for n in names if n in roles), -1)

    own = (f"{side}counts", f"{side}count")
    # Of a reduction both buffers have one count, which may be called the receiver's.
    count = at(*own, "count", "rcounts", "rcount")
    datatype = at(f"{side}types", f"{side}type", "type")
    lists = count >= 0 and roles[count].endswith("counts")
    return Buffer(
        access=mode,
        address=roles.index(role),
        count=count,
        datatype=datatype,
        displacements=at(f"{side}displs", "displs") if lists and datatype != at("type") else -1,
        peer=at(f"{whose}peer", "peer"),
        tag=at(f"{whose}tag", "tag"),
        lists=lists,
        typed=datatype >= 0 and roles[datatype].endswith("types"),
        per_process=known.kind == "collective" and _per_process(known, role, roles[count]),
    )


def _per_process(known: Facts, role: str, count: str) -> bool:
    """Whether a collective's buffer has a block for each process: as `data` says of its count."""
    rules = {part: item.split() for part, item in known["data"].items()}
    if known["data"].keys() == {"contributes"} and role == "rbuf":
        return False
    return any(c == count and not rule.startswith("one") for rule, c, _ in rules.values())


def fortran_names(name: str) -> tuple[str, ...]:
    """The symbols of a function in Fortran: as compilers spell it, and of the module mpi_f08."""
    low = name.lower()
    return (low + "_", low + "__", low, low + "_f08_", low + "_f08ts_")


def datatypes() -> Mapping[str, Mapping[str, Any]]:
    """The predefined datatypes by name. `class`: `exact` where reductions give the same in whatever
    order they are made, `floating` or `other`; `bytes` where every compiler agrees on the size;
    `elements`: the types of C and Fortran that are stored so."""
    return _database().datatypes


def operations() -> Mapping[str, Mapping[str, Any]]:
    """The predefined operations by name. `class`: `reduction` for those of numbers, bits and truth
    values, else `other` (MPI_MAXLOC)."""
    return _database().operations
