"""Random programs by the thousand: same results after the rewrite, clean under the guard.

    python benchmarks/transform_random.py [--library openmpi] [--first SEED] [--count N]
                                          [--language c|cpp|f|f90] [--guard]

The programs are those of the test, tests/mpi/transform/batch.py, 100 to an executable, on two
ranks; a second rewrite must change nothing. --guard runs what the rewrites make once more under
`imbrex run --guard`, which sees every access but for some of C++'s library. Prints what was done;
names what is not as it should be in each batch, and fails at the end where there was any.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests" / "mpi" / "transform"
sys.path.insert(0, str(TESTS))
import batch  # noqa: E402  # type: ignore[import-not-found]

# The compiler's wrapper, and the command of Imbrex that records accesses.
_COMPILERS = {
    "c": ("mpicc", "cc"),
    "cpp": ("mpicxx", "cxx"),
    "f": ("mpifort", "fc"),
    "f90": ("mpifort", "fc"),
}
# Above -O0 gcc does not instrument what becomes of `std::copy` with a constant size.
_GUARDED = {"c": "-O1", "cpp": "-O0", "f": "-O1", "f90": "-O1"}
# Above -O1 gfortran keeps values over the wait of a persistent receive, as Fortran lets it.
_PLAIN = {"c": "-O2", "cpp": "-O2", "f": "-O1", "f90": "-O1"}
_BATCH = 100
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_IMBREX = [sys.executable, "-m", "imbrex.cli"]


class WrongRewriteError(Exception):
    """What a rewrite made is not as it should be."""


def program_of(finding: str) -> str:
    """The random program that a finding is in, by the routine's name or the file's."""
    names = re.findall(r"program_\d+|part\d+", finding)
    return max(names, key=len) if names else "?"


def guarded(program: Path, library: str, folder: Path) -> dict[str, Any]:
    """What the guard says of a program; it runs in a folder of its own."""
    folder.mkdir()
    command = [*_IMBREX, "run", "-q", "--guard", "-o", "run", "--", f"mpirun.{library}"]
    subprocess.run([*command, "-n", "2", str(program)], cwd=folder, check=True, timeout=600)
    found: dict[str, Any] = json.loads((folder / "run" / "guard.json").read_text())
    return found


def seen(build: Callable[[str], Path], library: str, folder: Path) -> Counter[str]:
    """Transfers of which no buffer is used meanwhile, and whether some accesses were not seen.

    `build` makes the executable of a side, `after` or `before`. Some programs name a row of memory
    twice and use it while it is in flight as they are generated; these are counted. Raises
    WrongRewriteError where a program does so that did not.
    """
    found = guarded(build("after"), library, folder / "guard")
    counts = Counter({"guarded transfers": found["transfers"]})
    if not found["exact"]:
        counts["batches with accesses that the compiler does not show"] = 1
    if found["findings"]:
        before = guarded(build("before"), library, folder / "guard-before")
        wrong, known = (
            {program_of(json.dumps(finding)) for finding in report["findings"]}
            for report in (found, before)
        )
        if not wrong <= known:
            raise WrongRewriteError(f"a buffer is used while it is in flight: {wrong - known}")
        counts["programs with such uses as they are generated"] = len(wrong)
    return counts


def check(first: int, count: int, language: str, library: str, guard: bool) -> Counter[str]:
    """The calls rewritten in the programs of these seeds, and what the guard saw.

    Raises WrongRewriteError where one of them is not as it should be.
    """
    compiler = f"{_COMPILERS[language][0]}.{library}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with batch.workers() as pool:
            parts = batch.make_parts(pool, language, first, count, folder)
        for part in parts:
            if not part.empty_second_run:
                raise WrongRewriteError(f"a second run changes the part at {part.seeds[0]}")
        outputs = []
        for side in ("before", "after"):
            texts = {part.seeds[0]: getattr(part, side) for part in parts}
            program = batch.build([compiler, _PLAIN[language]], language, texts, folder / side)
            outputs.append(batch.results(f"mpirun.{library}", program, folder / f"{side}.run"))
        if difference := batch.first_difference(*outputs):
            raise WrongRewriteError(difference)
        done: Counter[str] = sum((part.calls for part in parts), Counter())
        done["programs"] = count
        if guard:
            words = [*_IMBREX, _COMPILERS[language][1], f"--compiler={compiler}"]
            words += ["-g", _GUARDED[language]]

            def build(side: str) -> Path:
                texts = {part.seeds[0]: getattr(part, side) for part in parts}
                return Path(batch.build(words, language, texts, folder / f"guarded-{side}"))

            done += seen(build, library, folder)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--language", choices=tuple(_COMPILERS), help="one alone; else all")
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--count", type=int, default=1000, help="in each language")
    parser.add_argument("--guard", action="store_true")
    arguments = parser.parse_args()
    os.environ.update(_ROOT)
    begin = time.monotonic()
    wrong = 0
    for language in [arguments.language] if arguments.language else _COMPILERS:
        done: Counter[str] = Counter()
        for offset in range(0, arguments.count, _BATCH):
            count = min(_BATCH, arguments.count - offset)
            first = arguments.first + offset
            try:
                done += check(first, count, language, arguments.library, arguments.guard)
            except (WrongRewriteError, subprocess.SubprocessError, RuntimeError) as error:
                wrong += 1
                print(f"{language}, seeds {first} to {first + count - 1}: {error}", flush=True)
            spent = time.monotonic() - begin
            print(f"{language}: {dict(done)}, {spent:.0f} s", flush=True)
    if wrong:
        raise SystemExit(f"{wrong} batches are not as they should be")


if __name__ == "__main__":
    main()
