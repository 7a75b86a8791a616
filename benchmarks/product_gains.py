"""What `imbrex transform` brings a product of matrices whose panels are broadcast in each step.

    python benchmarks/product_gains.py [--points 1024,2048] [--nodes 4,16]
                                       [--insert docs/theory/transform-gains.md]

The program is benchmarks/products/summa.c, as it is and rewritten, simulated by SimGrid's SMPI on
networks of `nas_gains.py`, and as it is on a network that costs nothing, which is the most that any
overlap could gain. Computation is not measured but taken to last as long as it would at FLOPS a
second, copies too, those that the rewrite adds among them: the figures are the same on any machine,
however busy. That both give the same product is asked first, with what they really compute.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from nas_gains import CLUSTERS, Cluster, compiled, simulated
from page import insert
from transform_gains import seconds_of, simulate

SOURCE = Path(__file__).with_name("products") / "summa.c"
FLOPS = 2e9  # of one core, as naive loops over blocks in the cache reach them
COPIED = 5e9  # bytes a second
MODEL = f"""
#include <smpi/smpi.h>
#define multiply(n, a, b, c) smpi_execute(2.0 * (n) * (n) * (n) / {FLOPS})
#define memcpy(to, from, size) (smpi_execute((size) / {COPIED}), memcpy(to, from, size))
"""


def versions(folder: Path, points: str) -> tuple[dict[str, str], str]:
    """The programs as they are and rewritten, and how many of their calls are rewritten."""
    outcome = transform([SOURCE], Options())
    built = {}
    answers = set()
    for side, texts in (("before", outcome.before), ("after", outcome.after)):
        (folder / side).mkdir(parents=True)
        source = folder / side / SOURCE.name
        text = texts[str(SOURCE)].decode()
        for really in (True, False):
            source.write_text(text if really else text.replace("int main(", f"{MODEL}\nint main("))
            words = ["-DPOINTS=192" if really else f"-DPOINTS={points}"]
            built[side] = str(compiled(source, ("smpicc", "smpif90"), words))
            if really:
                begin = simulated(4, CLUSTERS[-1], False, folder / "cluster.xml")
                said = subprocess.run([*begin, built[side]], capture_output=True, text=True)
                answers.add(said.stdout.partition("\n")[2])
    if len(answers) != 1 or "verification: " not in answers.pop():
        raise SystemExit("the products differ")
    done = sum(decision.decision == "rewritten" for decision in outcome.decisions)
    return built, f"{done} of {len(outcome.decisions)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", default="1024,2048")
    parser.add_argument("--nodes", default="4,16")
    parser.add_argument("--insert", type=Path, help="the page that has the table")
    arguments = parser.parse_args()
    lines = [
        "| program | sites rewritten | points | network | nodes | before | after | at most |",
        "|---|---|--:|---|--:|--:|--:|--:|",
    ]
    for points in arguments.points.split(","):
        for ranks in map(int, arguments.nodes.split(",")):
            for cluster in CLUSTERS[1:]:
                with tempfile.TemporaryDirectory() as scratch:
                    folder = Path(scratch)
                    built, share = versions(folder, points)
                    lines.append(line(folder, built, share, points, ranks, cluster))
                    print(lines[-1], flush=True)
    if arguments.insert:
        insert(arguments.insert, "\n".join(lines), "products")


def line(
    folder: Path, built: dict[str, str], share: str, points: str, ranks: int, cluster: Cluster
) -> str:
    """A row of the table."""
    fixed = "--cfg=smpi/simulate-computation:no"
    begin = [*simulated(ranks, cluster, False, folder / "cluster.xml"), fixed]
    free = [*simulated(ranks, cluster, True, folder / "free.xml"), fixed]
    runs = {side: [*begin, program] for side, program in built.items()}
    runs["free"] = [*free, built["before"]]
    time_s = {side: seconds_of(simulate(run), side) for side, run in runs.items()}
    gains = {side: 100 * (1 - time_s[side] / time_s["before"]) for side in ("after", "free")}
    cells = ["SUMMA", share, f"{points}²", cluster.name, str(ranks), f"{time_s['before']:.4f}"]
    cells += [f"{time_s['after']:.4f} ({gains['after']:+.1f} %)", f"{gains['free']:.1f} %"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
