"""The pictures of docs/guide/report.md and the README: the page of one run in headless Chromium.

    sudo python benchmarks/report_pictures.py [--mpi mpich] [--run DIR] [--into DIR] [--readme FILE]

Without DIR it makes two hosts in network namespaces (TCP at 800 Mbit/s) and measures there the
exchange of docs/guide/tutorial.md: Irecv, Isend, 50 ms of work, Waitall. The message that is
clicked is the first in view that was not hidden. The README shows what a terminal says of the same
run; each picture carries the first sentence as its description. About two minutes.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin
from rich.console import Console

from imbrex.diagnosis.diagnosis import diagnose
from imbrex.profile.run import Run, load_run
from imbrex.report.html import write_report
from imbrex.report.verdict import print_verdict
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
    words = [Path(argument).name for argument in entry["command"]]
    if "exchange" in words:
        program = words[words.index("exchange") :]
        entry["command"] = ["mpirun", "--host", "node1,node2", "-n", "2", f"./{program[0]}"]
        entry["command"] += program[1:]
    run.write_text(json.dumps(entry))
    sites = folder / "sites.json"
    text = sites.read_text()
    for site in json.loads(text)["sites"]:
        if site.get("file"):
            text = text.replace(str(Path(site["file"]).parent) + "/", "")
    sites.write_text(text)


def said(run: Run) -> str:
    """What a terminal of 100 columns says of the run, without what weakens its numbers."""
    screen = Console(width=100, file=io.StringIO(), no_color=True, highlight=False)
    print_verdict(diagnose(run), screen)
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    text = re.sub(r"What weakens these numbers:\n.*?(?=^\S)", "", text, flags=re.S | re.M)
    text = re.sub(r"^- .* transfers were dropped.*\n", "", text, flags=re.M)
    text = re.sub(r"\s*More:.*", "", text, flags=re.S).replace("\n\nMeasuring", "\nMeasuring")
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def tell(readme: Path, run: Run) -> None:
    """Put it into the first block of the README."""
    words = " ".join(run.job.command)
    block = f"```\n$ imbrex run -- {words}\n{said(run)}\n```"
    page = readme.read_text()
    readme.write_text(re.sub(r"^```\n.*?^```$", lambda _: block, page, count=1, flags=re.S | re.M))


def keep(driver: Any, file: Path, sentence: str, from_id: str, to_id: str) -> None:
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
    description = PngImagePlugin.PngInfo()
    description.add_text("Description", sentence)
    file.parent.mkdir(exist_ok=True)
    few.save(file, optimize=True, pnginfo=description)
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="mpich")
    parser.add_argument("--run", type=Path)
    parser.add_argument("--into", type=Path, default=PICTURES)
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.run or Path(scratch) / "run"
        if options.run is None:
            measured(options.mpi, folder)
        without_paths(folder)
        page = Path(scratch) / "report.html"
        run = load_run(folder)
        write_report(run, page)
        tell(options.readme, run)
        sentence = diagnose(run).sentence
        driver = browser()
        size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        keep(driver, options.into / "first-screen.png", sentence, "body", "nav")
        driver.execute_script("document.querySelector('#sites .disclose').click()")
        keep(driver, options.into / "call-site.png", sentence, "#sites", "#timeline")
        driver.execute_script(CHOOSE, WIDTH)
        driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 50))")
        file = options.into / "time-line.png"
        keep(driver, file, sentence, "#timeline", "#timeline details")
        driver.quit()


if __name__ == "__main__":
    main()
