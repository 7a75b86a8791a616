"""Random programs with an MPI that moves data as late as it may, each rank beside a made-up one.

Beside what the programs on real ranks hold, these have loops of several statements, exchanges in
routines of their own, and routines around these: what the rewrites that make room work on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.modules import load

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
GENERATE = HERE.parents[1] / "mpi" / "transform" / "generate.py"
SEEDS = {"c": [501, 502, 503, 505, 506], "f": [401, 406, 408, 414, 420]}

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

static void held(double *x, double *y)
{
    double out[40], in[40];
    MPI_Request q[2];
    MPI_Irecv(in, 40, MPI_DOUBLE, peer, 13, MPI_COMM_WORLD, &q[0]);
    for (int i = 0; i < 40; i++)
        out[i] = 0.25 * x[i + 300];
    MPI_Isend(out, 40, MPI_DOUBLE, peer, 13, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 40; i++)
        y[i + 2500] = 0.5 * y[i + 2500] + in[i];
}

static void stage(double *x, int which)
{
    double out[30], in[30];
    if (which == 0) {
        for (int i = 0; i < 30; i++)
            out[i] = x[i + 10];
        MPI_Sendrecv(out, 30, MPI_DOUBLE, peer, 14, in, 30, MPI_DOUBLE, peer, 14, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < 30; i++)
            x[i + 800] = in[i];
    } else {
        for (int i = 0; i < 30; i++)
            out[i] = x[i + 900];
        MPI_Sendrecv(out, 30, MPI_DOUBLE, peer, 15, in, 30, MPI_DOUBLE, peer, 15, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < 30; i++)
            x[i + 40] = in[i];
    }
}

static void line(double *x, double *y)
{
    int which;
    which = 0;
    stage(x, which);
    for (int i = 1; i < 2000; i++)
        y[i] = 0.5 * y[i] + 0.25 * x[i - 1];
    which = 1;
    stage(x, which);
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

      subroutine held(x, y)
%s
      double precision x(n), y(n), out(40), in(40)
      integer i, ierr, one, two(1), status(MPI_STATUS_SIZE)
      call MPI_IRECV(in, 40, MPI_DOUBLE_PRECISION, peer, 13,
     &    MPI_COMM_WORLD, one, ierr)
      do i = 1, 40
        out(i) = 0.25d0 * x(i + 300)
      end do
      call MPI_ISEND(out, 40, MPI_DOUBLE_PRECISION, peer, 13,
     &    MPI_COMM_WORLD, two(1), ierr)
      call MPI_WAIT(one, status, ierr)
      do i = 1, 40
        y(i + 2500) = 0.5d0 * y(i + 2500) + in(i)
      end do
      call MPI_WAIT(two(1), status, ierr)
      end

      subroutine stage(x, which)
%s
      double precision x(n), out(30), in(30)
      integer which, i, ierr
      if (which .eq. 0) then
        do i = 1, 30
          out(i) = x(i + 10)
        end do
        call MPI_SENDRECV(out, 30, MPI_DOUBLE_PRECISION, peer, 14, in,
     &    30, MPI_DOUBLE_PRECISION, peer, 14, MPI_COMM_WORLD,
     &    MPI_STATUS_IGNORE, ierr)
        do i = 1, 30
          x(i + 800) = in(i)
        end do
      else
        do i = 1, 30
          out(i) = x(i + 900)
        end do
        call MPI_SENDRECV(out, 30, MPI_DOUBLE_PRECISION, peer, 15, in,
     &    30, MPI_DOUBLE_PRECISION, peer, 15, MPI_COMM_WORLD,
     &    MPI_STATUS_IGNORE, ierr)
        do i = 1, 30
          x(i + 40) = in(i)
        end do
      end if
      end

      subroutine line(x, y)
%s
      double precision x(n), y(n)
      integer i, which
      which = 0
      call stage(x, which)
      do i = 2, 2000
        y(i) = 0.5d0 * y(i) + 0.25d0 * x(i - 1)
      end do
      which = 1
      call stage(x, which)
      end
"""


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """The generator of the programs on real ranks, with more kinds of statements."""
    sys.path.insert(0, str(GENERATE.parent))
    try:
        module: Any = load(GENERATE, "generate_rooms")
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
            which = self.random.choice([which, f"held({x}, {y})", f"line({x}, {y})"])
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
    rewrites = {name for d in outcome.decisions for name in d.rewrites if d.decision == "rewritten"}
    assert {"nonblocking", "loop-distribution", "wrappers"} <= rewrites
    before = results(outcome.before[str(source)], language, tmp_path)
    assert all(code == 0 and "sent" in summary for code, summary, _ in before)
    assert results(outcome.after[str(source)], language, tmp_path) == before
