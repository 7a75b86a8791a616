"""Parts of the text of calls: what stands in front of the arguments, and statuses."""

from __future__ import annotations

import re

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.program import Call

_HEAD = re.compile(rb"[^(]*\(\s*")


def head_of(data: bytes, call: Call) -> str:
    """`call MPI_Send(`, as it stands there."""
    found = _HEAD.match(data, call.start)
    assert found is not None  # a call has a list of arguments
    return found[0].decode()


def statuses_of(transfer: Transfer) -> str:
    """The statuses of an MPI_Waitall, for some of its requests: nothing looks at them.

    They stay in use, so that no compiler tells of a variable that nothing uses.
    """
    statuses = transfer.call.arguments[mpi_calls.STATUS_OF_WAIT["MPI_Waitall"]]
    none = statuses.constant in mpi_calls.NO_STATUS
    return "MPI_STATUSES_IGNORE" if none else statuses.text.strip()
