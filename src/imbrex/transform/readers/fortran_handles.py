"""Variables of the types that mpi_f08 has for handles: an integer in a structure, no pointer."""

from __future__ import annotations

import re

from imbrex.transform.readers.fortran_defined import Own
from imbrex.transform.readers.fortran_scopes import Scope

_MPI_TYPE = re.compile(r"type\((mpi_\w+)\)")
_COMPLETED = frozenset({"type(mpi_request)", "type(mpi_message)", "type(mpi_status)"})


def is_handle(own: Own, interface: str, scope: Scope, type_name: str) -> bool:
    """Whether a type is one of mpi_f08's own, and not one that the program calls so.

    `interface`: the one to MPI that the scope has.
    """
    found = _MPI_TYPE.fullmatch(type_name)
    if found is None or found[1] in own.types:
        return False
    where: Scope | None = scope
    while where is not None:
        if found[1] in where.mpi_types:
            return True
        where = where.parent
    return interface == "mpi_f08"


def copies_parts(
    own: Own, interface: str, scope: Scope, type_name: str, *, null: bool = False
) -> bool:
    """Whether an assignment to an object of this type sets what the program names otherwise.

    That of a handle sets one integer, unless the program defines assignments. Requests count as
    objects do: a copy of theirs may be what is waited for. `null`: the value is the one of none.
    """
    if not type_name.startswith(("type(", "class(")):
        return False
    plain = (type_name not in _COMPLETED or null) and not own.assignment
    return not (plain and is_handle(own, interface, scope, type_name))
