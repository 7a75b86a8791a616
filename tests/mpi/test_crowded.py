"""Other load on the cores of a run, which its verdict tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SPIN = "while True: pass"


def test_other_load_weakens_a_run(mpi, compiled, imbrex, tmp_path):
    """As many processes that spin as there are cores, so that none is left to the ranks."""
    program = compiled("busy")
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(os.cpu_count() or 1)]
    try:
        done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program))
    finally:
        for process in spinning:
            process.kill()
            process.wait()
    assert done.returncode == 0
    crowded = json.loads((tmp_path / "run" / "run.json").read_text())["crowded"]
    if crowded is not None and crowded.startswith("the hypervisor"):
        pytest.skip(f"{crowded}, and that is told in the place of other processes")
    assert crowded is not None and "next to none was idle" in crowded
    assert "while it ran, other processes kept" in " ".join(done.stderr.split())
