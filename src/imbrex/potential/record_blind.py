"""Blind spots: code that was not compiled with the wrappers, and what it did to messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from imbrex.mpi_environment.elf_needs import read_needs
from imbrex.potential.record_rank import RankRecord

# What these do to messages, the MPI calls tell, or they touch none.
_SYSTEM = ("ld-", "libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.", "libgomp.")
# With what Open MPI's wrapper compilers link beside it.
_MPI = ("libmpi", "libmpich", "libopen-", "libimbrex", "libhwloc.", "libevent_")
_MOST_SITES = 4


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


def blind_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """What a messages.json says of blind spots, in sentences: libraries, the calls through which
    they touched messages, elements that changed unseen, and messages left out."""
    if blind := document["not_recorded"]:
        names = ", ".join(Path(image).name for image in blind)
        yield f"not recorded, so what they read and write was not seen: {names}"
    calls: dict[tuple[str, str, str], None] = {}
    unseen: dict[str, int] = {}
    for rank in document["ranks"]:
        for message in (*rank["messages"], *rank["collectives"]):
            for touch in message.get("touched_by", ()):
                library = Path(touch["library"]).name
                code = f"{library} ({touch['function']})"
                through = f"called at {touch['call']}, " if touch["call"] else ""
                verb = "wrote" if message["kind"] == "send" else "read"
                what = f"{verb} the message of {message['operation']} at {message['site']}"
                calls[code, through, what] = None
            if count := message.get("written_unseen", 0):
                unseen[message["site"]] = unseen.get(message["site"], 0) + count
    if dropped := sum(rank.get("dropped", 0) for rank in document["ranks"]):
        yield (
            f"{dropped} messages were not recorded: more at once than there is room for, or a "
            "datatype whose extent the MPI library misstates"
        )
    for code, through, what in calls:
        yield f"{code}, {through}{what}"
    most = sorted(unseen, key=lambda site: -unseen[site])
    for site in most[:_MOST_SITES]:
        yield (
            f"{site}: {unseen[site]} elements sent had been written by what is not recorded "
            "(such a library, a system call, one-sided communication)"
        )
    if left := most[_MOST_SITES:]:
        count = sum(unseen[site] for site in left)
        yield f"{len(left)} more call sites: {count} such elements (`written_unseen` of each)"
