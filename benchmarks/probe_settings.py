"""What the settings known to change overlap do here: `imbrex probe --try-settings`, as a table.

    python benchmarks/probe_settings.py [--wheels FOLDER] [--line "mpirun.openmpi -n 2"]...
        [--keep FOLDER] [--insert docs/theory/probes.md]

Lines and --wheels are those of probe_table.py. With --keep the answers stay in FOLDER, and lines
that were probed earlier are taken from there. With --insert the table replaces the one between the
markers `settings` of that page.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from page import insert
from probe_table import WHEELS, probe

UCX = "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any -x UCX_TLS=posix,cma,self"
LINES = (
    "mpirun.openmpi -n 2",
    "mpirun.openmpi --mca btl tcp,self -n 2",
    f"mpirun.openmpi {UCX} -n 2",
    "mpirun.mpich -n 2",
    "mpirun.mpich -genv MPIR_CVAR_NOLOCAL 1 -genv UCX_TLS posix,cma,self -n 2",
    "mpirun.mpich -genv MPIR_CVAR_NOLOCAL 1 -genv UCX_TLS tcp,self -n 2",
)
SENDER, RECEIVER, BOTH = "MPI_Isend/MPI_Recv", "MPI_Send/MPI_Irecv", "MPI_Isend/MPI_Irecv"
HEAD = (
    "| library | setting | `MPI_Isend`, late `MPI_Recv`: overlaps up to"
    " | `MPI_Irecv`, late `MPI_Send`: overlaps up to | class of the largest"
    " | 1 B, us | 1 MiB, us | memory of a rank, MB |",
    "|---|---|---|---|---|---|---|---|",
)


def up_to(tried: dict[str, Any], when: str) -> str:
    size, unclear = tried[f"{when}_bytes"], tried[f"{when}_unclear"]
    if size is None:
        return "all sizes"
    if unclear:
        return f"{size:,} B (beyond: cannot tell)" if size else "cannot tell"
    return f"{size:,} B" if size else "none"


def change(before: str, after: str) -> str:
    return before if before == after else f"{before} -> **{after}**"


def micro(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return f"{1e6 * seconds:,.0f}" if seconds >= 1e-4 else f"{1e6 * seconds:.3g}"


def rows(answer: dict[str, Any]) -> list[str]:
    """A line per setting; the first is without any."""
    of: dict[str, dict[str, dict[str, Any]]] = {}
    for t in answer["knobs"]:
        of.setdefault(t["export"], {})[t["operation"]] = t
    found = []
    for export, tried in of.items():
        if not {SENDER, RECEIVER, BOTH} <= set(tried):
            continue
        sizes = [
            change(up_to(tried[o], "before"), up_to(tried[o], "after")) for o in (SENDER, RECEIVER)
        ]
        one = tried[BOTH]
        pairs = [
            f"{micro(one[f'{quantity}_before_s'])} -> {micro(one[f'{quantity}_after_s'])}"
            for quantity in ("latency", "mebibyte")
        ]
        memory = " -> ".join(
            f"{(one[f'memory_{when}_bytes'] or 0) / 1e6:.0f}" for when in ("before", "after")
        )
        cells = [
            f"`{export.removeprefix('export ')}`",
            *sizes,
            change(one["before_class"], one["after_class"]),
            *pairs,
            memory,
        ]
        found.append(" | ".join(cells))
    return found


def kept(line: str, folder: Path | None) -> dict[str, Any]:
    """The answer for a line, probed now unless it was kept."""
    name = hashlib.sha256(line.encode()).hexdigest()[:12]
    file = folder / f"{name}.json" if folder else None
    if file and file.exists():
        found: dict[str, Any] = json.loads(file.read_text())
        return found
    found = probe(line, "--try-settings")
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--line", action="append", help=f"default: {'; '.join(LINES)}")
    parser.add_argument("--wheels", type=Path, help="also Open MPI 5, MPICH 5 and Intel MPI here")
    parser.add_argument("--keep", type=Path, help="answers are kept here")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    options = parser.parse_args()
    lines = list(options.line or LINES)
    if options.wheels:
        folder = options.wheels.absolute()
        lines += [f"{folder / name / 'bin'}:{words}" for name, words in WHEELS.items()]
    table = list(HEAD)
    for line in lines:
        answer = kept(line, options.keep)
        words = line.partition(":")[2] if line.startswith("/") else line
        library = f"{answer['library']['name']} {answer['library']['version']}, `{words.strip()}`"
        table += [f"| {library} | {row} |" for row in rows(answer)]
    text = "\n".join(table)
    print(text)
    if options.insert:
        insert(options.insert, text, "settings")


if __name__ == "__main__":
    main()
