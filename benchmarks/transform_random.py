"""Random programs by the thousand: same results after the rewrite, clean under the guard.

    python benchmarks/transform_random.py [--library openmpi] [--first SEED] [--count N] [--guard]

The programs are those of tests/mpi/transform/generate.py, ten to a file, half of them in C and half
in Fortran, on two ranks; a second rewrite must change nothing. --guard runs what the rewrites make
once more under `imbrex run --guard`, every access seen. Prints what was done; fails at the first
program that is not as it should be, and names its seed. About a second for each program.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from imbrex.transform.engine import Options, transform

TESTS = Path(__file__).resolve().parents[1] / "tests" / "mpi" / "transform"
sys.path.insert(0, str(TESTS))
import generate  # noqa: E402  # type: ignore[import-not-found]

_GROUP = 10
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(words: list[str], folder: Path) -> None:
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=300, env=os.environ | _ROOT
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} fails:\n{done.stdout}{done.stderr}")


def results(program: Path, library: str, folder: Path) -> list[str]:
    """What each rank wrote to its own file."""
    folder.mkdir()
    run([f"mpirun.{library}", "-n", "2", str(program)], folder)
    return [(folder / f"rank{rank}.txt").read_text() for rank in (0, 1)]


def findings(source: Path, compiler: str, library: str, folder: Path) -> int:
    """Forbidden uses of buffers in flight, each access seen."""
    imbrex = [sys.executable, "-m", "imbrex.cli"]
    program, out = folder / "guarded", folder / "guard"
    language = "cc" if source.suffix == ".c" else "fc"
    words = ["-w", "-g", "-O1", str(source), "-o", str(program)]
    run([*imbrex, language, f"--compiler={compiler}", *words], folder)
    command = ["run", "-q", "--guard", "-o", str(out), "--", f"mpirun.{library}", "-n", "2"]
    run([*imbrex, *command, str(program)], folder)
    found = json.loads((out / "guard.json").read_text())
    if not found["exact"]:
        raise SystemExit("the guard did not see every access")
    return len(found["findings"])


def check(seeds: list[int], language: str, library: str, guard: bool) -> Counter[str]:
    """The rewrites done in the programs of these seeds.

    Raises SystemExit where one of them is not as it should be.
    """
    make = generate.c_source if language == "c" else generate.fortran_source
    compiler = f"mpicc.{library}" if language == "c" else f"mpifort.{library}"
    where = f"{language}, seeds {seeds[0]} to {seeds[-1]}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        before, after = folder / f"before.{language}", folder / f"after.{language}"
        before.write_text(make(seeds))
        outcome = transform([before], Options())
        text = outcome.after[str(before)]
        after.write_bytes(text)
        if transform([before], Options(contents={before: text})).after[str(before)] != text:
            raise SystemExit(f"{where}: a second run changes the program")
        outputs = []
        for source in (before, after):
            program = folder / source.stem
            run([compiler, "-O2", "-w", str(source), "-o", str(program)], folder)
            outputs.append(results(program, library, folder / f"{source.stem}.run"))
        if outputs[0] != outputs[1]:
            raise SystemExit(f"{where}: the results differ")
        if guard and findings(after, compiler, library, folder):
            raise SystemExit(f"{where}: a buffer is used while it is in flight")
    return Counter(name for decision in outcome.decisions for name in decision.rewrites)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--guard", action="store_true")
    arguments = parser.parse_args()
    done: Counter[str] = Counter()
    for begin in range(0, arguments.count, _GROUP):
        seeds = [arguments.first + begin + n for n in range(_GROUP)]
        language = "cf"[(begin // _GROUP) % 2]
        done += check(seeds, language, arguments.library, arguments.guard)
        print(f"{begin + _GROUP} programs, calls rewritten: {dict(done)}", flush=True)


if __name__ == "__main__":
    main()
