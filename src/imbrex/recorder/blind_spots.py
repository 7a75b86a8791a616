"""Blind spots: code that was not compiled with the wrappers, and what it did to messages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from imbrex.mpi_environment.elf_needs import read_needs
from imbrex.recorder.rank_record import RankRecord

# What these do to messages, the MPI calls tell, or they touch none.
_SYSTEM = ("ld-", "libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.", "libgomp.")
# With what Open MPI's wrapper compilers link beside it.
_MPI = ("libmpi", "libmpich", "libopen-", "libimbrex", "libhwloc.", "libevent_")


def blind_spots(ranks: Sequence[RankRecord]) -> list[str]:
    """Libraries whose accesses were not seen: linked to what calls MPI, and built without the
    wrappers."""
    callers = {m.image for rank in ranks for m in rank.buffers}
    needed = {n for c in callers if (needs := read_needs(Path(c))) for n in needs.names}
    images = {image for rank in ranks for image in rank.images if Path(image).name in needed}
    return sorted(image for image in images if is_blind(image))


@cache
def is_blind(image: str) -> bool:
    """Whether the accesses of a library of the user's (not the system's or MPI's) are not seen."""
    file = Path(image)
    if file.name.startswith((*_SYSTEM, *_MPI)):
        return False
    try:
        return b"__tsan_" not in file.read_bytes()
    except OSError:
        return True
