"""What `imbrex transform` brings NAS IS itself, as SimGrid ships it (examples/smpi/NAS).

    python benchmarks/nas_is.py FOLDER [--classes A] [--nodes 2,4,16] [--pairs 5]
                                       [--insert docs/theory/transform-gains.md]

FOLDER has is.c and nas_common.c. They are read with a header `smpi/mpi.h` that includes `mpi.h`,
and print the time with more digits; else they are as they are shipped. Simulated by SMPI on the
networks of `nas_gains.py`, as they are, rewritten, and on a network that costs nothing, in turns.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from nas_gains import CLUSTERS, KERNELS, row, simulated
from page import insert
from transform_gains import in_turns, simulate

FILES = ("is.c", "nas_common.c")
HEADER = "#include <mpi.h>\n#define TRACE_smpi_set_category(x)\n"
# How it says what the other programs of the benchmarks say.
SAID = {
    r" Time in seconds = +%12\.2f": "time: %.6f s",
    r" Verification +=": "verification:",
}


def sources(folder: Path, into: Path) -> list[Path]:
    """The files in a folder of their own, printing as the others of the benchmarks do."""
    (into / "smpi").mkdir(parents=True)
    (into / "smpi" / "mpi.h").write_text(HEADER)
    for name in (*FILES, "nas_common.h"):
        text = (folder / name).read_text()
        for theirs, ours in SAID.items():
            text, found = re.subn(theirs, ours, text)
            if name == "nas_common.c" and not found:
                raise SystemExit(f"{folder / name} prints nothing like `{theirs}`")
        (into / name).write_text(text)
    return [into / name for name in FILES]


def compiled(files: list[Path]) -> Path:
    program = files[0].with_suffix(".x")
    command = ["smpicc", "-O2", "-w", f"-I{files[0].parent}", *map(str, files), "-lm"]
    done = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{files[0].parent} does not build:\n{done.stderr}")
    return program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--classes", default="A")
    parser.add_argument("--nodes", default="2,4,16")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--insert", type=Path)
    arguments = parser.parse_args()
    lines = [
        "| kernel | sites rewritten | class | network | nodes | before | after | at most | paper |",
        "|---|---|---|---|--:|---|---|--:|---|",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        before, after = (sources(arguments.folder, Path(scratch) / n) for n in ("before", "after"))
        outcome = transform(after, Options(flags=[f"-I{after[0].parent}"]))
        for file in after:
            file.write_bytes(outcome.after[str(file)])
        done = sum(decision.decision == "rewritten" for decision in outcome.decisions)
        programs = {"before": str(compiled(before)), "after": str(compiled(after))}
        for size in arguments.classes.split(","):
            for ranks in map(int, arguments.nodes.split(",")):
                for cluster in CLUSTERS:
                    platform = Path(scratch) / "cluster.xml"
                    begin = simulated(ranks, cluster, False, platform)
                    free = simulated(ranks, cluster, True, Path(scratch) / "free.xml")
                    given = [str(ranks), size]
                    runs = {side: [*begin, p, *given] for side, p in programs.items()}
                    runs["free"] = [*free, programs["before"], *given]
                    times = in_turns(runs, arguments.pairs, simulate)
                    first = ["NAS IS", f"{done} of {len(outcome.decisions)}", size, cluster.name]
                    lines.append(row([*first, str(ranks)], times, KERNELS["is"].paper))
                    print(lines[-1], flush=True)
    if arguments.insert:
        insert(arguments.insert, "\n".join(lines), "nas-is")


if __name__ == "__main__":
    main()
