"""By how much the probe's machine profile narrows the bounds of `imbrex run`.

    python benchmarks/probe_narrower.py [--runs 3] [--machine PROFILE] [-- mpirun -n 2]

The mini-app halo3d runs under the launcher line with three profiles in turns: what has no head and
tail (nothing known of what moves outside the calls), the quick calibration that `imbrex run` makes
by itself, and that of a full `imbrex probe` (or PROFILE, of an earlier one). Told are the widths
of the interval of what was hidden, of all transfers but collectives, in per cent of X_hi, and what
is certain of it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.profile.run import load_run
from imbrex.profile.summary import rows

IMBREX = str(Path(sys.executable).with_name("imbrex"))  # of the same environment
ROOT = Path(__file__).resolve().parents[1]
VARIANTS = ("blocking", "late-wait", "overlapped")
COUNTED = ("send", "recv")  # in the names of the operations that count


def command(*words: str) -> None:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, **root}
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")


def without_slack(profile: Path, file: Path) -> Path:
    """The same profile, as if nothing had been found out of head and tail."""
    found = json.loads(profile.read_text())
    for path in found["paths"].values():
        for point in path["points"]:
            point["head_s"] = point["tail_s"] = None
    file.write_text(json.dumps(found))
    return file


def shares(folder: Path) -> tuple[float, float, float]:
    """Of one run: certainly hidden, certainly exposed, and the width of what was hidden."""
    mine = [
        row.sums
        for row in rows(load_run(folder), "operation")
        if any(operation in row.operation.lower() for operation in COUNTED)
    ]
    whole = sum(s.transfer_max_s for s in mine)
    hidden = sum(s.overlap_min_s for s in mine)
    exposed = sum(s.exposed_min_s for s in mine)
    width = sum(s.overlap_max_s - s.overlap_min_s for s in mine)
    return hidden / whole, exposed / whole, width / whole


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--machine", type=Path, help="the profile of an earlier probe")
    parser.add_argument("launcher", nargs="*", default=["mpirun", "-n", "2"])
    options = parser.parse_args()
    line = options.launcher
    library = library_of_launcher(parse_launcher_line([*line, "x"]))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        build = [f"MPICC={library.mpicc}", "MPIFC=", f"BUILD={folder}"]
        command("make", "-s", "-C", str(ROOT / "apps"), "halo3d", *build)
        quick, full = folder / "quick.json", folder / "probe.json"
        command(IMBREX, "calibrate", "-q", "--quick", "-o", str(quick), "--", *line)
        if options.machine:
            full.write_text(options.machine.read_text())
        else:
            command(IMBREX, "probe", "-q", "--machine", str(full), "--", *line)
        profiles = {
            "no head, no tail": without_slack(quick, folder / "bare.json"),
            "quick calibration": quick,
            "full probe": full,
        }
        found: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
        for _ in range(options.runs):
            for variant in VARIANTS:
                for name, profile in profiles.items():
                    run = folder / "run"
                    program = [str(folder / "halo3d"), "--variant", variant, "--n", "128"]
                    words = ("run", "-q", "--force", "-o", str(run), "--machine", str(profile))
                    command(IMBREX, *words, "--", *line, *program, "--steps", "60")
                    found[variant, name].append(shares(run))
    print(f"{library.name}, {' '.join(line)}, medians of {options.runs} runs")
    print("| variant | profile | hidden for certain | exposed for certain | width |")
    print("|---|---|---|---|---|")
    for (variant, name), values in found.items():
        middle = [statistics.median(v) for v in zip(*values, strict=True)]
        print(f"| {variant} | {name} | {' | '.join(f'{100 * v:.0f} %' for v in middle)} |")


if __name__ == "__main__":
    main()
