"""One typical iteration as a drawing in text: ranks as rows, letters for what they did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.call_parts import parts_of_call
from imbrex.diagnosis.message_fates import Fates, explain, fates
from imbrex.diagnosis.places import short_place
from imbrex.diagnosis.segments import OPEN
from imbrex.diagnosis.words import CAUSE_WORDS, short
from imbrex.errors import ImbrexError
from imbrex.profile.format import Table
from imbrex.profile.run import Run
from imbrex.profile.timeline.timeline import COLLECTIVES, Timeline
from imbrex.profile.timeline.typical import Iteration, typical_iteration
from imbrex.report.bar import LETTERS
from imbrex.report.paragraph import print_paragraph

WIDEST = 100
LEAST_WIDTH = 40
MOST_ROWS = 16
MOST_MESSAGES = 4
MARGIN = 0.05
"""What is drawn beside the iteration, as a share of it."""

_KINDS = ("compute", *CAUSE_WORDS)
_LETTERS = {**LETTERS, "moving": LETTERS[OPEN]}
_WORDS = {**CAUSE_WORDS, "compute": "compute"}


@dataclass(frozen=True)
class Stretch:
    """What is drawn: from `begin_ns` to `end_ns`, for some ranks, around one call of a site."""

    iteration: Iteration
    begin_ns: int
    end_ns: int
    ranks: tuple[int, ...]
    left_out: int
    """How many ranks are left out."""


def print_timeline(
    account: Account, timeline: Timeline, console: Console, site: str | None
) -> None:
    """Print the drawing, its key, and the messages that took longest with the reason.

    ImbrexError where the time line has no call of `site` (its name as tables show it).
    """
    width = max(LEAST_WIDTH, min(console.width, WIDEST))
    iteration = _iteration(account, timeline, site)
    stretch = _stretch(timeline, iteration)
    part = timeline.between(stretch.begin_ns, stretch.end_ns).of_ranks(stretch.ranks)
    print_paragraph(console, _title(account, timeline, stretch), width, style="bold")
    console.print()
    label = max(len(f"rank {rank}") for rank in stretch.ranks) + 2
    columns = width - label
    console.print(_scale(stretch, label, columns))
    named = _chosen(part, fates(part), stretch)
    used: set[str] = set()
    for rank in stretch.ranks:
        call_kinds = _call_kinds(part, rank, stretch, columns)
        used |= set(call_kinds)
        line = Text(f"rank {rank}".ljust(label))
        for kind in call_kinds:
            letter, style = _LETTERS[kind] if kind else (" ", "")
            line.append(letter, style=style)
        console.print(_without_end(line))
        if marks := _marks(part, rank, named, stretch, columns):
            console.print(Text(" " * label + marks, style="bold"))
    console.print()
    for line in _key(used, width):
        console.print(line)
    _print_messages(account.run, part, named, stretch, console, width)


def _iteration(account: Account, timeline: Timeline, site: str | None) -> Iteration:
    """The typical iteration of the site that was asked for, or of the first one worth it."""
    operations = account.run.job.operations
    here = set(timeline.calls["site"].tolist())
    names = []
    for row in account.sites:
        if row.row.site is None or row.row.site.id not in here:
            continue
        if site is not None and site not in (row.name, row.row.site.label):
            names.append(row.name)
            continue
        number = operations.index(row.operation) if row.operation in operations else None
        found = typical_iteration(timeline, row.row.site.id, number)
        if found is not None:
            return found
    if site is not None:
        known = ", ".join(dict.fromkeys(names))
        raise ImbrexError(f"--site {site}: no such site in the time line; it has {known}")
    found = typical_iteration(timeline)
    if found is None:
        raise ImbrexError(f"{account.run.directory}: its time line has no calls")
    return found


def _stretch(timeline: Timeline, iteration: Iteration) -> Stretch:
    """One period up to the end of the call, with a margin; the call itself where it has none."""
    call = timeline.calls[iteration.row]
    end = int(call["exit_ns"])
    length = max(iteration.period_ns, end - int(call["enter_ns"]), 1)
    margin = max(1, round(MARGIN * length))
    begin, end = end - length - margin, end + margin
    begin, end = max(timeline.begin_ns, begin), min(max(timeline.end_ns, end - margin), end)
    near = timeline.between(begin, end).calls
    ranks = np.unique(timeline.calls["rank"])
    chosen = _ranks(near, iteration.rank, ranks)
    return Stretch(iteration, begin, end, chosen, len(ranks) - len(chosen))


def _ranks(calls: Table, first: int, ranks: NDArray[Any]) -> tuple[int, ...]:
    """All ranks, or the one of the iteration, those it has to do with, and its neighbours."""
    if len(ranks) <= MOST_ROWS:
        return tuple(ranks.tolist())
    peers = calls["peer"][(calls["rank"] == first) & ~np.isin(calls["kind"], COLLECTIVES)]
    near = ranks[np.argsort(abs(ranks.astype(np.int64) - first), kind="stable")]
    wanted = dict.fromkeys([first, *peers[peers >= 0].tolist(), *near.tolist()])
    known = set(ranks.tolist())
    return tuple(sorted([rank for rank in wanted if rank in known][:MOST_ROWS]))


def _title(account: Account, timeline: Timeline, stretch: Stretch) -> str:
    run = account.run
    call = timeline.calls[stretch.iteration.row]
    name = short(run.operation(int(call["operation"])))
    place = short_place(run.site(int(call["site"])))
    length = wording.seconds((stretch.end_ns - stretch.begin_ns) / 1e9)
    heading = (
        "A typical iteration around" if stretch.iteration.period_ns else "Around the one call at"
    )
    text = f"{heading} {place} ({name}): {length} of {wording.seconds(account.wall_s)}"
    if stretch.left_out:
        text += f", {len(stretch.ranks)} of {len(stretch.ranks) + stretch.left_out:,} ranks"
    return text + "."


def _scale(stretch: Stretch, label: int, columns: int) -> Text:
    """When the drawing begins and ends, in s since the run began, and how long a column is."""
    first, last = (f"{t / 1e9:.6g} s" for t in (stretch.begin_ns, stretch.end_ns))
    step = wording.seconds((stretch.end_ns - stretch.begin_ns) / columns / 1e9)
    middle = f"a column is {step}"
    room = columns - len(first) - len(last)
    if room < len(middle) + 2:
        middle = ""
    return Text(" " * label + first + middle.center(room) + last, style="dim")


def _call_kinds(part: Timeline, rank: int, stretch: Stretch, columns: int) -> list[str]:
    """What took most of each column; empty where nothing is known of it."""
    calls = part.calls
    rows = np.flatnonzero(part.first & (calls["rank"] == rank))
    begin, span = stretch.begin_ns, stretch.end_ns - stretch.begin_ns
    time = np.zeros((len(_KINDS), columns))
    if not len(rows):
        return [""] * columns
    thread = calls["thread"][rows[0]]  # one line has room for one thread
    covered_to = begin
    for row in rows[calls["thread"][rows] == thread]:
        _add(time[0], covered_to, int(calls["enter_ns"][row]), begin, span)
        for piece in parts_of_call(calls[row]):
            _add(time[_KINDS.index(piece.cause)], piece.begin_ns, piece.end_ns, begin, span)
        covered_to = int(calls["exit_ns"][row])
    _add(time[0], covered_to, stretch.end_ns, begin, span)
    return [_KINDS[kind] for kind in time.argmax(axis=0)]


def _add(line: NDArray[np.float64], first: int, last: int, begin: int, span: int) -> None:
    """Add a stretch of time to the columns that it lies in."""
    columns = len(line)
    low = min(max((first - begin) * columns / span, 0.0), columns)
    high = min(max((last - begin) * columns / span, 0.0), columns)
    if high <= low:
        return
    a, b = int(low), min(int(high), columns - 1)
    if a == b:
        line[a] += high - low
        return
    line[a] += a + 1 - low
    line[a + 1 : b] += 1.0
    line[b] += high - b


def _chosen(part: Timeline, found: Fates, stretch: Stretch) -> list[int]:
    """The messages to name: those that kept a call of the iteration's site longest."""
    calls, messages = part.calls, part.messages
    if not len(messages):
        return []
    wait = found.wait
    length = np.where(wait >= 0, calls["exit_ns"][wait] - calls["enter_ns"][wait], 0)
    receive = calls[messages["receive"]]
    inside = (receive["end_exit_ns"] <= stretch.end_ns) & (
        calls["enter_ns"][messages["send"]] >= stretch.begin_ns
    )
    weight = np.where(inside, length, -1).astype(np.int64)
    order = np.lexsort((-receive["bytes"], -weight))
    return [int(n) for n in order[:MOST_MESSAGES] if weight[n] >= 0]


