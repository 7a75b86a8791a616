"""What a recording says of what it did not see, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_MOST_SITES = 4


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
                done = f"{verb} the message of {message['operation']} at {message['site']}"
                calls[code, through, done] = None
            if count := message.get("written_unseen", 0):
                unseen[message["site"]] = unseen.get(message["site"], 0) + count
    if dropped := sum(rank.get("dropped", 0) for rank in document["ranks"]):
        yield (
            f"{dropped} messages were not recorded: more at once than there is room for, or a "
            "datatype whose extent the MPI library misstates"
        )
    for code, through, done in calls:
        yield f"{code}, {through}{done}"
    most = sorted(unseen, key=lambda site: -unseen[site])
    for site in most[:_MOST_SITES]:
        yield (
            f"{site}: {unseen[site]} elements sent had been written by what is not recorded "
            "(such a library, a system call, one-sided communication)"
        )
    if left := most[_MOST_SITES:]:
        count = sum(unseen[site] for site in left)
        yield f"{len(left)} more call sites: {count} such elements (`written_unseen` of each)"
