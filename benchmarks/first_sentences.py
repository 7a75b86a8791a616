"""How often the verdict's first sentence names the one fault of constructed programs.

    sudo python benchmarks/first_sentences.py --folder DIR [--library mpich] [--hosts two]
        [--faults saturated,undriven] [--runs 10] [--insert docs/theory/truth.md]

The programs and what their sentence has to name are those of tests/mpi/test_first_sentence.py and
tests/network/test_first_sentence.py. DIR keeps the counts, so that parts measured one after the
other make one table; a sentence that names something else is printed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from apps import IMBREX, ROOT, environment
from network_table import launcher
from page import insert
from two_hosts import two_hosts

sys.path.insert(0, str(ROOT))
from tests.mpi import test_first_sentence as on_one_node
from tests.network import test_first_sentence as on_two_hosts

FAULTS = {
    "late_rank": "a late rank",
    "late_receiver": "a late receiver",
    "undriven": "a rendezvous that nobody drives",
    "late_root": "a root that comes late",
    "saturated": "a saturated link",
}


def built(library: str, case: str, folder: Path) -> Path:
    """The program of one fault."""
    program = folder / f"{case}-{library}"
    source = on_one_node.PROGRAMS / f"{case}.c"
    words = [f"mpicc.{library}", "-g", "-O1", "-w", "-o", str(program), str(source)]
    subprocess.run(words, check=True)
    return program


def count(runs: int, sentence: Callable[[], str], expected: str) -> list[int]:
    """How many sentences name the fault, of how many."""
    named = 0
    for _ in range(runs):
        text = sentence()
        if re.match(rf"MPI [\d.]+ %: [\d.]+(?: to [\d.]+)? % {expected}", text):
            named += 1
        else:
            print(f"not named: {text}", flush=True)
    return [named, runs]


def one_node(library: str, runs: int, folder: Path, faults: list[str]) -> dict[str, list[int]]:
    """Two or four ranks of this machine."""
    found = {}
    for case, (ranks, expected) in on_one_node.CASES.items():
        if case not in faults:
            continue
        many = ["--oversubscribe"] if library == "openmpi" else []
        options = on_one_node.TCP_ALONE[library] if case == "undriven" else ()
        line = [f"mpirun.{library}", *many, *options, "-n", str(ranks)]
        line.append(str(built(library, case, folder)))

        def sentence(line: list[str] = line) -> str:
            out = str(folder / "run")
            for words in (
                ["run", "-q", "--force", "-o", out, "--", *line],
                ["show", "--json", out],
            ):
                done = subprocess.run(
                    [IMBREX, *words], env=environment(), capture_output=True, text=True, cwd=folder
                )
                if done.returncode:
                    sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
            return str(json.loads(done.stdout)["totals"]["sentence"])

        found[case] = count(runs, sentence, expected)
        print(library, "one node", case, found[case], flush=True)
    return found


def hosts(library: str, runs: int, faults: list[str]) -> dict[str, list[int]]:
    """A rank, or two that share the link, on each of two hosts."""
    found = {}
    with two_hosts(apart=False) as network:
        line = launcher(library, network.folder)
        machine = network.folder / "machine.json"
        network.imbrex("calibrate", "--quick", "-q", "-o", str(machine), "--", *line)
        for case, expected in on_two_hosts.CASES.items():
            if case not in faults:
                continue
            program = str(built(library, case, network.folder))
            words, profile, at_its_rate = line, machine, nullcontext()
            if case == "saturated":
                words = [w.replace("node1,node2", "node1:2,node2:2") for w in line[:-1]] + ["4"]
                profile = on_two_hosts.slow_profile(machine, network.folder / "slow.json")
                at_its_rate = on_two_hosts.slow(network)
            options = ["-q", "--force", "-o", "run", "--machine", str(profile), "--", *words]

            def sentence(command: tuple[str, ...] = (*options, program, "synchronous")) -> str:
                network.imbrex("run", *command)
                shown = json.loads(network.imbrex("show", "run", "--json"))
                return str(shown["totals"]["sentence"])

            with at_its_rate:
                found[case] = count(runs, sentence, expected)
            print(library, "two hosts", case, found[case], flush=True)
    return found


def table(folder: Path) -> list[str]:
    """Faults as rows, libraries and places as columns."""
    names = {"openmpi": "Open MPI 4.1", "mpich": "MPICH 4.0"}
    columns = {
        f"{name}, {place}": folder / f"{library}-{kept}.json"
        for library, name in names.items()
        for kept, place in (("one", "one node"), ("two", "two hosts"))
    }
    counts = {c: json.loads(f.read_text()) if f.exists() else {} for c, f in columns.items()}
    lines = ["| fault | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for case, fault in FAULTS.items():
        cells = [" of ".join(map(str, counts[c].get(case, [""]))) for c in columns]
        lines.append(f"| {fault} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--library", choices=["openmpi", "mpich"], help="both unless given")
    parser.add_argument("--hosts", choices=["one", "two"], default="one")
    parser.add_argument("--faults", default=",".join(FAULTS), help="separated by commas")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--insert", type=Path, help="put what was found so far into this page")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not options.insert:
        faults = options.faults.split(",")
        for library in [options.library] if options.library else ["openmpi", "mpich"]:
            kept = folder / f"{library}-{options.hosts}.json"
            found = json.loads(kept.read_text()) if kept.exists() else {}
            if options.hosts == "two":
                found |= hosts(library, options.runs, faults)
            else:
                found |= one_node(library, options.runs, folder, faults)
            kept.write_text(json.dumps(found))
    lines = table(folder)
    print("\n".join(lines))
    if options.insert:
        insert(options.insert, "\n".join(lines), "first sentences")


if __name__ == "__main__":
    main()
