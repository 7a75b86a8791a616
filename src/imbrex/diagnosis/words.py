"""The causes and kinds of evidence as a user of MPI reads them."""

from __future__ import annotations

from imbrex import mpi_facts

CAUSE_WORDS = {
    "late_sender": "late sender",
    "late_receiver": "late receiver",
    "late_collective": "late in collective",
    "transfer": "transfer",
    "stalled": "stalled",
    "moving": "transfer or stalled",
    "library": "MPI itself",
    "file_io": "file I/O",
    "unattributed": "unknown",
}
"""Short, as in a table."""

CAUSE_MEANINGS = {
    "late_sender": "waiting for a message that was not yet sent",
    "late_receiver": "waiting for a receiver that had not yet posted, or that lags",
    "late_collective": "waiting in a collective for a rank that was not yet there",
    "transfer": "all partners were there and the data was moving",
    "stalled": "all partners were there and it took longer than the network needs",
    "moving": "all partners were there, and the data was moving or nobody drove it",
    "library": "calls that wait for nothing",
    "file_io": "reading and writing files, and waiting for others in that",
    "unattributed": "not in the call log, or without a match",
}

EVIDENCE_WORDS = {
    "call": "by its own calls",
    "matched": "by both sides' calls",
    "expected": "as this MPI did in the probe",
}


def short(operation: str) -> str:
    """The operation without its prefix and the suffix of its large-count form."""
    return operation.removeprefix("MPI_").removesuffix("_c")


def late_words(cause: str, operation: str, rank: int | None = None) -> str:
    """A cause of lateness in a sentence, as exact as the operation allows.

    `rank` is the one for which all wait, where there is one.
    """
    root = "a late root"
    sides = {"late_sender": "late senders", "late_receiver": "late receivers"}
    words = sides.get(cause) or {
        "root-to-all": root,
        "all-to-root": "late contributors",
    }.get(mpi_facts.dependence(operation), "late ranks")
    if rank is None:
        return words
    if words == "late ranks":
        return f"late rank {rank}"
    return f"{words if words == root else words.removesuffix('s')} (rank {rank})"
