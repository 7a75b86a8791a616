"""Random programs with an MPI that moves data as late as it may, each rank beside a made-up one.

Beside what the programs on real ranks hold, these have loops of several statements, exchanges in
routines of their own, and routines around these: what the rewrites that make room work on.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from imbrex.transform.engine import Options, transform
from imbrex.transform.readers.c_source import HEADERS

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
GENERATE = HERE.parents[1] / "mpi" / "transform" / "generate.py"
SEEDS = {"c": [400, 408, 412, 414, 423], "f": [401, 406, 408, 414, 420]}

C_ROUTINES = """
static double gout[50], gin[50];

static void swap(double *x, double *y)
{
    for (int i = 0; i < 50; i++)
        gout[i] = 0.5 * x[i + 100];
    MPI_Sendrecv(gout, 50, MPI_DOUBLE, peer, 11, gin, 50, MPI_DOUBLE, peer, 11, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 50; i++)
        y[i + 2000] = 0.5 * y[i + 2000] + gin[i];
}

static void ends(double *x, double *y)
{
    MPI_Sendrecv(&x[1], 10, MPI_DOUBLE, peer, 12, &y[LENGTH - 20], 10, MPI_DOUBLE, peer, 12,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void both(double *x, double *y, double *z)
{
    swap(x, y);
    ends(x, z);
}
"""
F_ROUTINES = """
      subroutine swap(x, y)
%s
      double precision x(n), y(n), gout(50), gin(50)
      common /bufs/ gout, gin
      integer i, ierr
      do i = 1, 50
        gout(i) = 0.5d0 * x(i + 100)
      end do
      call MPI_SENDRECV(gout, 50, MPI_DOUBLE_PRECISION, peer, 11, gin,
     &    50, MPI_DOUBLE_PRECISION, peer, 11, MPI_COMM_WORLD,
     &    MPI_STATUS_IGNORE, ierr)
      do i = 1, 50
        y(i + 2000) = 0.5d0 * y(i + 2000) + gin(i)
      end do
      end

      subroutine ends(x, y)
%s
      double precision x(n), y(n)
      integer ierr
      call MPI_SENDRECV(x(2), 10, MPI_DOUBLE_PRECISION, peer, 12,
     &    y(2980), 10, MPI_DOUBLE_PRECISION, peer, 12, MPI_COMM_WORLD,
     &    MPI_STATUS_IGNORE, ierr)
      end

      subroutine both(x, y, z)
%s
      double precision x(n), y(n), z(n)
      call swap(x, y)
      call ends(x, z)
      end
"""


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """The generator of the programs on real ranks, with more kinds of statements."""
    spec = importlib.util.spec_from_file_location("generate_rooms", GENERATE)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules["generate_rooms"] = module
    sys.path.insert(0, str(GENERATE.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(GENERATE.parent))

    class Rooms(module.Generator):  # type: ignore[misc]
        def several(self) -> None:
            """A loop of two or three statements."""
            low, high = self.random.choice([2, 100]), self.random.choice([1499, module.LENGTH - 1])
            self.out.put(f"for (int i = {low - 1}; i < {high}; i++) {{", f"do i = {low}, {high}")
            self.out.depth += 1
            for _ in range(self.random.choice([2, 3, 3])):
                x, y = self.array(), self.array()
                shift = self.random.choice(["-1", "+0", "+0", "+1"])
                c = f"{x}[i] = 0.25 * {x}[i] + 0.5 * {y}[i {shift}] + 0.125;"
                f = f"{x}(i) = 0.25d0*{x}(i) + 0.5d0*{y}(i {shift}) + 0.125d0"
                if self.random.random() < 0.5:
                    c, f = c.replace(f"0.25 * {x}[i] + ", ""), f.replace(f"0.25d0*{x}(i) + ", "")
                self.out.put(c, f)
            self.out.depth -= 1
            self.out.put("}", "end do")

        def wrapped(self) -> None:
            names = [name for name in module.ARRAYS if name not in self.busy]
            if self.busy or len(names) < 3:
                self.loop()
                return
            x, y, z = self.random.sample(names, 3)
            which = self.random.choice([f"swap({x}, {y})", f"ends({x}, {y})"])
            which = self.random.choice([which, f"both({x}, {y}, {z})"])
            self.out.put(f"{which};", f"call {which}")

        def block(self, count: int) -> None:
            for _ in range(count):
                kind = self.random.random()
                if kind < 0.2:
                    self.wrapped()
                elif kind < 0.5:
                    self.several()
                else:
                    super().block(1)

    module.Generator = Rooms
    module.C_HEAD += C_ROUTINES
    module.F_TAIL += F_ROUTINES.replace("%s", module.F_DECLARATIONS.rstrip("\n"))
    return module


def results(text: bytes, language: str, folder: Path) -> list[tuple[int, str, str]]:
    """What each rank prints and sends."""
    source, program, library = folder / f"case.{language}", folder / "case", folder / "late.o"
    source.write_bytes(text)
    headers = ["-idirafter", str(HEADERS)]
    if not library.is_file():
        command = ["gcc", "-c", "-O1", *headers, str(HERE / "deferred_mpi.c"), "-o", str(library)]
        subprocess.run(command, check=True)
    command = ["gcc", "-O1", *headers] if language == "c" else ["gfortran", "-I", str(HEADERS)]
    subprocess.run(
        [*command, "-w", str(source), str(library), "-o", str(program)], check=True, cwd=folder
    )
    found = []
    for rank in ("0", "1"):
        environment = {**os.environ, "DEFERRED_RANK": rank}
        (folder / f"rank{rank}.txt").unlink(missing_ok=True)  # the programs append
        done = subprocess.run(
            [str(program)], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
        )
        printed = (folder / f"rank{rank}.txt").read_text()
        found.append((done.returncode, done.stderr, printed))
    return found


@pytest.mark.parametrize("language", ["c", "f"])
def test_same_results(language: str, generate: ModuleType, tmp_path: Path) -> None:
    if not shutil.which("gcc") or (language == "f" and not shutil.which("gfortran")):
        pytest.skip("gcc or gfortran is missing")
    make = generate.c_source if language == "c" else generate.fortran_source
    source = tmp_path / f"program.{language}"
    source.write_text(make(SEEDS[language]))
    outcome = transform([source], Options())
    kinds = {name for d in outcome.decisions for name in d.rewrites if d.decision == "rewritten"}
    assert {"nonblocking", "loop-distribution", "wrappers"} <= kinds
    before = results(outcome.before[str(source)], language, tmp_path)
    assert all(code == 0 and "sent" in summary for code, summary, _ in before)
    assert results(outcome.after[str(source)], language, tmp_path) == before
