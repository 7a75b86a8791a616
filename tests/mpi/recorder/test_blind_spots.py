"""Libraries that were not compiled with the wrappers: named, with the calls that led into them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed

SOURCE = Path(__file__).resolve().parent / "blind.c"
N, ITERATIONS = 50, 80


def line_of(words: str) -> int:
    lines = SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


def test_a_library_and_the_calls_into_it_are_named(mpi: Any, tmp_path: Path) -> None:
    library = tmp_path / "libblind.so"
    words = ["-O2", "-g", "-w", str(SOURCE), "-o"]
    build = [mpi.mpicc, "-DLIBRARY", "-fPIC", "-shared", *words, str(library)]
    subprocess.run(build, check=True)
    imbrex = [sys.executable, "-m", "imbrex.cli"]
    link = [str(tmp_path / "app"), f"-L{tmp_path}", "-lblind", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([*imbrex, "cc", f"--compiler={mpi.mpicc}", *words, *link], check=True)
    done = subprocess.run(
        [
            *(*imbrex, "record", "-o", str(tmp_path / "rec")),
            *("--", mpi.mpirun, "-n", "2", str(tmp_path / "app")),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    assert "not recorded, so what they read and write was not seen: libblind.so" in done.stdout
    assert "elements sent had been written by what is not recorded" in done.stdout
    document = json.loads((tmp_path / "rec" / "messages.json").read_text())
    for rank in document["ranks"]:
        send, receive = rank["messages"]
        assert (send["kind"], receive["kind"]) == ("send", "receive")
        # Nobody was seen; every element differs from the send before.
        assert (send["seen"], receive["seen"]) == (0, 0)
        assert send["written_unseen"] == N * (ITERATIONS - 1)
    if not document["watchpoints"]:
        return
    for rank in document["ranks"]:
        found = {}
        for message in rank["messages"]:
            (touch,) = message["touched_by"]
            assert Path(touch["library"]).name == "libblind.so"
            found[message["kind"]] = touch["call"].rpartition("/")[2]
        calls = {"send": "/* writes */", "receive": "/* reads */"}
        assert found == {kind: f"blind.c:{line_of(mark)}" for kind, mark in calls.items()}
    assert f"called at blind.c:{line_of('/* writes */')}, wrote the message" in done.stdout
