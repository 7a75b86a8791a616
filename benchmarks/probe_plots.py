"""The plots of one probe as SVG files, for the documentation.

    python benchmarks/probe_plots.py FOLDER [-- mpirun.openmpi --mca btl tcp,self -n 2]

A quick probe with --try-settings; its report's plots go to FOLDER as delay-PATH.svg, work-PATH.svg,
heat-PATH.svg and settings.svg.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

IMBREX = str(Path(sys.executable).with_name("imbrex"))  # of the same environment
LINE = ("mpirun.openmpi", "--mca", "btl", "tcp,self", "-n", "2")


def plots(page: str) -> dict[str, str]:
    """The SVG texts of a report by their titles."""
    found = {}
    for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        title = re.search(r"<dc:title>(.*?)</dc:title>", text)
        if title:
            found[title[1].replace(" ", "-")] = text
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("launcher", nargs="*", default=LINE)
    options = parser.parse_args()
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "page.html"
        asked = ("--quick", "--time-limit", "30", "--try-settings", "--report", str(page))
        done = subprocess.run(
            [IMBREX, "probe", "-q", *asked, "--", *options.launcher],
            env={**os.environ, **root},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"imbrex probe: exit {done.returncode}\n{done.stderr}")
        options.folder.mkdir(parents=True, exist_ok=True)
        for name, text in plots(page.read_text()).items():
            file = options.folder / f"{name}.svg"
            # Trailing blanks, which the drawing library leaves, are no part of a text file.
            lines = "\n".join(line.rstrip() for line in text.splitlines())
            file.write_text(f"{lines}\n", encoding="utf-8")
            print(file, f"{len(text):,} characters")


if __name__ == "__main__":
    main()
