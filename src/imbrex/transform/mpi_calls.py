"""What `transform` knows of MPI's routines: the role of each argument."""

from __future__ import annotations

from dataclasses import dataclass


def _names(text: str) -> frozenset[str]:
    return frozenset("MPI_" + name for name in text.split())


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


def _send(start: str, mode: str) -> tuple[PointToPoint, ...]:
    return (PointToPoint("send", start, 0, 1, 2, 3, 4, 5, mode),)


BLOCKING: dict[str, tuple[PointToPoint, ...]] = {
    "MPI_Send": _send("MPI_Isend", "standard"),
    "MPI_Ssend": _send("MPI_Issend", "synchronous"),
    "MPI_Rsend": _send("MPI_Irsend", "ready"),
    "MPI_Recv": (PointToPoint("receive", "MPI_Irecv", 0, 1, 2, 3, 4, 5),),
    # The receive first: it is posted before the send is started.
    "MPI_Sendrecv": (
        PointToPoint("receive", "MPI_Irecv", 5, 6, 7, 8, 9, 10),
        PointToPoint("send", "MPI_Isend", 0, 1, 2, 3, 4, 10),
    ),
}
STATUS: dict[str, int] = {"MPI_Recv": 6, "MPI_Sendrecv": 11}

# Communicators that are known to differ from each other.
WORLDS = frozenset({"MPI_COMM_WORLD", "MPI_COMM_SELF"})
NO_STATUS = frozenset({"MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE"})

# The receiving part of calls whose arguments are known.
RECEIVES: dict[str, PointToPoint] = {
    "MPI_Recv": BLOCKING["MPI_Recv"][0],
    "MPI_Irecv": BLOCKING["MPI_Recv"][0],
    "MPI_Sendrecv": BLOCKING["MPI_Sendrecv"][0],
}

# The sending part, likewise.
SENDS: dict[str, PointToPoint] = {
    **{f"MPI_{mode}": BLOCKING[f"MPI_{mode}"][0] for mode in ("Send", "Ssend", "Rsend")},
    **{f"MPI_I{mode.lower()}": BLOCKING[f"MPI_{mode}"][0] for mode in ("Send", "Ssend", "Rsend")},
    "MPI_Sendrecv": BLOCKING["MPI_Sendrecv"][1],
}
PARTS: dict[str, tuple[PointToPoint, ...]] = {
    name: tuple(part for table in (RECEIVES, SENDS) if (part := table.get(name)) is not None)
    for name in (*RECEIVES, *SENDS)
}

# Blocking calls that are reported but that no rewrite takes, each with its reason.
LEFT_ALONE: dict[str, str] = {
    "MPI_Bsend": "a buffered send is local already: its copy is made in the call",
    "MPI_Sendrecv_replace": "it sends and receives in one buffer; nonblocking it would need two",
    "MPI_Barrier": "a barrier has no data, so data flow cannot justify moving it",
}
COLLECTIVES = _names(
    "Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw "
    "Reduce Allreduce Reduce_scatter Reduce_scatter_block Scan Exscan"
)


def _collective(start: str, buffer: int, count: int) -> PointToPoint:
    return PointToPoint("collective", start, buffer, count, count + 1)


