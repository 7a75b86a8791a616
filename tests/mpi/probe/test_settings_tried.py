"""`imbrex probe --try-settings`, as a user runs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
TCP = ("mpirun.openmpi", "--mca", "btl", "tcp,self", "-n", "2")


def test_settings_are_tried_and_told(imbrex: Run, tmp_path: Path) -> None:
    """Small messages only, so that it is short: all of them overlap before and after."""
    file, page = tmp_path / "answer.json", tmp_path / "page.html"
    options = ("--quick", "--time-limit", "10", "--max-bytes", "16K", "--try-settings")
    done = imbrex("probe", *options, "-o", str(file), "--report", str(page), "--", *TCP)
    if done.returncode == 2 and "nothing was calibrated" in done.stderr:
        pytest.skip("the machine was so busy that nothing was measured within 10 s")
    assert done.returncode == 0, done.stderr
    answer = json.loads(file.read_text())
    lost = [n for n in answer["notes"] if "nothing was calibrated" in n]
    tried = {t["export"] for t in answer["knobs"]}
    # Two settings and the progress thread are told of, as results or, on a machine too busy, in a
    # note.
    assert len(tried) == 3 or lost
    for one in answer["knobs"]:
        # None where a machine too busy did not come to the end.
        for memory in (one["memory_before_bytes"], one["memory_after_bytes"]):
            assert memory is None or memory > 1 << 20
        assert one["export"] in done.stdout and one["export"] in page.read_text()
