"""Chrome's trace event format as JSON, which ui.perfetto.dev opens: ranks as processes.

A call is a complete event (`X`) with its causes as events inside it; a message is a flow from the
call that began its send to the one that saw its receive complete. Processes and threads are
numbered from 1 on, since 0 stands for the idle process there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from imbrex import __version__
from imbrex.diagnosis.call_parts import parts_of_call
from imbrex.diagnosis.words import CAUSE_WORDS
from imbrex.errors import ImbrexError
from imbrex.export.format import Format, written_whole
from imbrex.profile.call_log import Kind
from imbrex.profile.format import Table
from imbrex.profile.run import Run
from imbrex.profile.sites import plain
from imbrex.profile.timeline.from_logs import log_files
from imbrex.profile.timeline.timeline import (
    COLLECTIVES,
    SENDS,
    Timeline,
    load_timeline,
    load_whole_timeline,
)
from imbrex.steps import Tell

Event = dict[str, Any]

_MESSAGES = (*SENDS, Kind.RECV)
_UNSAID = ("library", "file_io", "unattributed")
"""Causes that are no event of their own where they are all that a call did."""


def write_chrome(run: Run, path: Path, tell: Tell) -> str | None:
    """Write all logged calls, or those around a typical iteration where no more were kept."""
    timeline = load_whole_timeline(run) if log_files(run) else load_timeline(run)
    if timeline is None:
        raise ImbrexError(
            f"{run.directory}: has no call log and no time line; measure again with "
            "imbrex run --keep-log"
        )
    with written_whole(path) as partial, partial.open("w", encoding="utf-8") as file:
        other = {"creator": f"Imbrex {__version__}", "command": " ".join(run.job.command)}
        head = {"displayTimeUnit": "ns", "otherData": other}
        file.write(json.dumps(head)[:-1] + ', "traceEvents": [\n')
        separator = ""
        for event in _events(run, timeline, tell):
            file.write(separator + json.dumps(event))
            separator = ",\n"
        file.write("\n]}\n")
    if timeline.whole:
        return None
    part_s = (timeline.end_ns - timeline.begin_ns) / 1e9
    return (
        f"holds {part_s:.3g} s around a typical iteration: all that was kept; "
        "for all calls measure with imbrex run --keep-log"
    )


def _events(run: Run, timeline: Timeline, tell: Tell) -> Iterator[Event]:
    yield from _names(run, timeline)
    calls = timeline.calls
    heads = np.flatnonzero(timeline.first)
    ends = np.append(heads[1:], len(calls))
    for number, (head, end) in enumerate(zip(heads.tolist(), ends.tolist(), strict=True)):
        yield from _call(run, calls[head:end])
        if number % 4096 == 0:
            tell(0.8 * number / len(heads))
    yield from _flows(calls, timeline)
    tell(1.0)


def _names(run: Run, timeline: Timeline) -> Iterator[Event]:
    hosts = dict(zip(run.ranks["rank"].tolist(), run.ranks["host"].tolist(), strict=True))
    threads = np.unique(timeline.calls[["rank", "thread"]])
    for rank in np.unique(timeline.calls["rank"]).tolist():
        host = plain(hosts.get(rank, b"").decode("utf-8", "replace"))
        name = f"rank {rank} ({host})" if host else f"rank {rank}"
        meta = {"ph": "M", "pid": rank + 1, "tid": 1, "ts": 0}
        yield meta | {"name": "process_name", "args": {"name": name}}
        yield meta | {"name": "process_sort_index", "args": {"sort_index": rank}}
    for rank, thread in threads.tolist():
        meta = {"ph": "M", "pid": rank + 1, "tid": thread + 1, "ts": 0}
        yield meta | {"name": "thread_name", "args": {"name": f"thread {thread}"}}


def _microseconds(time_ns: int) -> float:
    return time_ns / 1000


def _call(run: Run, rows: Table) -> Iterator[Event]:
    """The slice of a call and those of its causes; `rows` are its records."""
    first = rows[0]
    begin, end = int(first["enter_ns"]), int(first["exit_ns"])
    place = {"pid": int(first["rank"]) + 1, "tid": int(first["thread"]) + 1}
    site = run.site(int(first["site"]))
    arguments: Event = {"site": site.label}
    if site.function:
        arguments["function"] = plain(site.function)
    if section := run.section(int(first["section"])):
        arguments["section"] = plain(section)
    messages = [_record(row) for row in rows if _moves(row)]
    if len(messages) == 1:
        arguments |= messages[0]
    elif messages:
        arguments["messages"] = messages
    parts = parts_of_call(first)
    for part in parts:
        arguments[f"{CAUSE_WORDS[part.cause]} us"] = _microseconds(part.end_ns - part.begin_ns)
    yield {
        "ph": "X",
        "name": run.operation(int(first["operation"])),
        "cat": "MPI",
        "ts": _microseconds(begin),
        "dur": _microseconds(end - begin),
        **place,
        "args": arguments,
    }
    for part in parts:
        if part.cause in _UNSAID:
            continue
        yield {
            "ph": "X",
            "name": CAUSE_WORDS[part.cause],
            "cat": "cause",
            "ts": _microseconds(part.begin_ns),
            "dur": _microseconds(part.end_ns - part.begin_ns),
            **place,
        }


def _moves(row: Table) -> bool:
    """Whether a record is a message to somebody or a collective."""
    kind = int(row["kind"])
    return kind in COLLECTIVES or (kind in _MESSAGES and int(row["peer"]) >= 0)


def _record(row: Table) -> Event:
    found: Event = {"bytes": int(row["bytes"])}
    if row["kind"] in _MESSAGES:
        found |= {"peer": int(row["peer"]), "tag": int(row["tag"])}
    return found


def _flows(calls: Table, timeline: Timeline) -> Iterator[Event]:
    """An arrow for each message of which both sides are here and the receive was seen complete."""
    heads = np.flatnonzero(timeline.first)
    threads = {
        (rank, enter): thread
        for rank, enter, thread in calls[heads][["rank", "enter_ns", "thread"]].tolist()
    }
    for number, (send, receive) in enumerate(timeline.messages.tolist(), 1):
        source, target = calls[send], calls[receive]
        end_enter, end_exit = int(target["end_enter_ns"]), int(target["end_exit_ns"])
        thread = threads.get((int(target["rank"]), end_enter))
        if thread is None:
            continue
        flow = {"name": "message", "cat": "message", "id": number}
        yield {
            "ph": "s",
            **flow,
            "ts": _microseconds(int(source["enter_ns"])),
            "pid": int(source["rank"]) + 1,
            "tid": int(source["thread"]) + 1,
            "args": _record(source),
        }
        yield {
            "ph": "f",
            "bp": "e",  # to the slice around this moment, which has to be before its end
            **flow,
            "ts": _microseconds(max(end_enter, end_exit - 1)),
            "pid": int(target["rank"]) + 1,
            "tid": thread + 1,
        }


FORMAT = Format("chrome", ".json", "a time line, for ui.perfetto.dev", write_chrome)
