"""Declarations of MPI's functions out of the table of facts, for programs read without an MPI.

The parser's own mpi.h (`headers/mpi.h`) includes them as mpi_functions.h, which is no file on disk.
"""

from __future__ import annotations

from functools import cache

from imbrex import mpi_facts
from imbrex.mpi_facts.database import Facts
from imbrex.transform.readers.c_source import HEADERS

NAME = "mpi_functions.h"

_KINDS = frozenset(
    ("send", "recv", "sendrecv", "sendrecv_replace", "mrecv", "probe", "mprobe", "collective")
) | {"rma", "rma_sync", "completion", "peek", "start", "cancel", "request_free"}
_TYPES = {
    **dict.fromkeys(("type", "stype", "rtype", "ttype"), "MPI_Datatype"),
    **dict.fromkeys(("stypes", "rtypes"), "const MPI_Datatype *"),
    **dict.fromkeys(("scounts", "rcounts", "displs", "sdispls", "rdispls"), "const int *"),
    **dict.fromkeys(("flag", "index", "indices", "outcount"), "int *"),
    **dict.fromkeys(("status", "statuses"), "MPI_Status *"),
    **dict.fromkeys(("request", "requests"), "MPI_Request *"),
    **{"comm": "MPI_Comm", "op": "MPI_Op", "win": "MPI_Win", "info": "MPI_Info"},
    **{"group": "MPI_Group", "message": "MPI_Message *", "disp": "MPI_Aint"},
}
_BUFFERS = frozenset(("buf", "sbuf", "rbuf", "cbuf"))


@cache
def declarations() -> str:
    """One line per function whose arguments the table has."""
    lines = [
        f"int {name}({_parameters(name, facts)});"
        for name, facts in mpi_facts.functions().items()
        if facts.kind in _KINDS and facts.roles is not None
    ]
    return "\n".join([*lines, ""])


@cache
def headers() -> tuple[tuple[str, int], ...]:
    """The names and sizes of the files that the parser's own mpi.h is made of.

    To look for another file among what was read takes longer the more headers that is.
    """
    files = [file for file in sorted(HEADERS.glob("mpi*.h")) if file.name != "mpif.h"]
    read = [(str(file), file.stat().st_size) for file in files]
    return (str(HEADERS / NAME), len(declarations().encode())), *read


def _parameters(name: str, facts: Facts) -> str:
    access = mpi_facts.access(name)
    return ", ".join(
        _type(role, access.get(position, ""), facts)
        for position, role in enumerate(facts.roles or ())
    )


def _type(role: str, access: str, facts: Facts) -> str:
    """The type of an argument; numbers are int."""
    if role in _BUFFERS:
        return "const void *" if access == "r" else "void *"
    if role == "request" and facts.kind == "peek":
        return "MPI_Request"
    if role == "requests" and facts.kind == "peek":
        return "const MPI_Request *"
    if role.endswith("displs") and facts.fields.get("dependence") == "neighbours":
        # Those of the one with a datatype for each neighbour are in bytes, and may be long.
        return "const MPI_Aint *" if "stypes" in (facts.roles or ()) else "const int *"
    return _TYPES.get(role, "int")