def _marks(part: Timeline, rank: int, named: Sequence[int], stretch: Stretch, columns: int) -> str:
    """`1>` where message 1 was sent, `>1` where it was seen complete."""
    line = [" "] * columns
    span = stretch.end_ns - stretch.begin_ns

    def put(time_ns: int, mark: str) -> None:
        at = (time_ns - stretch.begin_ns) * columns // span
        if mark.startswith(">"):
            at -= 1
        at = min(max(at, 0), columns - len(mark))
        while at > 0 and any(c != " " for c in line[at : at + len(mark)]):
            at -= 1
        line[at : at + len(mark)] = mark

    for number, message in enumerate(named, 1):
        send, receive = (part.calls[part.messages[message][side]] for side in ("send", "receive"))
        if send["rank"] == rank:
            put(int(send["enter_ns"]), f"{number}>")
        if receive["rank"] == rank:
            put(int(receive["end_exit_ns"]), f">{number}")
    return "".join(line).rstrip()


def _key(used: set[str], width: int) -> list[Text]:
    """What the letters stand for."""
    lines = [Text()]
    for kind in _KINDS:
        if kind not in used:
            continue
        letter, style = _LETTERS[kind]
        entry = Text.assemble((letter, style), f" {_WORDS[kind]}")
        if lines[-1] and len(lines[-1]) + 3 + len(entry) > width:
            lines.append(Text())
        if lines[-1]:
            lines[-1].append("   ")
        lines[-1].append_text(entry)
    return lines


def _print_messages(
    run: Run,
    part: Timeline,
    named: Sequence[int],
    stretch: Stretch,
    console: Console,
    width: int,
) -> None:
    calls, found = part.calls, fates(part)
    names = {
        row: f"{run.operation(int(calls[row]['operation']))} at "
        f"{short_place(run.site(int(calls[row]['site'])))}"
        for message in named
        for row in (*part.messages[message].tolist(), int(found.wait[message]))
        if row >= 0
    }
    for number, message in enumerate(named, 1):
        if number == 1:
            console.print()
        send, receive = (calls[part.messages[message][side]] for side in ("send", "receive"))
        size = wording.amount(int(receive["bytes"]))
        text = f"rank {send['rank']} to {receive['rank']}, {size}. "
        text += explain(part, found, message, names)
        print_paragraph(console, text, width, mark=f"{number}.")


def _without_end(line: Text) -> Text:
    line.rstrip()
    return line
