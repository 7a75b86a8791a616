"""The pictures of docs/guide/report.md and the README: the page of one run in headless Chromium.

    sudo python benchmarks/report_pictures.py [--mpi mpich] [--run DIR]

Without DIR it makes two hosts in network namespaces (TCP at 800 Mbit/s) and measures there the
exchange of docs/guide/tutorial.md: Irecv, Isend, 50 ms of work, Waitall. The message that is
clicked is the first in view that was not hidden. About two minutes.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from imbrex.profile.run import load_run
from imbrex.report.html import write_report
from network_table import ROOT, launcher
from report_page import browser
from two_hosts import two_hosts

PICTURES = ROOT / "docs" / "guide" / "report"
COLOURS = 256
WIDTH = 1180
CHOOSE = """
for (let m = 0; m < imbrexTimeline.messages; m++) {
  const [ax, , bx] = imbrexTimeline.ends(m);
  if (ax > 60 && bx < arguments[0] && imbrexTimeline.explain(m).startsWith("Not hidden")) {
    imbrexTimeline.choose(m);
    break;
  }
}"""


def measured(mpi: str, folder: Path) -> None:
    """Measure the exchange over two hosts, and keep its run directory."""
    with two_hosts() as network:
        program = network.folder / "exchange"
        source = ROOT / "tests" / "network" / "exchange.c"
        words = [f"mpicc.{mpi}", "-O2", "-g", "-w", "-o", str(program), str(source), "-lm"]
        subprocess.run(words, check=True)
        line = [*launcher(mpi, network.folder), str(program), "late", "4000000", "50", "40"]
        network.imbrex("run", "-o", str(folder), "--", *line)


def without_paths(folder: Path) -> None:
    """Leave out of the run what only this machine has: folders, and the launcher's own words."""
    run = folder / "run.json"
    entry = json.loads(run.read_text())
    words = [Path(word).name for word in entry["command"]]
    program = words[words.index("exchange") :]
    entry["command"] = ["mpirun", "--host", "node1,node2", "-n", "2", f"./{program[0]}"]
    entry["command"] += program[1:]
    run.write_text(json.dumps(entry))
    sites = folder / "sites.json"
    text = sites.read_text()
    for site in json.loads(text)["sites"]:
        if site["file"]:
            text = text.replace(str(Path(site["file"]).parent) + "/", "")
    sites.write_text(text)


def keep(driver: Any, name: str, from_id: str, to_id: str) -> None:
    """A picture from the top of one element to the top of another, in few colours."""
    box = driver.execute_script(
        "const y = id => document.querySelector(id).getBoundingClientRect().top + scrollY;"
        "return [y(arguments[0]), y(arguments[1])];",
        from_id,
        to_id,
    )
    top = max(0, box[0] - 12)
    clip = {"x": 0, "y": top, "width": WIDTH, "height": box[1] - top - 4, "scale": 1}
    shot = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
    )
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"])))
    few = picture.convert("RGB").quantize(COLOURS, kmeans=3, dither=Image.Dither.NONE)
    PICTURES.mkdir(exist_ok=True)
    few.save(PICTURES / f"{name}.png", optimize=True)
    print(f"{name}.png: {(PICTURES / f'{name}.png').stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="mpich")
    parser.add_argument("--run", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.run or Path(scratch) / "run"
        if options.run is None:
            measured(options.mpi, folder)
        without_paths(folder)
        page = Path(scratch) / "report.html"
        write_report(load_run(folder), page)
        driver = browser()
        size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        keep(driver, "first-screen", "body", "nav")
        driver.execute_script("document.querySelector('#sites .disclose').click()")
        keep(driver, "call-site", "#sites", "#timeline")
        driver.execute_script(CHOOSE, WIDTH)
        driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 50))")
        keep(driver, "time-line", "#timeline", "#timeline details")
        driver.quit()


if __name__ == "__main__":
    main()
