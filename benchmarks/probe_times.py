"""How long `imbrex probe` takes, quick and in full, and what its time limit cuts off.

    python benchmarks/probe_times.py --keep FOLDER [--quick | --full] [--load 0 1 2]
        [--insert docs/theory/probes.md] [--line "mpirun.openmpi -n 2"]...

Quick ones also beside so many processes that only compute. What was measured stays in FOLDER (with
the machine profiles), and is not measured again: the table is that of all that is there. With
--insert it replaces the one between the markers `times`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from page import insert
from probe_contained import spinning

IMBREX = str(Path(sys.executable).with_name("imbrex"))  # of the same environment
LINES = (
    "mpirun.openmpi -n 2",
    "mpirun.openmpi --mca btl tcp,self -n 2",
    "mpirun.mpich -n 2",
)
MODES = {"quick": ("--quick",), "full": ()}
LOADS = (0, 1, 2)


def file_of(line: str, mode: str, load: int, folder: Path) -> Path:
    """Where a measurement is kept."""
    name = hashlib.sha256(line.encode()).hexdigest()[:12]
    return folder / (f"{name}-{mode}-{load}.json" if load else f"{name}-{mode}.json")


def probe(line: str, mode: str, load: int, folder: Path) -> dict[str, Any]:
    """Wall time of the command, and what its answer says is missing."""
    kept = file_of(line, mode, load, folder)
    if kept.exists():
        found: dict[str, Any] = json.loads(kept.read_text())
        return found
    answer, machine = (
        kept.with_name(f"{kept.stem}-{artefact}.json") for artefact in ("answer", "machine")
    )
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = [IMBREX, "probe", "-q", *MODES[mode], "-o", str(answer), "--machine", str(machine)]
    with spinning(load):
        begin = time.monotonic()
        done = subprocess.run(
            [*words, "--", *line.split()],
            env={**os.environ, **root},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    said = json.loads(answer.read_text())
    library = said["library"]
    spent = sorted(said["spent_s"].items(), key=lambda item: -item[1])
    told_spent = ", ".join(f"{name} {each:.1f} s" for name, each in spent)
    print(f"{line}, {mode}, beside {load}: {told_spent}", file=sys.stderr)
    found = {
        "library": f"{library['name']} {library['version']}",
        "seconds": seconds,
        "missing": said["missing_measured"],
    }
    kept.write_text(json.dumps(found))
    return found


def told(found: dict[str, Any]) -> str:
    left = [
        f"{name} from {100 * share:.0f} % on" if share else name
        for name, share in found["missing"].items()
    ]
    return f"{found['seconds']:.1f} s, " + (f"without {', '.join(left)}" if left else "whole")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--line", action="append", help=f"default: {'; '.join(LINES)}")
    parser.add_argument("--keep", type=Path, required=True, help="what was measured is kept here")
    parser.add_argument("--quick", action="store_true", help="measure only the quick ones")
    parser.add_argument("--full", action="store_true", help="measure only the full ones")
    parser.add_argument("--load", type=int, nargs="+", default=LOADS, help="of quick ones")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    wanted = [m for m in MODES if getattr(options, m) or not (options.quick or options.full)]
    columns = [*(("quick", load) for load in options.load), ("full", 0)]
    heads = [f"{mode}, beside {load}" if load else mode for mode, load in columns]
    table = [f"| library | launcher line | {' | '.join(heads)} |", "|---" * (2 + len(heads)) + "|"]
    for line in options.line or LINES:
        cells, library = [], ""
        for mode, load in columns:
            if mode in wanted or file_of(line, mode, load, options.keep).exists():
                found = probe(line, mode, load, options.keep)
                library = found["library"]
                cells.append(told(found))
            else:
                cells.append("not measured")
        table.append(f"| {library} | `{line}` | {' | '.join(cells)} |")
    text = "\n".join(table)
    print(text)
    if options.insert:
        insert(options.insert, text, "times")


if __name__ == "__main__":
    main()
