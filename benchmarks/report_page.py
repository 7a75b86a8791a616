"""How large the page of a run is, how long it takes to make and to open, and to draw one frame.

    python benchmarks/report_page.py [--ranks 2 64 1000 10000] [--events N] [--runs DIR ...]

Synthetic runs of so many ranks with as many kept calls as a real one has, one of 64 ranks of which
a million single calls are there (N; 0: none), and measured runs where they are given. Each page is
opened five times in headless Chromium beside an empty one; the medians are printed. Opened: until
the script has drawn the time line. A frame: drawn anew with the whole run in view, and the slowest
of those on the way from there to the typical iteration.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from selenium import webdriver

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.report.synthetic import write_run  # noqa: E402

from imbrex.profile.run import load_run  # noqa: E402
from imbrex.report.html import write_report  # noqa: E402

TIMES = 5
OPENED = """
const entry = performance.getEntriesByType("navigation")[0];
return entry.domContentLoadedEventEnd - entry.startTime;"""
FRAME = """
const done = arguments[arguments.length - 1], canvas = document.querySelector("canvas");
if (!canvas) { done([-1, -1]); return; }
const press = key => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
press("End");
requestAnimationFrame(() => requestAnimationFrame(() => {
  const times = [], zoomed = [];
  const once = () => {
    const from = performance.now();
    imbrexTimeline.draw();
    canvas.getContext("2d").getImageData(0, 0, 1, 1);
    (times.length < 9 ? times : zoomed).push(performance.now() - from);
    if (times.length >= 9) {
      const [a, b] = imbrexTimeline.view(), [c, d] = imbrexTimeline.opens();
      if (b - a <= 2 * (d - c) || zoomed.length > 60)
        return done([times.sort((a, b) => a - b)[4], Math.max(0, ...zoomed)]);
      imbrexTimeline.show((2 * a + c) / 3, (2 * b + d) / 3);
    }
    requestAnimationFrame(once);
  };
  once();
}));"""


def browser() -> Any:
    """A headless Chromium."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or "chromium"
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def opened_ms(driver: Any, file: Path) -> float:
    """The median time until a page's scripts have run."""
    times = []
    for _ in range(TIMES):
        driver.get("about:blank")
        driver.get(file.as_uri())
        times.append(float(driver.execute_script(OPENED)))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 64, 1000, 10_000])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=Path, nargs="*", default=[])
    wanted = parser.parse_args()
    driver = browser()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        empty = folder / "empty.html"
        empty.write_text("<!DOCTYPE html><title>empty</title>")
        print(f"an empty page opens in {opened_ms(driver, empty):.0f} ms")
        runs = list(wanted.runs)
        for ranks in wanted.ranks:
            kept = max(32, min(2048, (1 << 14) // ranks))
            runs.append(write_run(folder / f"{ranks}-ranks", ranks=ranks, iterations=kept // 3))
        if wanted.events:
            many = wanted.events // (3 * 64)
            runs.append(write_run(folder / f"64-ranks-{wanted.events}", ranks=64, iterations=many))
        head = ("MB", "made, s", "opens, ms", "a frame, ms", "slowest, ms")
        print(f"{'run':24}" + "".join(f"{heading:>13}" for heading in head))
        for run in runs:
            file = folder / "page.html"
            begin = time.perf_counter()
            write_report(load_run(run), file)
            made = time.perf_counter() - begin
            opens = opened_ms(driver, file)
            frame, slowest = driver.execute_async_script(FRAME)
            size = file.stat().st_size / 1e6
            print(f"{run.name:24}{size:13.2f}{made:13.1f}{opens:13.0f}{frame:13.1f}{slowest:13.1f}")
    driver.quit()


if __name__ == "__main__":
    main()
