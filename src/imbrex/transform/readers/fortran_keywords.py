"""Arguments of MPI's procedures that are given by their names, in Fortran.

The names are those of the MPI standard, which Fortran programs may use wherever they know the
interfaces of the procedures: `call MPI_Recv(u, n, MPI_REAL, source=left, tag=1, comm=comm)`.
"""

from __future__ import annotations

import re

from imbrex import mpi_facts

KEYWORD = re.compile(r"([a-z_]\w*)=(?!=)")
_ERROR = "ierror"
# The names of dummy arguments by their role; a role that is not here has its own name.
_NAMES = {
    "type": "datatype",
    "sbuf": "sendbuf",
    "scount": "sendcount",
    "scounts": "sendcounts",
    "stype": "sendtype",
    "stypes": "sendtypes",
    "stag": "sendtag",
    "speer": "dest",
    "rbuf": "recvbuf",
    "rcount": "recvcount",
    "rcounts": "recvcounts",
    "rtype": "recvtype",
    "rtypes": "recvtypes",
    "rtag": "recvtag",
    "rpeer": "source",
    "requests": "array_of_requests",
    "statuses": "array_of_statuses",
    "indices": "array_of_indices",
}
_OF = {("MPI_Bcast", "buf"): "buffer", ("MPI_Ibcast", "buf"): "buffer"}
_OF |= {(f"MPI_{name}", "count"): "incount" for name in ("Waitsome", "Testsome")}
# Of procedures whose arguments have no roles in the table of MPI's functions.
_LISTED = {
    "MPI_Abort": "comm errorcode",
    "MPI_Cart_coords": "comm rank maxdims coords",
    "MPI_Cart_create": "comm_old ndims dims periods reorder comm_cart",
    "MPI_Cart_rank": "comm coords rank",
    "MPI_Cart_shift": "comm direction disp rank_source rank_dest",
    "MPI_Comm_dup": "comm newcomm",
    "MPI_Comm_free": "comm",
    "MPI_Comm_rank": "comm rank",
    "MPI_Comm_size": "comm size",
    "MPI_Comm_split": "comm color key newcomm",
    "MPI_Dims_create": "nnodes ndims dims",
    "MPI_Get_count": "status datatype count",
    "MPI_Init_thread": "required provided",
    "MPI_Type_commit": "datatype",
    "MPI_Type_contiguous": "count oldtype newtype",
    "MPI_Type_create_subarray": "ndims array_of_sizes array_of_subsizes array_of_starts order"
    " oldtype newtype",
    "MPI_Type_free": "datatype",
    "MPI_Type_vector": "count blocklength stride oldtype newtype",
}


def ordered(name: str, texts: list[str]) -> list[tuple[int, int]] | None:
    """The arguments of one call in their order: which text each is, and where it begins there.

    `texts` are in small letters, without blanks. None where the order is not known.
    """
    found: dict[int, tuple[int, int]] = {}
    for number, text in enumerate(texts):
        keyword = KEYWORD.match(text)
        position: int | None = number
        if keyword is not None:
            position = _position(name, keyword[1], len(texts))
        if position is None or position in found:
            return None
        found[position] = (number, keyword.end() if keyword is not None else 0)
    complete = sorted(found) == list(range(len(texts)))
    return [found[position] for position in range(len(texts))] if complete else None


def _position(name: str, keyword: str, given: int) -> int | None:
    """Where an argument belongs; only the error code, which is the last, may be left out."""
    if keyword == _ERROR:
        return given - 1
    if name in _LISTED:
        listed = _LISTED[name].split()
        return listed.index(keyword) if keyword in listed else None
    sends = mpi_facts.sends(name)
    for position, role in enumerate(mpi_facts.arguments(name) or ()):
        standard = ("dest" if sends else "source") if role == "peer" else _NAMES.get(role, role)
        if _OF.get((name, role), standard) == keyword:
            return position
    return None
