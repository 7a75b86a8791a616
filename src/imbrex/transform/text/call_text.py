"""Parts of the text of calls: what stands in front of the arguments, and statuses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.calls import Argument, Call

_HEAD = re.compile(rb"[^(]*\(\s*")


def head_of(data: bytes, call: Call) -> str:
    """`call MPI_Send(`, as it stands there."""
    found = _HEAD.match(data, call.start)
    assert found is not None  # a call has a list of arguments
    return found[0].decode()


def called(data: bytes, call: Call) -> str:
    """The text of a call, by the name of the routine itself where it is called by a type."""
    if call.on is None:
        return data[call.start : call.end].decode()
    given = ", ".join(given_texts(call.arguments))
    return f"{'call ' if call.is_statement else ''}{call.name.rpartition('::')[2]}({given})"


def given_texts(arguments: Sequence[Argument]) -> list[str]:
    """What a list of arguments in their order says; behind a name all have names in Fortran."""
    return [
        f"{each.keyword}={each.text.strip()}" if each.keyword else each.text.strip()
        for each in arguments
        if not each.absent
    ]


def statuses_of(transfer: Transfer, *, one: bool = False) -> str:
    """The statuses of an MPI_Waitall, for some of its requests: nothing looks at them.

    `one`: for a single request, in C, where an array of statuses begins with one.

    They stay in use, so that no compiler tells of a variable that nothing uses.
    """
    statuses = transfer.call.arguments[mpi_calls.STATUS_OF_WAIT["MPI_Waitall"]]
    none = statuses.constant in mpi_calls.NO_STATUS
    ignored = "MPI_STATUS_IGNORE" if one else "MPI_STATUSES_IGNORE"
    return ignored if none else statuses.text.strip()
