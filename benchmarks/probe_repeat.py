"""How often repeated quick probes give the same verdicts.

    python benchmarks/probe_repeat.py [--runs 20] [--keep FOLDER] [-- mpirun -n 2]

A verdict is that of one operation, path and size: synchronization and class. Of each the share of
the runs that agree with the most frequent verdict is counted, "cannot tell" and "unknown" as
verdicts of their own; apart from it how many were ever judged both ways (yes and no; two classes).
With --keep the answers stay in FOLDER, and those of earlier runs there count too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

IMBREX = str(Path(sys.executable).with_name("imbrex"))  # of the same environment
SIZES = tuple(4**k for k in range(12))
POINT_TO_POINT = ("MPI_Isend/MPI_Recv", "MPI_Send/MPI_Irecv", "MPI_Isend/MPI_Irecv")

Verdict = tuple[str, str, int]  # operation, path, size


def probe(line: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answer.json"
        words = [IMBREX, "probe", "--quick", "-q", "-o", str(file), "--", *line]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        found: dict[str, Any] = json.loads(file.read_text())
        return found


def verdicts(answer: dict[str, Any]) -> dict[Verdict, tuple[bool | None, str]]:
    found = {}
    for operation in answer["operations"]:
        for r in operation["ranges"]:
            # Other operations are measured at few sizes: one verdict per range that was measured.
            sizes = (
                SIZES if operation["operation"] in POINT_TO_POINT else [r["last_measured_bytes"]]
            )
            for size in sizes:
                if r["from_bytes"] <= size and (r["to_bytes"] is None or size <= r["to_bytes"]):
                    key = (operation["operation"], operation["path"], size)
                    found[key] = (r["synchronization"], r["class"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--keep", type=Path, help="answers are kept here, and counted again")
    parser.add_argument("launcher", nargs="*", default=["mpirun", "-n", "2"])
    options = parser.parse_args()
    synchronization: dict[Verdict, Counter[bool | None]] = defaultdict(Counter)
    classes: dict[Verdict, Counter[str]] = defaultdict(Counter)
    answers = []
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        answers = [json.loads(f.read_text()) for f in sorted(options.keep.glob("*.json"))]
    while len(answers) < options.runs:
        answers.append(probe(options.launcher))
        if options.keep:
            (options.keep / f"{len(answers):03}.json").write_text(json.dumps(answers[-1]))
    for answer in answers:
        for key, (sync, name) in verdicts(answer).items():
            synchronization[key][sync] += 1
            classes[key][name] += 1
    print(f"{len(answers)} runs of {' '.join(options.launcher)}: verdicts that agree with the most")
    print("frequent one, per operation; synchronization, class, and those judged both ways")
    late = sum(bool(answer["missing"]) for answer in answers)
    print(f"{late} of the runs were cut short by their time limit")
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for key in synchronization:
        group = key[0] if key[0] in POINT_TO_POINT else "all others"
        groups[group].append(key)
        groups["total"].append(key)
    for name in (*POINT_TO_POINT, "all others", "total"):
        keys = groups[name]
        shares = []
        for counters in (synchronization, classes):
            most = sum(max(counters[k].values()) for k in keys)
            shares.append(100 * most / max(1, sum(sum(counters[k].values()) for k in keys)))
        both = sum(1 for k in keys if synchronization[k][True] and synchronization[k][False])
        two = sum(1 for k in keys if len([c for c in classes[k] if c != "unknown"]) > 1)
        print(
            f"{name:22} {shares[0]:5.1f} % {shares[1]:5.1f} % "
            f"both ways: {both} and {two} of {len(keys)}"
        )


if __name__ == "__main__":
    main()
