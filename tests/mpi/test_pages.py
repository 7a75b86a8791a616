"""Pages of real runs in a browser: one that crashed, and LAMMPS."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.browser import chromium, opened, walk

from imbrex.profile.run import load_run
from imbrex.report.html import write_report

__all__ = ["chromium", "opened"]
pytestmark = pytest.mark.untimed

MELT = Path(__file__).parents[2] / "apps" / "real" / "melt.lammps"


@pytest.mark.parametrize("how", ["abort", "segv"])
def test_a_crashed_run(mpi, program, imbrex, tmp_path, opened, how):
    """Its time line shows what was left of the logs, matched: 50 exchanges up to the crash."""
    imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program), how)
    run = load_run(tmp_path / "run")
    write_report(run, tmp_path / "report.html")
    browser = opened(tmp_path / "report.html")
    words = walk(browser)
    assert "Time line" in words and "calls and 50 messages" in words
    weak = browser.find_element("id", "weak").text
    assert "died" in weak or "abort" in weak


def test_lammps(imbrex, tmp_path, opened):
    if shutil.which("lmp") is None or shutil.which("mpirun.openmpi") is None:
        pytest.skip("lmp (built with Open MPI) is not installed")
    line = ["mpirun.openmpi", "-n", "2", "lmp", "-in", str(MELT), "-log", "none"]
    done = imbrex("run", "-q", "-o", "run", "--", *line, "-var", "steps", "20")
    assert done.returncode == 0, done.stderr
    file = tmp_path / "report.html"
    assert imbrex("report", "run", "-o", str(file)).returncode == 0
    assert file.stat().st_size <= 2 << 20
    browser = opened(file)
    words = walk(browser)
    assert "typical iteration of MPI_" in words
    # Its log of calls was replayed: run time over latency and bandwidth, today's network marked.
    [elsewhere] = browser.find_elements("xpath", "//section[h2='Run time on other networks']")
    assert "as measured (intra-node)" in elsewhere.text
    assert " of the run" in elsewhere.text.split("\n")[1]
    drawn = elsewhere.find_element("tag name", "svg").text
    for label in ("latency, µs (today", "bandwidth, MB/s (today", "run time, s", "+1%", "+5%"):
        assert label in drawn
    assert browser.find_elements("css selector", "ol.findings li")
    browser = opened(file, width=420)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 420
