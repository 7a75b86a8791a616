"""OTF2 archives, read back with the package and by otf2-print: each event of a known job."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.analysis.jobs import (
    ALL,
    CANCELLED,
    COMPLETION,
    FROM_ROOT,
    OPEN,
    RECV,
    SEND,
    TO_ROOT,
    Rank,
)
from tests.unit.logs import MEASURED_NS, log_bytes, write_logged_run

from imbrex.errors import ImbrexError
from imbrex.export.registry import FORMATS
from imbrex.profile.run import load_run

otf2 = pytest.importorskip("otf2", reason="pip install otf2")
PRINT = shutil.which("otf2-print")
NO_ROOT = 0xFFFFFFFF


def job() -> list[Rank]:
    """Two ranks: a blocking message, a nonblocking one, two collectives with a root, a barrier."""
    a, b = Rank(), Rank()
    a.add(100, 200, "MPI_Send", SEND, 5, 1, site=3, tag=7)
    a.add(300, 310, "MPI_Isend", SEND, 800, 1, site=4, end=2)
    a.add(400, 600, "MPI_Waitall", COMPLETION, site=5)
    a.add(700, 710, "MPI_Bcast", FROM_ROOT, 64, 0, site=6)
    a.add(720, 800, "MPI_Reduce", TO_ROOT, 32, 0, site=6)
    a.add(900, 950, "MPI_Barrier", ALL, site=7)
    b.add(110, 210, "MPI_Recv", RECV, 5, 0, site=3, tag=7)
    b.add(250, 260, "MPI_Irecv", RECV, 800, 0, site=4, end=2)
    b.add(500, 610, "MPI_Waitall", COMPLETION, site=5)
    b.add(700, 730, "MPI_Bcast", FROM_ROOT, 64, 0, site=6)
    b.add(740, 750, "MPI_Reduce", TO_ROOT, 32, 0, site=6)
    b.add(760, 951, "MPI_Barrier", ALL, site=7)
    return [a, b]


Archive = list[tuple[int, int, str, dict[str, Any]]]
"""Rank, time, kind of event and its fields."""


def simple(value: Any) -> Any:
    """A field as a test names it: regions and communicators by name, operations by their word."""
    if isinstance(value, int | str):
        return value
    return getattr(value, "name", None) or str(value).rpartition(".")[2]


def events_of(folder: Path) -> Archive:
    found = []
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        for location, event in trace.events:
            values = {k: simple(v) for k, v in vars(event).items() if k not in ("time",)}
            values.pop("attributes", None)
            rank = int(location.group.name.removeprefix("MPI Rank "))
            found.append((rank, event.time, type(event).__name__, values))
    return found


@pytest.fixture
def exported(tmp_path: Path) -> Callable[..., Path]:
    def make(ranks: list[Rank], *args: Any, **options: Any) -> Path:
        folder = write_logged_run(tmp_path / "run", ranks, *args, **options)
        FORMATS["otf2"].write(load_run(folder), tmp_path / "trace.otf2", lambda share: None)
        return tmp_path / "trace.otf2"

    return make


def of(events: Archive, rank: int, *event_kinds: str) -> list[tuple[int, str, dict[str, Any]]]:
    return [(t, kind, v) for r, t, kind, v in events if r == rank and kind in event_kinds]


def test_calls_are_regions_with_their_source_lines(exported: Callable[..., Path]) -> None:
    folder = exported(job())
    events = events_of(folder)
    end = 951 + MEASURED_NS
    inside = [(t, k, v["region"]) for t, k, v in of(events, 0, "Enter", "Leave")]
    assert inside[:5] == [
        (0, "Enter", "app"),
        (100, "Enter", "MPI_Send"),
        (200, "Leave", "MPI_Send"),
        (300, "Enter", "MPI_Isend"),
        (310, "Leave", "MPI_Isend"),
    ]
    assert inside[-1] == (end, "Leave", "app")
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        regions = {region.name: region for region in trace.definitions.regions}
        wait = regions["MPI_Waitall"]
        assert (wait.source_file, wait.begin_line_number) == ("/x/wave.c", 50)
        assert wait.canonical_name == "MPI_Waitall at wave.c:50"
        assert wait.description == "called in step"
        assert wait.paradigm == otf2.Paradigm.MPI
        assert regions["MPI_Barrier"].region_role == otf2.RegionRole.BARRIER
        assert regions["MPI_Bcast"].region_role == otf2.RegionRole.COLL_ONE2ALL
        assert regions["MPI_Reduce"].region_role == otf2.RegionRole.COLL_ALL2ONE
        assert regions["app"].paradigm == otf2.Paradigm.USER


def test_messages_and_requests(exported: Callable[..., Path]) -> None:
    events = events_of(exported(job()))
    world = {"communicator": "MPI_COMM_WORLD"}
    assert of(events, 0, "MpiSend", "MpiIsend", "MpiIsendComplete") == [
        (100, "MpiSend", {"receiver": 1, "msg_tag": 7, "msg_length": 5} | world),
        (
            300,
            "MpiIsend",
            {"receiver": 1, "msg_tag": 0, "msg_length": 800, "request_id": 2} | world,
        ),
        (600, "MpiIsendComplete", {"request_id": 2}),
    ]
    assert of(events, 1, "MpiRecv", "MpiIrecvRequest", "MpiIrecv") == [
        (210, "MpiRecv", {"sender": 0, "msg_tag": 7, "msg_length": 5} | world),
        (250, "MpiIrecvRequest", {"request_id": 2}),
        (610, "MpiIrecv", {"sender": 0, "msg_tag": 0, "msg_length": 800, "request_id": 2} | world),
    ]


def test_collectives_have_roots_and_sizes(exported: Callable[..., Path]) -> None:
    events = events_of(exported(job()))

    def ends(rank: int) -> list[tuple[int, str, int, int, int]]:
        return [
            (t, v["collective_op"], v["root"], v["size_sent"], v["size_received"])
            for t, _, v in of(events, rank, "MpiCollectiveEnd")
        ]

    assert ends(0) == [
        (710, "BCAST", 0, 64, 0),
        (800, "REDUCE", 0, 0, 32),
        (950, "BARRIER", NO_ROOT, 0, 0),
    ]
    assert ends(1) == [
        (730, "BCAST", 0, 0, 64),
        (750, "REDUCE", 0, 32, 0),
        (951, "BARRIER", NO_ROOT, 0, 0),
    ]
    assert [t for t, _, _ in of(events, 1, "MpiCollectiveBegin")] == [700, 740, 760]


def test_nonblocking_collectives_and_cancelled_receives(exported: Callable[..., Path]) -> None:
    a, b = Rank(), Rank()
    for rank in (a, b):
        rank.add(10, 20, "MPI_Ialltoall", ALL, 100, end=2)
        rank.add(30, 40, "MPI_Irecv", RECV, 8, 0, end=2, flags=1 | CANCELLED)
        rank.add(50, 90, "MPI_Waitall", COMPLETION)
        rank.add(100, 110, "MPI_Irecv", RECV, 8, 0, end=OPEN)
    events = events_of(exported([a, b]))
    collective_events = ["NonBlockingCollectiveRequest", "NonBlockingCollectiveComplete"]
    found = of(events, 0, *collective_events, "MpiIrecvRequest", "MpiIrecv", "MpiRequestCancelled")
    assert [(t, kind, v["request_id"]) for t, kind, v in found] == [
        (10, collective_events[0], 1),
        (30, "MpiIrecvRequest", 2),
        (90, collective_events[1], 1),
        (90, "MpiRequestCancelled", 2),
        (100, "MpiIrecvRequest", 4),
    ]
    assert found[2][2]["collective_op"] == "ALLTOALL"


def test_communicators_hosts_and_the_clock(exported: Callable[..., Path]) -> None:
    ranks = [Rank(), Rank(), Rank()]
    ranks[1].add(10, 20, "MPI_Send", SEND, 5, 0, comm=2)
    ranks[2].add(10, 30, "MPI_Recv", RECV, 5, 1, comm=2)
    comms = {1: [0, 1, 2], 2: [2, 1], 3: [0, 1, 2]}
    folder = exported(ranks, comms, hosts=["node1", "node2", "node2"])
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        comms_found = {
            comm.name: [place.group.name for place in comm.group.members]
            for comm in trace.definitions.comms
        }
        everybody = ["MPI Rank 0", "MPI Rank 1", "MPI Rank 2"]
        assert comms_found == {
            "MPI_COMM_WORLD": everybody,
            "Communicator 0x2": ["MPI Rank 2", "MPI Rank 1"],
            "Communicator 0x3": everybody,
        }
        hosts = {
            place.group.name: place.group.system_tree_parent.name
            for place in trace.definitions.locations
        }
        assert hosts == dict(zip(everybody, ["node1", "node2", "node2"], strict=True))
        clock = trace.definitions.clock_properties
        assert clock.timer_resolution == 1_000_000_000
        assert (clock.global_offset, clock.trace_length) == (0, 30 + MEASURED_NS)
        assert clock.realtime_timestamp == 1767323045 * 10**9  # 2026-01-02T03:04:05Z
    events = events_of(folder)
    assert of(events, 1, "MpiSend")[0][2]["receiver"] == 0
    assert of(events, 1, "MpiSend")[0][2]["communicator"] == "Communicator 0x2"


def test_times_of_all_ranks_are_on_one_clock(exported: Callable[..., Path]) -> None:
    ranks = job()
    ranks[1].ahead = -40  # so that what it calls 0 is 40 ns later
    events = events_of(exported(ranks))
    assert of(events, 1, "MpiRecv")[0][0] == 210 + 40
    assert of(events, 0, "MpiSend")[0][0] == 100


def test_what_the_log_gave_up_is_measured_as_off(tmp_path: Path) -> None:
    folder = write_logged_run(tmp_path / "run", job())
    window = 1 << 40
    for number, rank in enumerate(job()):
        text = log_bytes(number, rank, {1: [0, 1]}, end_ns=3 * window + 5, level=1)
        (folder / "log" / f"rank-{number}.log").write_bytes(text)
    FORMATS["otf2"].write(load_run(folder), tmp_path / "t", lambda share: None)
    found = of(events_of(tmp_path / "t"), 0, "MeasurementOnOff")
    assert [(t, v["measurement_mode"]) for t, _, v in found] == [
        (window, "OFF"),
        (2 * window, "ON"),
        (3 * window, "OFF"),
        (3 * window + 5, "ON"),
    ]


def test_a_dead_rank_is_there_without_calls(tmp_path: Path) -> None:
    folder = write_logged_run(tmp_path / "run", job())
    (folder / "log" / "rank-0.log").unlink()
    FORMATS["otf2"].write(load_run(folder), tmp_path / "t", lambda share: None)
    events = events_of(tmp_path / "t")
    assert {rank for rank, *_ in events} == {1}
    assert of(events, 1, "MpiRecv")[0][2]["sender"] == 0


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda log: shutil.rmtree(log), "has no whole call log; measure again"),
        (lambda log: (log / "rank-1.log").write_bytes(b"IMBREXL1" + bytes(9)), "is cut short"),
        (lambda log: (log / "rank-0.log").rename(log / "rank-9.log"), "a log of rank 9"),
    ],
)
def test_bad_logs_leave_nothing(
    tmp_path: Path, damage: Callable[[Path], object], words: str
) -> None:
    folder = write_logged_run(tmp_path / "run", job())
    damage(folder / "log")
    with pytest.raises(ImbrexError, match=words):
        FORMATS["otf2"].write(load_run(folder), tmp_path / "t", lambda share: None)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.skipif(PRINT is None, reason="apt-get install otf2-tools")
def test_otf2_print_opens_it(exported: Callable[..., Path]) -> None:
    folder = exported(job())
    command = [str(PRINT), "-Werror", str(folder / "traces.otf2")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    event_counts = Counter(
        line.split()[0] for line in done.stdout.splitlines() if line[:1].isupper()
    )
    assert (
        event_counts["MPI_SEND"]
        == event_counts["MPI_RECV"]
        == event_counts["MPI_ISEND"]
        == event_counts["MPI_IRECV"]
        == 1
    )
    assert event_counts["ENTER"] == event_counts["LEAVE"] == 14
    assert event_counts["MPI_COLLECTIVE_END"] == 6
