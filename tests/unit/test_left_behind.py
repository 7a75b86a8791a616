"""What a test that is over its time started is ended with all that this started in its turn."""

from __future__ import annotations

import os
import subprocess
import time

import pytest
from tests import left_behind

SHELL = "trap '' TERM; setsid sleep 100 & setsid sleep 100 & echo started; wait; wait; sleep 100"


def test_all_is_ended_but_what_others_started(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_behind, "TIME_TO_END_S", 0.5)
    environment = {**os.environ, left_behind.SESSION: "another"}
    other = subprocess.Popen(["sleep", "100"], env=environment)
    hung = subprocess.Popen(["sh", "-c", SHELL], stdout=subprocess.PIPE, text=True)
    assert hung.stdout is not None
    try:
        assert hung.stdout.readline() == "started\n"
        node_id = request.node.nodeid
        assert left_behind.end(f"{node_id}-other") == []
        time.sleep(0.1)  # the shell's children are no longer shells
        ended = left_behind.end(node_id)
        assert len(ended) == 3 and hung.pid in ended
        assert hung.wait(timeout=10) == -9  # it does not mind SIGTERM
        assert hung.stdout.read() == ""  # nobody holds its output open
        assert other.poll() is None
    finally:
        for process in (other, hung):
            process.kill()
            process.wait()
        hung.stdout.close()
