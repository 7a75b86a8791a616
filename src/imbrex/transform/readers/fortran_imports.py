"""The names of MPI that a scope imports one by one: `use mpi, only: MPI_Send, MPI_COMM_WORLD`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from imbrex import mpi_facts
from imbrex.transform.readers.fortran_lines import LogicalLine

_IMPORT = re.compile(r"use(?:,\w+)?(?:::)?(mpi|mpi_f08),only:(.*)$")
_BY_OWN_NAME = re.compile(r"mpi_\w+|operator\([^()]+\)|assignment\(=\)")
_TIMERS = frozenset({"mpi_wtime", "mpi_wtick"})  # functions, whose type programs declare
CONSTANTS = frozenset(
    {
        "mpi_address_kind",
        "mpi_comm_null",
        "mpi_proc_null",
        "mpi_request",
        "mpi_request_null",
        "mpi_status",
        "mpi_status_ignore",
        "mpi_status_size",
        "mpi_statuses_ignore",
    }
)
"""What rewritten text uses beside procedures and names of the rewritten calls, in small letters."""

_OF_FORTRAN = ("mpi_f_sync_reg", "mpi_sizeof")


@dataclass(slots=True)
class Imports:
    """What one scope imports of a module of MPI."""

    module: str  # mpi or mpi_f08
    start: int  # the first byte of the last such statement
    end: int  # the one behind it
    names: set[str] = field(default_factory=set)  # in small letters

    @property
    def interface(self) -> str:
        """How the scope knows MPI's procedures: without imports of them, as by mpif.h."""
        if self.module == "mpi_f08" or self.names & with_buffers():
            return self.module
        return "mpif.h"

    def lacks(self, name: str) -> bool:
        """Whether a procedure must be imported, as others like it are.

        Modules of some libraries have no interfaces of procedures with buffers.
        """
        if self.module == "mpi_f08":
            return True
        alike = with_buffers() if name in with_buffers() else procedures()
        return bool(self.names & alike)


def imports_of(line: LogicalLine, earlier: Imports | None) -> Imports | None:
    """The imports of a scope with those that a statement adds.

    None where a name is another one here, or where other statements stand on the same line.
    """
    found = _IMPORT.match(line.masked)
    if found is None:
        return earlier
    listed = [each for each in found[2].split(",") if each]
    if not line.alone or not all(_BY_OWN_NAME.fullmatch(each) for each in listed):
        return None
    names = set() if earlier is None else earlier.names
    return Imports(found[1], line.start, line.end, names | set(listed))


def clash(name: str) -> bool:
    """Whether a variable or a function of the program stands where an import would add a name."""
    return name.startswith("mpi_") and (name in procedures() - _TIMERS or name in CONSTANTS)


@cache
def procedures() -> frozenset[str]:
    """All procedures of MPI, in small letters."""
    return frozenset(name.lower() for name in mpi_facts.functions()) | {*_OF_FORTRAN}


@cache
def with_buffers() -> frozenset[str]:
    """Those with arguments of any type."""
    named = {name.lower() for name in mpi_facts.functions() if mpi_facts.buffers(name)}
    return frozenset(named) | {*_OF_FORTRAN, "mpi_get_address"}
