"""256 clocks that all differ, brought together in a simulated cluster where the truth is known."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import HERE, RUNTIME, checked

pytestmark = pytest.mark.untimed

TESTS = HERE.parent / "mpi" / "clocks"
SOURCES = ("base/clock.c", "core/clock_line.c", "job/clocks.c")
RANKS = 256
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="nodes" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="2us"/>
</platform>
"""


@pytest.mark.skipif(not shutil.which("smpicc"), reason="SimGrid is not installed (libsimgrid-dev)")
def test_many_clocks_agree_within_their_bounds(tmp_path: Path) -> None:
    program, platform, hosts = tmp_path / "clocks", tmp_path / "nodes.xml", tmp_path / "hosts"
    platform.write_text(PLATFORM.format(last=RANKS - 1))
    hosts.write_text("".join(f"n{rank}\n" for rank in range(RANKS)))
    words = [
        "smpicc",
        "-O1",
        "-w",
        "-DSAMPLES=4",
        "-D_GNU_SOURCE",
        "-DIMBREX_SIMULATED",
        f"-I{RUNTIME}",
    ]
    words += [f"-I{TESTS}", TESTS / "clocks.c", *(RUNTIME / name for name in SOURCES)]
    checked([*words, "-o", program])
    # rank r is r ms ahead and r times 0.4 ppm fast: at most a quarter of a second and 100 ppm
    words = ["smpirun", "-np", str(RANKS), "-platform", platform, "-hostfile", hosts]
    words += ["--cfg=smpi/coll-selector:mpich", "--cfg=smpi/simulate-computation:no"]
    done = subprocess.run(
        [*words, "--log=root.thres:warning", program, "2000"],
        env={**os.environ, "IMBREX_TEST_CLOCK": "1e6,0.4"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [line.split() for line in done.stdout.splitlines()]
    assert sorted(int(row[0]) for row in rows) == list(range(RANKS))
    assert {int(row[1]) for row in rows} == {RANKS}
    worst_ns = max(float(row[3]) - int(row[2]) for row in rows)
    assert worst_ns <= 10  # rounding to ns, eight times in a chain
    assert all(0 < int(row[2]) < 200_000 for row in rows if row[0] != "0")
    assert all(row[5] == "0" for row in rows)
