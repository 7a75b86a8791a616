"""What `imbrex run --events` takes: one table for C and Python, runtime/transport/sources.def."""

from __future__ import annotations

from imbrex.mpi_environment.native import read_table


def event_sources() -> tuple[str, ...]:
    """`auto`, `call`, and the sources inside the library in the order in which they are tried.

    ImbrexError where the table is missing.
    """
    found = read_table("runtime", "transport/sources.def", r"^SOURCE\((\w+)\)$")
    return ("auto", "call", *(name for (name,) in found))
