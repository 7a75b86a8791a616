"""Traces of real runs: what was logged is in them, and `otf2-print` opens them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.export.registry import FORMATS
from imbrex.profile.call_log import Flag, Kind, read_call_log
from imbrex.profile.run import load_run
from imbrex.profile.timeline.from_logs import log_files

pytestmark = pytest.mark.untimed

KEEP = {"IMBREX_KEEP_LOG": "1"}


def nothing(share: float) -> None:
    assert 0 <= share <= 1


def otf2_events(folder: Path) -> list[tuple[str, Any]]:
    """Kind of each event and the event; otf2-print has to open the archive too."""
    otf2 = pytest.importorskip("otf2")
    anchor = str(folder / "traces.otf2")
    if (command := shutil.which("otf2-print")) is not None:
        words = [command, "--silent", "-Werror", anchor]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    with otf2.reader.open(anchor) as trace:
        return [(type(event).__name__, event) for _, event in trace.events]


def test_every_logged_call_is_in_the_trace(
    measured: Callable[..., Any], compiled: Callable[..., Path], tmp_path: Path
) -> None:
    """Every kind of call that logged.c makes: intercommunicators, windows, persistent requests."""
    folder = measured(compiled("logged"), "steps", environment=KEEP).folder
    run = load_run(folder)
    FORMATS["otf2"].write(run, tmp_path / "trace", nothing)
    found = Counter(kind for kind, _ in otf2_events(tmp_path / "trace"))
    logs = [read_call_log(file) for file in log_files(run)]
    calls = [call for log in logs for call in log.calls]
    assert found["Enter"] == found["Leave"] == 2 + sum(c["flags"] & Flag.FIRST for c in calls)
    sends = [c for c in calls if c["kind"] in range(1, 5) and c["peer"] >= 0]
    receives = [c for c in calls if c["kind"] == Kind.RECV and c["peer"] >= 0]
    assert found["MpiSend"] + found["MpiIsend"] == len(sends)
    cancelled = sum(c["flags"] & Flag.CANCELLED != 0 for c in receives)
    assert found["MpiRequestCancelled"] == cancelled == 2
    assert found["MpiRecv"] + found["MpiIrecv"] == len(receives) - cancelled
    assert found["MpiIsend"] == found["MpiIsendComplete"]
    assert found["MpiIrecvRequest"] == found["MpiIrecv"] + cancelled
    assert found["MpiCollectiveBegin"] == found["MpiCollectiveEnd"] > 0
    assert found["NonBlockingCollectiveRequest"] == found["NonBlockingCollectiveComplete"] == 6


@pytest.mark.parametrize(
    ("how", "clocks"),
    [("", {}), ("kill", {}), ("kill", {"IMBREX_TEST_CLOCK": "7e9,0"})],
    ids=["ended", "killed", "killed-with-two-clocks"],
)
def test_messages_of_a_run_that_ended_or_was_killed(
    mpi: Any,
    program: Path,
    imbrex: Callable[..., Any],
    tmp_path: Path,
    how: str,
    clocks: dict[str, str],
) -> None:
    line = [mpi.mpirun, "-n", "2", str(program), *filter(None, [how])]
    imbrex("run", "-q", "--keep-log", "-o", "run", "--", *line, env=os.environ | clocks)
    for name in ("otf2", "chrome", "csv"):
        done = imbrex("export", "run", "--format", name)
        assert (done.returncode, done.stderr) == (0, ""), name
    events = otf2_events(tmp_path / "run.otf2")
    sent = [event for kind, event in events if kind == "MpiSend"]
    assert [(e.receiver, e.msg_tag, e.msg_length) for e in sent] == [(1, 0, 100_000)] * 50
    assert {e.communicator.name for e in sent} == {"MPI_COMM_WORLD"}
    received = [event.time for kind, event in events if kind == "MpiRecv"]
    assert len(received) == 50
    # A rank that was killed knows the offset of its clock from the job's begin, some microseconds
    # wrong where the machine is busy: no error of it is claimed (docs/theory/measuring.md, Clocks).
    wrong_ns = 1_000_000 if clocks else 0
    assert all(a.time < b + wrong_ns for a, b in zip(sent, received, strict=True))
    regions = {e.region.name: e.region for kind, e in events if kind == "Enter"}
    send = regions["MPI_Send"]
    assert (Path(send.source_file).name, send.begin_line_number) == ("endings.c", 18)
    assert "endings" in regions
    trace = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    arrows = Counter(event["ph"] for event in trace)["f"]
    assert 0 < arrows <= 50 if clocks else arrows == 50  # none that would point back in time
    assert (tmp_path / "run.csv").read_text().count("MPI_Send") == 1


def test_a_run_written_as_goal_is_predicted_alike(
    program: Path, mpi: Any, imbrex: Callable[..., Any], tmp_path: Path
) -> None:
    imbrex("run", "-q", "--keep-log", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program))
    done = imbrex("export", "run", "--format", "goal")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "wire.toml").write_text(
        '[[network]]\nname = "wire"\nlatency_us = 5\noverhead_us = 1\nreceive_overhead_us = 1\n'
        "bandwidth_mb_per_s = 100\neager_limit_bytes = 4096\n"
    )
    found = []
    for source in ("run", "run.goal"):
        done = imbrex("predict", source, "-n", "wire.toml", "--progress", "ideal", "--json")
        rows = json.loads(done.stdout)["networks"]
        found.append(next(row for row in rows if row["network"]["name"] == "wire"))
    of_run, of_goal = found
    assert of_goal["time_s"] == pytest.approx(of_run["time_s"], rel=1e-6)
    path = of_goal["critical_path"]
    # A message of a barrier has a byte in GOAL.
    assert path["bytes"] == pytest.approx(of_run["critical_path"]["bytes"], abs=10)
    assert path["bytes"] >= 100_000
    assert any(entry["site"].startswith("endings.c:") for entry in path["sites"])
