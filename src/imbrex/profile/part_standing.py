"""Where the threads of a part stood when its process ended (runtime/core/part.h)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.profile.format import Table
from imbrex.profile.standing import LARGEST_UNIX_NS, State

Place = tuple[str | None, str | None, int]
"""Image path or None, build-id or None, offset in the image."""

# Names that the runtime gives no number: it does not measure these calls.
_ENDING = {1: "MPI_Finalize", 2: "MPI_Abort"}
_LARGEST_NS = 1 << 56

_TABLE_DTYPE = np.dtype(
    [("offset", "<u8"), ("entry_bytes", "<u8"), ("capacity", "<u8"), ("used", "<u8")]
)
HEADER_DTYPE = np.dtype(
    [
        ("standing", _TABLE_DTYPE),
        ("started_unix_ns", "<i8"),
        ("started_ns", "<i8"),
        ("ending_address", "<u8"),
        ("ending", "<u4"),
        ("clock", "<u4"),
    ]
)
"""What stands behind the table of call paths; not in parts of earlier versions."""
STANDING_DTYPE = np.dtype(
    [
        ("last_ns", "<i8"),
        ("compute_ns", "<i8"),
        ("call_ns", "<i8"),
        ("address", "<u8"),
        ("key", "<u8"),
        ("state", "<u4"),
    ]
)
AWAITED_AT_DTYPE = np.dtype("<u8")
"""Behind it, in parts of this version: where in each entry of `standing` an AWAITED_DTYPE is."""
AWAITED_DTYPE = np.dtype(
    [("comm", "<u4"), ("peer", "<i4"), ("tag", "<i4"), ("entered", "<u4")],
)
SITE_ADDRESS_DTYPE = np.dtype([("place", "V16"), ("address", "<u8")])
IMAGE_RANGE_DTYPE = np.dtype(
    [("names", "V4096"), ("base", "<u8"), ("start", "<u8"), ("end", "<u8")]
)

Entries = Callable[[Table, "np.dtype[np.void]"], Table]
"""The used entries of a table of the part, as an array of the type asked for."""


@dataclass(frozen=True)
class PartStanding:
    """Where one thread stood; `section` is the rank's own number of it, `place` None: not known."""

    thread: int
    state: State
    operation: str
    section: int
    place: Place | None
    since_ns: int
    since_unix_ns: int
    awaited: tuple[int, int, int] | None = None
    """Of the call that it is in: communicator, peer or root, and tag, or which collective of its
    communicator it is, as in records of the log; None where it says nothing."""


@dataclass(frozen=True)
class Addresses:
    """What lay at which address: exact ones of known call sites, and the ranges of images."""

    sites: dict[int, Place]
    images: tuple[tuple[int, int, int, str | None, str | None], ...]
    """Start, end, base, path and build-id."""

    def place(self, address: int) -> Place | None:
        """The place of a return address."""
        if address in self.sites:
            return self.sites[address]
        for start, end, base, path, build_id in self.images:
            if start <= address < end:
                return path, build_id, address - base
        return None


def read_addresses(
    entries: Entries,
    header: Table,
    sites: Sequence[Place],
    images: Sequence[tuple[str, str]],
) -> Addresses:
    """The addresses of a part's call sites and images; none in parts of earlier versions."""
    known = entries(header["sites"], SITE_ADDRESS_DTYPE)["address"].tolist()
    ranges = entries(header["images"], IMAGE_RANGE_DTYPE)
    return Addresses(
        {a: place for a, place in zip(known, sites, strict=False) if a and place[0] is not None},
        tuple(
            (int(r["start"]), int(r["end"]), int(r["base"]), path or None, build_id or None)
            for r, (path, build_id) in zip(ranges, images, strict=False)
            if int(r["base"]) <= int(r["start"]) < int(r["end"])
        ),
    )


def read_standing(
    header: Table,
    stands: Table,
    awaited: Table,
    operations: Sequence[str],
    addresses: Addresses,
) -> list[PartStanding]:
    """Where the threads stood: `header` has HEADER_DTYPE, `stands` STANDING_DTYPE, `awaited`
    AWAITED_DTYPE, or no rows."""
    found = []
    started, started_unix = int(header["started_ns"]), int(header["started_unix_ns"])
    ending = _ENDING.get(int(header["ending"]))
    for thread, stand in enumerate(stands):
        last, address, key = int(stand["last_ns"]), int(stand["address"]), int(stand["key"])
        if not last:
            continue  # the thread was never there
        since = min(max(last - started, 0), _LARGEST_NS)
        name = operations[key & 0xFFFF] if key & 0xFFFF < len(operations) else "(unknown)"
        state = State.IN_CALL if int(stand["state"]) & 0xFFFF else State.COMPUTES
        if ending is not None and thread == 0:
            state, name, address = State.IN_CALL, ending, int(header["ending_address"])
        elif not address:
            state, name = State.NO_CALL, ""
        known = 0 < started_unix < LARGEST_UNIX_NS - since
        found.append(
            PartStanding(
                thread=thread,
                state=state,
                operation=name,
                section=(key >> 16) & 0xFFFF,
                place=addresses.place(address) if address else None,
                since_ns=since,
                since_unix_ns=started_unix + since if known else 0,
                awaited=_awaited(awaited[thread], last) if thread < len(awaited) else None,
            )
        )
    return found


def _awaited(entry: Table, last_ns: int) -> tuple[int, int, int] | None:
    """What the call says that was entered at `last_ns`; an older entry is of another call."""
    if int(entry["entered"]) != last_ns & 0xFFFFFFFF or int(entry["comm"]) == 0:
        return None
    return int(entry["comm"]), int(entry["peer"]), int(entry["tag"])
