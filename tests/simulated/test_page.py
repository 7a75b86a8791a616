"""The page of 64 simulated ranks in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.browser import chromium, opened, walk

from imbrex.profile.run import load_run
from imbrex.report.html import write_report

from .conftest import Simulator
from .test_matching import PLATFORM

__all__ = ["chromium", "opened"]
pytestmark = pytest.mark.untimed
HALO = Path(__file__).resolve().parents[2] / "apps" / "halo"
RANKS = 64


def test_a_stencil_on_64_ranks(
    simulator: Simulator, tmp_path: Path, opened: Callable[..., Any]
) -> None:
    """60 steps are more calls than the page keeps: single calls in the middle, all as levels."""
    program = simulator.link(tmp_path / "halo2d", sorted(HALO.glob("halo2d*.c")))
    platform = tmp_path / "cluster.xml"
    platform.write_text(PLATFORM.format(last=RANKS - 1))
    hosts = [f"n{rank}" for rank in range(RANKS)]
    words = ("--n", 256, "--steps", 60)
    simulator.run(program, *words, platform=platform, hosts=hosts, folder=tmp_path)
    run = load_run(tmp_path / "run", resolve=False)
    assert len(run.ranks) == RANKS
    assert run.job.matching is not None
    assert "not logged by the other side" not in run.job.matching.unmatched
    file = tmp_path / "report.html"
    write_report(run, file)
    assert file.stat().st_size <= 2 << 20
    browser = opened(file)
    told = walk(browser)
    assert "Zoomed out, what each rank did in the whole run" in told
    assert browser.execute_script("return imbrexTimeline.levels") == 1
    data = browser.find_element("id", "timeline-data").get_attribute("textContent")
    assert json.loads(data)["ranks"] == list(range(RANKS))
    # The strip of ranks, and who exchanges how much with whom: no text is cut off by its plot.
    drawings = browser.find_elements("css selector", "#ranks svg")
    assert len(drawings) >= 2
    overflowing_script = """
        const out = [];
        document.querySelectorAll("#ranks svg").forEach(svg => {
          const whole = svg.getBoundingClientRect();
          svg.querySelectorAll("text").forEach(text => {
            const box = text.getBoundingClientRect();
            if (box.left < whole.left - 1 || box.right > whole.right + 1 ||
                box.top < whole.top - 1 || box.bottom > whole.bottom + 1)
              out.push(text.textContent);
          });
        });
        return out;"""
    assert browser.execute_script(overflowing_script) == []
    narrow = opened(file, width=420)
    assert narrow.execute_script("return document.documentElement.scrollWidth") <= 420
