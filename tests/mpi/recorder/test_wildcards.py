"""What receives from any rank or with any tag took is recorded, so that such programs are replayed,
as are messages to oneself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.imbrex_command import imbrex

from imbrex.profile.recording import load_recording
from imbrex.replay.schedule import make_schedule

pytestmark = pytest.mark.untimed
SOURCE = Path(__file__).parent / "wild.c"
RANKS, STEPS = 3, 12


def done(folder: Path, *arguments: object) -> str:
    """What the command says, which has to succeed."""
    ended = imbrex(folder, *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def recording(mpi: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wild")
    done(folder, "cc", f"--compiler={mpi.mpicc}", "-w", "-O1", "-g", SOURCE, "-o", "wild")
    done(folder, "record", "-o", "rec", "--", mpi.mpirun, "-n", RANKS, "./wild")
    return folder / "rec"


def test_each_sender_and_tag_is_a_message_of_its_own(recording: Path) -> None:
    document = json.loads((recording / "messages.json").read_text())
    took = [
        {(m["peer"], m["tag"]): m["calls"] for m in rank["messages"] if m["kind"] == "receive"}
        for rank in document["ranks"]
    ]
    for rank, found in enumerate(took):
        left = (rank - 1) % RANKS
        expected = {(left, 7): STEPS, (left, 8): STEPS, (rank, 3): STEPS}
        if rank == 0:
            expected |= {(k, tag): STEPS // 2 for k in (1, 2) for tag in (10, 11)}
        assert found == expected
    # Each is read from its first element on, as it arrived.
    for rank in document["ranks"]:
        for m in rank["messages"]:
            assert m["seen"] == 512, m


def test_every_receive_is_replayed_with_the_send_that_it_took(recording: Path) -> None:
    run = load_recording(recording)
    schedule = make_schedule(run)
    for rank, operations in schedule.operations.items():
        for op in operations:
            if op.kind not in (1, 3):
                continue
            message = run.messages[rank][op.message]
            assert op.place.number >= 0
            assert op.place.send >= 0
            if op.kind == 3:
                send = run.messages[op.place.key[0]][op.place.send]
                assert (send.peer, send.rank, send.tag) == (rank, message.peer, message.tag)


def test_run_time_and_every_sender_are_predicted(recording: Path) -> None:
    document = json.loads(done(recording.parent, "predict", "rec", "-n", "GigE", "--json"))
    assert document["replayed"] is True
    lines = {n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if "_DOUBLE, " in line}
    sends = {row["site"]: row["calls"] for row in document["sites"]}
    assert sorted(sends.values()) == [(RANKS - 1) * STEPS, *[RANKS * STEPS] * 3]
    assert {int(site.split(":")[1]) for site in sends} <= lines
    times = document["networks"][0]["time_s"]
    assert times["none"] >= times["as written"] > document["computation_s"]