# Collectives with a nonblocking counterpart: where they leave their result.
BLOCKING_COLLECTIVES: dict[str, PointToPoint] = {
    "MPI_Bcast": _collective("MPI_Ibcast", 0, 1),
    "MPI_Gather": _collective("MPI_Igather", 3, 4),
    "MPI_Gatherv": PointToPoint("collective", "MPI_Igatherv", 3, 4, 6),
    "MPI_Scatter": _collective("MPI_Iscatter", 3, 4),
    "MPI_Scatterv": _collective("MPI_Iscatterv", 4, 5),
    "MPI_Allgather": _collective("MPI_Iallgather", 3, 4),
    "MPI_Allgatherv": PointToPoint("collective", "MPI_Iallgatherv", 3, 4, 6),
    "MPI_Alltoall": _collective("MPI_Ialltoall", 3, 4),
    "MPI_Alltoallv": PointToPoint("collective", "MPI_Ialltoallv", 4, 5, 7),
    "MPI_Reduce": _collective("MPI_Ireduce", 1, 2),
    "MPI_Allreduce": _collective("MPI_Iallreduce", 1, 2),
}
# Of these, the ones whose buffers all hold `count` elements of `datatype`.
ONE_COUNT = frozenset({"MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"})
OPERATION: dict[str, int] = {"MPI_Reduce": 4, "MPI_Allreduce": 4}
REDUCTIONS = _names("Reduce Allreduce Reduce_scatter Reduce_scatter_block Scan Exscan")
# Where the operation stands, in all of their forms.
OPERATION_OF: dict[str, int] = {
    name: 4
    for blocking in REDUCTIONS
    for name in (blocking, "MPI_I" + blocking[4:].lower(), blocking + "_init")
}
OPERATIONS = _names("MAX MIN SUM PROD LAND BAND LOR BOR LXOR BXOR")
PREDEFINED_OPERATIONS = OPERATIONS | _names("MAXLOC MINLOC REPLACE NO_OP")
# Types on which those operations give the same in whatever order they are applied.
EXACT_TYPES = _names(
    "INT LONG SHORT LONG_LONG LONG_LONG_INT CHAR SIGNED_CHAR UNSIGNED_CHAR UNSIGNED_SHORT "
    "UNSIGNED UNSIGNED_LONG UNSIGNED_LONG_LONG INT8_T INT16_T INT32_T INT64_T UINT8_T UINT16_T "
    "UINT32_T UINT64_T AINT COUNT OFFSET BYTE C_BOOL CXX_BOOL INTEGER INTEGER1 INTEGER2 INTEGER4 "
    "INTEGER8 LOGICAL"
)
FLOATING_TYPES = _names(
    "FLOAT DOUBLE LONG_DOUBLE C_COMPLEX C_FLOAT_COMPLEX C_DOUBLE_COMPLEX C_LONG_DOUBLE_COMPLEX "
    "REAL REAL4 REAL8 REAL16 DOUBLE_PRECISION COMPLEX COMPLEX8 COMPLEX16 DOUBLE_COMPLEX"
)
ORDERED = COLLECTIVES | frozenset("MPI_I" + name[4:].lower() for name in COLLECTIVES)

# Routines whose outcome depends on timing: with one of them in the program, the results of
# other communication may depend on when each process does it. A ready send is correct only where
# its receive has been posted, which other messages tell (MPI 4.0, section 3.4).
TIMING_DEPENDENT = _names(
    "Probe Iprobe Mprobe Improbe Test Testall Testany Testsome Waitany Waitsome Cancel "
    "Request_get_status Win_create Win_allocate Win_allocate_shared Win_create_dynamic "
    "File_open Comm_spawn Comm_spawn_multiple Comm_accept Comm_connect Start Startall "
    "Parrived Rsend Irsend Rsend_init"
)
RECEIVING = _names(
    "Recv Irecv Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace Mrecv Imrecv Probe "
    "Iprobe Mprobe Improbe Start Startall Recv_init"
)
# Routines that neither communicate nor order anything.
LOCAL = _names("Wtime Wtick Comm_rank Comm_size Get_count Get_address Type_size")
SENDING = _names(
    "Send Ssend Rsend Bsend Isend Issend Irsend Ibsend Sendrecv Sendrecv_replace Isendrecv "
    "Isendrecv_replace Start Startall"
)
WAITS = frozenset({"MPI_Wait", "MPI_Waitall"})
NONBLOCKING = frozenset({"MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Irecv"})

