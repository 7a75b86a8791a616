"""How much of each mini-app's time in MPI has one cause, how narrow its hidden share is, and what
the verdict says first: two ranks on one node, or (root) on two hosts of a real network.

    python benchmarks/attribution_table.py --folder DIR [--library mpich] [--hosts two]
        [--apps cg,mg] [--repeat 3] [--insert docs/theory/apps.md]

DIR keeps what was built, a machine profile of `imbrex probe --quick`, and what every run found, so
that parts measured one after the other make one table. `--repeat` measures the three variants of
halo3d so many times, and tells what each of them showed at the least and at the most; with
`--progress` they run with the progress thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from apps import IMBREX, SIZES, build, environment
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.diagnosis.division import MOVING
from imbrex.diagnosis.hidden import Hidden, hidden_of
from imbrex.profile.run import Run, load_run
from network_table import launcher
from page import insert
from two_hosts import two_hosts

LARGE_CLASS = 16
"""The size class (floor of log2 of the bytes) from 64 KiB on."""
VARIANTS = ("blocking", "late-wait", "overlapped")
PROGRESS = "p"
"""Behind the number of a run with the progress thread."""
Runner = Callable[[list[str]], str]
"""Runs a command line where the ranks are started; gives what it printed."""


@contextmanager
def places(library: str, hosts: str, folder: Path) -> Iterator[tuple[Runner, list[str]]]:
    """How to run a command, and the launcher's words."""
    if hosts == "two":
        with two_hosts() as network:
            yield network.run, launcher(library, network.folder)
        return
    settings = ["--mca", "btl", "vader,self"] if library == "openmpi" else []

    def run(command: list[str]) -> str:
        done = subprocess.run(
            command, env=environment(), capture_output=True, text=True, check=False, cwd=folder
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    yield run, [f"mpirun.{library}", *settings, "-n", "2"]


def hidden(run: Run, least_class: int) -> Hidden | None:
    """The hidden share of the messages from a size class on; None without any."""
    measures = run.measures[run.measures["size_class"] >= least_class]
    evidence = None
    if run.evidence is not None:
        evidence = run.evidence[run.evidence["size_class"] >= least_class]
    found = hidden_of(replace(run, measures=measures, evidence=evidence), ()).get(())
    return found if found and found.by and int(measures["transfers"].sum()) else None


def widths(found: Hidden | None) -> dict[str, float | str | list[float]] | None:
    """Its width by the calls alone, the narrowest share, and what evidence that has."""
    if found is None or found.share is None or found.kind is None:
        return None
    low, high = found.by["call"]
    return {"call": high - low, "share": list(found.share), "kind": found.kind}


def figures(run: Run) -> dict[str, object]:
    """What one run showed, all shares from 0 to 1."""
    told = diagnose(run)
    account = told.account
    whole = account.whole
    certain = sum(part.low for name, part in whole.causes.items() if name != "unattributed")
    separate_calls_s = sum(
        part.low for name, part in whole.causes.items() if name not in ("unattributed", *MOVING)
    )
    return {
        "mpi": whole.call_s / account.busy_s,
        "certain": certain / whole.call_s,
        "as_one": (separate_calls_s + whole.moving.low) / whole.call_s,
        "large": widths(hidden(run, LARGE_CLASS)),
        "all": widths(hidden(run, 0)),
        "gainable_s": list(whole.gainable.to_json()),
        "lost_overlap_s": list(whole.lost_overlap.to_json()),
        "sentence": told.sentence,
    }


def measure(options: argparse.Namespace, library: str) -> None:
    """Measure what is wanted and keep it in the folder."""
    place = options.folder / f"{library}-{options.hosts}"
    place.mkdir(parents=True, exist_ok=True)
    kept = place / "found.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    if not (options.folder / library / "halo3d").exists():
        build(library, options.folder / library)
    wanted = {name for name in options.apps.split(",") if name}
    with places(library, options.hosts, place) as (run, line):
        profile = place / "machine.json"
        if not profile.exists():
            run([IMBREX, "probe", "--quick", "-q", "--machine", str(profile), "--", *line])
        jobs = [
            (app, size, "0")
            for app, sizes in SIZES.items()
            for size in (sizes if options.hosts == "one" else sizes[1:])
            if not wanted or app.split()[0] in wanted
        ]
        if options.repeat:
            large = SIZES["halo3d --variant blocking"][1]
            helped = PROGRESS if options.progress else ""
            jobs = [(f"halo3d --variant {v}", large, f"{n + 1}{helped}")
                    for n in range(options.repeat) for v in VARIANTS]  # fmt: skip
        for app, size, number in jobs:
            program = [str(options.folder / library / app.split()[0]), *app.split()[1:]]
            words = [IMBREX, "run", "-q", "--force", "-o", str(place / "run")]
            words += ["--progress"] if number.endswith(PROGRESS) else []
            words += ["--machine", str(profile), "--", *line, *program, *size.split()]
            printed = run(words)
            if "verification: PASSED" not in printed:
                sys.exit(f"{app} {size}: {printed}")
            key = f"{app}|{size}|{number}"
            found[key] = figures(load_run(place / "run"))
            kept.write_text(json.dumps(found, indent=1))


def percent(share: float) -> str:
    """Without a digit behind the point, but for what is little."""
    return f"{100 * share:.1f}" if share < 0.0995 else f"{100 * share:.0f}"


def interval(low: float, high: float, scale: float = 100) -> str:
    """Both ends, or one where they are the same."""
    a, b = f"{scale * low:.3g}", f"{scale * high:.3g}"
    return a if a == b else f"{a} to {b}"


def cell(found: dict[str, object] | None) -> str:
    """Width by calls alone, and the share that is told with its evidence."""
    if found is None:
        return "| | "
    low, high = np.asarray(found["share"])
    before = 100 * float(str(found["call"]))
    return f"| {before:.0f} | {100 * low:.0f} to {100 * high:.0f} ({found['kind']}) "


def table(found: dict[str, dict[str, object]]) -> list[str]:
    """One library and network: what each app showed."""
    lines = [
        "| app | problem | MPI, % of the run | one cause, % of it | data as one, %"
        " | 64 KiB and more: points by `call` | hidden, % | all: points by `call` | hidden, %"
        " | the verdict's first sentence |",
        "|---|---|--:|--:|--:|--:|---|--:|---|---|",
    ]
    for key, f in found.items():
        app, size, number = key.split("|")
        if number != "0":
            continue
        certain, as_one = float(str(f["certain"])), float(str(f["as_one"]))
        lines.append(
            f"| {app.replace(' --variant ', ', ')} | `{size}` | {percent(float(str(f['mpi'])))}"
            f" | {percent(certain)} | {percent(as_one)} "
            + cell(f["large"]) + cell(f["all"]) + f"| {f['sentence']} |"  # type: ignore[arg-type]
        )  # fmt: skip
    return lines


def hull(found: list[dict[str, object]], pick: Callable[[dict[str, object]], object]) -> str:
    """From the least to the most that any run showed."""
    ends = np.asarray([pick(f) for f in found], np.float64)
    return interval(float(ends[:, 0].min()), float(ends[:, 1].max()), 1)


def variants(found: dict[str, dict[str, object]]) -> list[str]:
    """The lines of the table of halo3d's variants; none where it was not measured."""
    lines = []
    for variant, helped in product(VARIANTS, (False, True)):
        name = f"halo3d --variant {variant}|"
        runs = [
            f for key, f in found.items()
            if key.startswith(name) and not key.endswith("|0") and key.endswith(PROGRESS) == helped
        ]  # fmt: skip
        if not runs:
            continue
        told = f"{variant}, `--progress`" if helped else variant
        share = hull(runs, lambda f: [100 * x for x in f["large"]["share"]])  # type: ignore[index]
        gain, lost = (
            hull(runs, lambda f, name=name: [1e3 * x for x in f[name]])  # type: ignore[misc]
            for name in ("gainable_s", "lost_overlap_s")
        )
        lines.append(f"| {told} | {len(runs)} | {share} | {gain} | {lost} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--library", choices=["openmpi", "mpich"], help="both unless given")
    parser.add_argument("--hosts", choices=["one", "two"], default="one")
    parser.add_argument("--apps", default="", help="only these, separated by commas")
    parser.add_argument("--repeat", type=int, default=0, help="the variants of halo3d, so often")
    parser.add_argument("--progress", action="store_true", help="those with the progress thread")
    parser.add_argument("--insert", type=Path, help="put what was found so far into this page")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    libraries = [options.library] if options.library else ["openmpi", "mpich"]
    if not options.insert:
        if options.hosts == "two" and os.geteuid() != 0:
            sys.exit("network namespaces need root")
        for library in libraries:
            measure(options, library)
    text: list[str] = []
    for kept in sorted(options.folder.glob("*-*/found.json")):
        found = json.loads(kept.read_text())
        library, hosts = kept.parent.name.split("-")
        name = {"openmpi": "Open MPI 4.1", "mpich": "MPICH 4.0"}[library]
        where = {"one": "two ranks on one node", "two": "a rank on each of two hosts"}[hosts]
        rows = variants(found)
        text += [f"**{name}**, {where}:", "", *table(found), ""]
        if rows:
            told = (
                f"The variants of `halo3d {SIZES['halo3d --variant blocking'][1]}`, {name}, "
                f"{where}: from the least to the most that any of the runs showed."
            )
            text += [
                *textwrap.wrap(told, 100),
                "",
                "| variant | runs | hidden, % | gainable, ms | lost overlap, ms |",
                "|---|--:|---|---|---|",
                *rows,
                "",
            ]
    print("\n".join(text))
    if options.insert:
        insert(options.insert, "\n".join(text).strip(), "attribution")


if __name__ == "__main__":
    main()
