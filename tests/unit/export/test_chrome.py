"""Chrome's trace format, checked against what its documentation asks of each kind of event."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.unit.analysis.jobs import ALL, COMPLETION, RECV, SEND, Rank
from tests.unit.logs import write_logged_run

from imbrex.errors import ImbrexError
from imbrex.export.registry import FORMATS
from imbrex.profile.run import load_run

Event = dict[str, Any]


def job() -> list[Rank]:
    """Rank 0 sends late and 1 waits; then 1 sends to 0 by way of requests; then all meet."""
    a, b = Rank(), Rank()
    a.add(5_000, 6_000, "MPI_Send", SEND, 50, 1, site=3, tag=7)
    a.add(7_000, 7_500, "MPI_Irecv", RECV, 800, 1, site=4, end=2)
    a.add(9_000, 9_900, "MPI_Waitall", COMPLETION, site=5)
    a.add(12_000, 13_000, "MPI_Barrier", ALL, site=7)
    b.add(1_001, 6_100, "MPI_Recv", RECV, 50, 0, site=3, tag=7)
    b.add(7_100, 7_200, "MPI_Isend", SEND, 800, 0, site=4, end=2)
    b.add(8_000, 8_500, "MPI_Waitall", COMPLETION, site=5)
    b.add(10_000, 13_100, "MPI_Barrier", ALL, site=7)
    return [a, b]


def exported(tmp_path: Path, **options: Any) -> tuple[dict[str, Any], str | None]:
    run = load_run(write_logged_run(tmp_path / "run", job(), **options))
    said = FORMATS["chrome"].write(run, tmp_path / "trace.json", lambda share: None)
    return json.loads((tmp_path / "trace.json").read_text()), said


def of(trace: dict[str, Any], *phases: str) -> list[Event]:
    return [event for event in trace["traceEvents"] if event["ph"] in phases]


NEEDED = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "ts", "dur", "pid", "tid"},
    "s": {"name", "cat", "id", "ts", "pid", "tid"},
    "f": {"name", "cat", "id", "ts", "pid", "tid", "bp"},
}


def test_every_event_has_what_its_kind_needs(tmp_path: Path) -> None:
    trace, said = exported(tmp_path)
    assert said is None
    assert trace["displayTimeUnit"] == "ns"
    for event in trace["traceEvents"]:
        assert NEEDED[event["ph"]] <= event.keys() <= NEEDED[event["ph"]] | {"ph", "args", "ts"}
        assert event["pid"] > 0 and event["tid"] > 0  # 0 is the idle process in Perfetto
        assert event.get("ts", 0) >= 0
        assert event.get("dur", 0) >= 0


def test_slices_of_a_thread_nest(tmp_path: Path) -> None:
    trace, _ = exported(tmp_path)
    for pid in (1, 2):
        slices = [e for e in of(trace, "X") if e["pid"] == pid]
        calls = [e for e in slices if e["cat"] == "MPI"]
        ends = [(round(1000 * e["ts"]), round(1000 * (e["ts"] + e["dur"]))) for e in calls]
        assert all(end <= begin for (_, end), (begin, _) in pairwise(ends))
        for cause in (e for e in slices if e["cat"] == "cause"):
            begin, end = round(1000 * cause["ts"]), round(1000 * (cause["ts"] + cause["dur"]))
            assert any(first <= begin and end <= last for first, last in ends)


def test_ranks_are_processes_with_names(tmp_path: Path) -> None:
    trace, _ = exported(tmp_path, hosts=["node1", "node2"])
    names = {e["pid"]: e["args"]["name"] for e in of(trace, "M") if e["name"] == "process_name"}
    assert names == {1: "rank 0 (node1)", 2: "rank 1 (node2)"}
    threads = [(e["pid"], e["tid"]) for e in of(trace, "M") if e["name"] == "thread_name"]
    assert threads == [(1, 1), (2, 1)]


def test_calls_carry_site_message_and_causes(tmp_path: Path) -> None:
    trace, _ = exported(tmp_path)
    calls = {(e["pid"], e["name"]): e for e in of(trace, "X") if e["cat"] == "MPI"}
    receive = calls[2, "MPI_Recv"]
    assert (receive["ts"], receive["dur"]) == (1.001, 5.099)
    arguments = receive["args"]
    assert (arguments["site"], arguments["function"]) == ("wave.c:30", "step")
    assert (arguments["bytes"], arguments["peer"], arguments["tag"]) == (50, 0, 7)
    assert arguments["late sender us"] == 3.999
    late = [e for e in of(trace, "X") if e["name"] == "late sender"]
    assert [(e["pid"], e["ts"], e["dur"]) for e in late] == [(2, 1.001, 3.999)]
    assert calls[1, "MPI_Barrier"]["args"]["bytes"] == 0
    assert calls[2, "MPI_Barrier"]["args"]["late in collective us"] == 2


def test_a_message_flows_from_its_send_into_the_call_that_completed_it(tmp_path: Path) -> None:
    trace, _ = exported(tmp_path)
    flows = {(e["id"], e["ph"]): (e["pid"], e["ts"]) for e in of(trace, "s", "f")}
    assert flows == {
        (1, "s"): (1, 5.0),
        (1, "f"): (2, 6.099),
        (2, "s"): (2, 7.1),
        (2, "f"): (1, 9.899),
    }
    assert all(e["bp"] == "e" for e in of(trace, "f"))


def test_names_with_markup_and_control_characters(tmp_path: Path) -> None:
    name = '</script>"\\\n\x1b[31m\u202e'
    trace, _ = exported(tmp_path, sites={3: {"file": None, "function": name}})
    call = next(e for e in of(trace, "X") if e["name"] == "MPI_Recv")
    assert call["args"]["function"] == '</script>"\\\\n\\x1b[31m\\u202e'


def test_a_run_without_calls_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ImbrexError, match="has no call log and no time line; measure again"):
        exported(tmp_path, logs=False)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