# Memory that a call touches: argument position -> "r" or "w" (the memory it names).
_SEND_EFFECT = {0: "r"}
EFFECTS: dict[str, dict[int, str]] = {
    "MPI_Send": _SEND_EFFECT,
    "MPI_Ssend": _SEND_EFFECT,
    "MPI_Rsend": _SEND_EFFECT,
    "MPI_Bsend": _SEND_EFFECT,
    "MPI_Isend": {0: "r", 6: "w"},
    "MPI_Issend": {0: "r", 6: "w"},
    "MPI_Irsend": {0: "r", 6: "w"},
    "MPI_Irecv": {0: "w", 6: "w"},
    "MPI_Recv": {0: "w", 6: "w"},
    "MPI_Sendrecv": {0: "r", 5: "w", 11: "w"},
    "MPI_Sendrecv_replace": {0: "w", 8: "w"},
    "MPI_Bcast": {0: "w"},
    "MPI_Gather": {0: "r", 3: "w"},
    "MPI_Gatherv": {0: "r", 3: "w", 4: "r", 5: "r"},
    "MPI_Scatter": {0: "r", 3: "w"},
    "MPI_Scatterv": {0: "r", 1: "r", 2: "r", 4: "w"},
    "MPI_Allgather": {0: "r", 3: "w"},
    "MPI_Allgatherv": {0: "r", 3: "w", 4: "r", 5: "r"},
    "MPI_Alltoall": {0: "r", 3: "w"},
    "MPI_Alltoallv": {0: "r", 1: "r", 2: "r", 4: "w", 5: "r", 6: "r"},
    "MPI_Alltoallw": {0: "r", 1: "r", 2: "r", 3: "r", 4: "w", 5: "r", 6: "r", 7: "r"},
    "MPI_Reduce": {0: "r", 1: "w"},
    "MPI_Allreduce": {0: "r", 1: "w"},
    "MPI_Reduce_scatter": {0: "r", 1: "w", 2: "r"},
    "MPI_Reduce_scatter_block": {0: "r", 1: "w"},
    "MPI_Scan": {0: "r", 1: "w"},
    "MPI_Exscan": {0: "r", 1: "w"},
    "MPI_Wtime": {},
    "MPI_Wtick": {},
    "MPI_Comm_rank": {1: "w"},
    "MPI_Comm_size": {1: "w"},
    "MPI_Get_count": {0: "r", 2: "w"},
    "MPI_Get_address": {1: "w"},
    "MPI_Type_size": {1: "w"},
    "MPI_Iprobe": {3: "w", 4: "w"},
    "MPI_Request_get_status": {0: "r", 1: "w", 2: "w"},
    "MPI_Wait": {0: "w", 1: "w"},
    "MPI_Waitall": {1: "w", 2: "w"},
}

# Number of arguments in C; Fortran may add the error code.
C_ARGUMENTS: dict[str, int] = {
    "MPI_Send": 6,
    "MPI_Ssend": 6,
    "MPI_Rsend": 6,
    "MPI_Bsend": 6,
    "MPI_Isend": 7,
    "MPI_Issend": 7,
    "MPI_Irsend": 7,
    "MPI_Irecv": 7,
    "MPI_Recv": 7,
    "MPI_Sendrecv": 12,
    "MPI_Sendrecv_replace": 9,
    "MPI_Bcast": 5,
    "MPI_Gather": 8,
    "MPI_Gatherv": 9,
    "MPI_Scatter": 8,
    "MPI_Scatterv": 9,
    "MPI_Allgather": 7,
    "MPI_Allgatherv": 8,
    "MPI_Alltoall": 7,
    "MPI_Alltoallv": 9,
    "MPI_Alltoallw": 9,
    "MPI_Reduce": 7,
    "MPI_Allreduce": 6,
    "MPI_Reduce_scatter": 6,
    "MPI_Reduce_scatter_block": 6,
    "MPI_Scan": 6,
    "MPI_Exscan": 6,
    "MPI_Comm_rank": 2,
    "MPI_Comm_size": 2,
    "MPI_Get_count": 3,
    "MPI_Get_address": 2,
    "MPI_Type_size": 2,
    "MPI_Iprobe": 5,
    "MPI_Request_get_status": 3,
    "MPI_Wait": 2,
    "MPI_Waitall": 3,
}
# The nonblocking ones take a request more, which they set.
for _name, _part in BLOCKING_COLLECTIVES.items():
    EFFECTS[_part.start] = {**EFFECTS[_name], C_ARGUMENTS[_name]: "w"}
    C_ARGUMENTS[_part.start] = C_ARGUMENTS[_name] + 1

# Nonblocking starts: their parts, and where their request stands; likewise of waits.
STARTS: dict[str, PointToPoint] = {
    **{name: SENDS[name] for name in ("MPI_Isend", "MPI_Issend", "MPI_Irsend")},
    "MPI_Irecv": RECEIVES["MPI_Irecv"],
    **{part.start: part for part in BLOCKING_COLLECTIVES.values()},
}
REQUEST_OF_START: dict[str, int] = {name: C_ARGUMENTS[name] - 1 for name in STARTS}
REQUEST_OF_WAIT: dict[str, int] = {"MPI_Wait": 0, "MPI_Waitall": 1}
# Calls that may serve only to drive the library, and where the flag stands that they set.
FLAG_OF_PROGRESS: dict[str, int] = {"MPI_Iprobe": 3, "MPI_Request_get_status": 1}
STATUS_OF_WAIT: dict[str, int] = {"MPI_Wait": 1, "MPI_Waitall": 2}

