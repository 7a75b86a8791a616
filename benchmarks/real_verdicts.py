"""The whole verdict of programs that are not ours: LAMMPS, the HPC Challenge, a solver in Python.

    python benchmarks/real_verdicts.py --folder DIR [--python venv/bin/python]
        [--programs melt,salt] [--insert docs/theory/apps.md]

Two ranks of the library's mpirun on this machine. DIR keeps the runs, so that programs measured one
after the other make one page; `--python` is an interpreter with mpi4py and NumPy. A program that is
not installed is left out.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from apps import IMBREX, ROOT, environment
from page import insert

INPUTS = ROOT / "apps" / "real"
PROGRAMS = {
    "melt": "lmp -in melt.lammps -log none",
    "salt": "lmp -in salt.lammps -log none",
    "hpcc": "hpcc",
    "jacobi": "python jacobi_mpi4py.py",
}


def measure(name: str, library: str, folder: Path, python: Path | None) -> None:
    """Run one program, measured; its run stands in the folder by its name."""
    words = PROGRAMS[name].split()
    variables = environment()
    if words[0] == "python":
        if python is None:
            return
        variables["PATH"] = f"{python.parent.absolute()}:{variables['PATH']}"
    elif shutil.which(words[0]) is None:
        return
    for file in INPUTS.iterdir():
        shutil.copy(file, folder)
    (folder / "hpccoutf.txt").unlink(missing_ok=True)  # it would be appended to
    line = [IMBREX, "run", "-q", "--force", "-o", name, "--", f"mpirun.{library}", "-n", "2"]
    done = subprocess.run(
        [*line, *words], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def page(folder: Path, library: str) -> list[str]:
    """Every run of the folder, as `imbrex show` tells it."""
    text: list[str] = []
    for name, line in PROGRAMS.items():
        if not (folder / name / "run.json").exists():
            continue
        shown = subprocess.run(
            [IMBREX, "show", "-q", name], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
        text += ["", "```", f"$ imbrex run -- mpirun.{library} -n 2 {line}", shown.rstrip(), "```"]
    return text[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--library", choices=["openmpi", "mpich"], default="openmpi")
    parser.add_argument("--python", type=Path, help="an interpreter with mpi4py and NumPy")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="separated by commas")
    parser.add_argument("--insert", type=Path, help="put what was found so far into this page")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if not options.insert:
        for name in options.programs.split(","):
            if name not in PROGRAMS:
                sys.exit(f"no program {name}: {', '.join(PROGRAMS)}")
            measure(name, options.library, options.folder, options.python)
    text = "\n".join(page(options.folder, options.library))
    print(text)
    if options.insert:
        insert(options.insert, text, "real")


if __name__ == "__main__":
    main()