SOURCE_POSITION: dict[str, int] = {"MPI_Recv": 3, "MPI_Irecv": 3, "MPI_Sendrecv": 8}
TAG_POSITION: dict[str, int] = {"MPI_Recv": 4, "MPI_Irecv": 4, "MPI_Sendrecv": 9}
WILDCARDS = frozenset({"MPI_ANY_SOURCE", "MPI_ANY_TAG"})

# Bytes are compared by name of the element type: MPI type -> C and Fortran element types.
ELEMENT_OF: dict[str, frozenset[str]] = {
    "MPI_DOUBLE": frozenset({"double"}),
    "MPI_FLOAT": frozenset({"float"}),
    "MPI_INT": frozenset({"int"}),
    "MPI_LONG": frozenset({"long"}),
    "MPI_CHAR": frozenset({"char"}),
    "MPI_BYTE": frozenset({"char", "unsigned char", "signed char"}),
    "MPI_UNSIGNED": frozenset({"unsigned int"}),
    "MPI_DOUBLE_PRECISION": frozenset({"double precision", "real(8)"}),
    "MPI_REAL": frozenset({"real"}),
    "MPI_REAL8": frozenset({"double precision", "real(8)"}),
    "MPI_INTEGER": frozenset({"integer"}),
    "MPI_LOGICAL": frozenset({"logical"}),
    "MPI_DOUBLE_COMPLEX": frozenset({"double complex", "complex(8)"}),
    "MPI_COMPLEX": frozenset({"complex"}),
}

# Bytes of one element, where every compiler agrees on them.
ELEMENT_SIZE: dict[str, int] = {
    **dict.fromkeys(_names("CHAR BYTE CHARACTER SIGNED_CHAR UNSIGNED_CHAR"), 1),
    **dict.fromkeys(_names("INT UNSIGNED FLOAT INTEGER REAL LOGICAL INTEGER4 REAL4"), 4),
    **dict.fromkeys(_names("DOUBLE DOUBLE_PRECISION REAL8 INTEGER8 LONG COMPLEX COMPLEX8"), 8),
    **dict.fromkeys(_names("DOUBLE_COMPLEX COMPLEX16 C_DOUBLE_COMPLEX"), 16),
}
PREDEFINED = (
    EXACT_TYPES
    | FLOATING_TYPES
    | ELEMENT_SIZE.keys()
    | _names("WCHAR PACKED 2INT DOUBLE_INT FLOAT_INT LONG_INT SHORT_INT 2REAL 2INTEGER")
    | _names("2DOUBLE_PRECISION LONG_DOUBLE_INT CXX_DOUBLE_COMPLEX CXX_FLOAT_COMPLEX")
)
# Calls that tell an absolute address, of which a datatype may be made.
ADDRESSES = _names("Get_address Address")

# The buffers of messages: positions of the buffer, its count (None: not one number) and its type.
BUFFERS: dict[str, tuple[tuple[int, int | None, int], ...]] = {
    name: tuple((part.buffer, part.count, part.datatype) for part in parts)
    for name, parts in PARTS.items()
}
BUFFERS["MPI_Bsend"] = BUFFERS["MPI_Send"]
BUFFERS["MPI_Sendrecv_replace"] = ((0, 1, 2),)
BUFFERS["MPI_Bcast"] = ((0, 1, 2),)
BUFFERS["MPI_Gather"] = BUFFERS["MPI_Allgather"] = BUFFERS["MPI_Alltoall"] = (
    (0, 1, 2),
    (3, None, 5),
)
BUFFERS["MPI_Scatter"] = ((0, None, 2), (3, 4, 5))
BUFFERS["MPI_Gatherv"] = BUFFERS["MPI_Allgatherv"] = ((0, 1, 2), (3, None, 6))
BUFFERS["MPI_Scatterv"] = ((0, None, 3), (4, 5, 6))
BUFFERS["MPI_Alltoallv"] = ((0, None, 3), (4, None, 7))
for _name in ("Reduce", "Allreduce", "Scan", "Exscan"):
    BUFFERS[f"MPI_{_name}"] = ((0, 2, 3), (1, 2, 3))
for _name, _part in BLOCKING_COLLECTIVES.items():
    BUFFERS[_part.start] = BUFFERS[_name]
