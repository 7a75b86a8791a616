"""Stencils that reach several layers: as many iterations are cut off, each end by its own nest.

Each program that must stay differs from one that is divided in what would make that wrong.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "layers.f90").read_text()
BODY = "0.1d0*c*(a(i,j+2) - a(i,j-2))"
LOOPS = "    do j = 1, jm\n      do i = 1, im\n"
ENDS = "      end do\n    end do\n  end subroutine\nend module"
# name: (replacements, how many iterations are cut off at an end; none: it stays whole)
CASES: dict[str, tuple[dict[str, str], int]] = {
    "two layers": ({}, 2),
    "one layer": ({BODY: "0.1d0*c*(a(i,j+1) - a(i,j-1))"}, 1),
    "three layers": ({BODY: "0.1d0*c*(a(i,j+3) - a(i,j-3))", "jm+2": "jm+3", "-1:jm": "-2:jm"}, 3),
    "four layers": ({BODY: "0.1d0*c*(a(i,j+4) - a(i,j-4))", "jm+2": "jm+4", "-1:jm": "-3:jm"}, 0),
    "any layer": ({BODY: "0.1d0*c*(a(i,j+2) - a(i,mod(j,3)))"}, 0),
    "what is set is read": ({BODY: "b(i,j-1)", "c*(a(i,j+1) - a(i,j-1))": "c"}, 0),
    "a directive": ({"    do j = 1, jm\n": "    !$omp parallel do\n    do j = 1, jm\n"}, 2),
    "a directive that joins values": (
        {"    do j = 1, jm\n": "    !$omp parallel do lastprivate(i)\n    do j = 1, jm\n"},
        0,
    ),
    "a label, one layer": (
        {
            BODY: "0.1d0*c*(a(i,j+1) - a(i,j-1))\n   20 continue",
            LOOPS: LOOPS.replace("do", "do 20"),
            ENDS: ENDS[ENDS.index("  end subroutine") :],
        },
        1,
    ),
    "a label, two layers": (
        {
            BODY: f"{BODY}\n   20 continue",
            LOOPS: LOOPS.replace("do", "do 20"),
            ENDS: ENDS[ENDS.index("  end subroutine") :],
        },
        0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_divided(name: str, tmp_path: Path) -> None:
    replacements, depth = CASES[name]
    path = tmp_path / "case.f90"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode()
    found = r"subroutine advect_interior.*?do (?:20 )?j = (\d+), jm - (\d+)"
    interior = re.search(found, text, re.DOTALL)
    assert (interior is not None) is (depth > 0), text
    if interior is not None:
        assert interior.groups() == (str(1 + depth), str(depth))
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after[str(path)] == outcome.after[str(path)]


def test_directive_of_each_end(tmp_path: Path) -> None:
    """Each nest that is cut off has the directive, and its end, of the whole."""
    directive = "    !$omp parallel do private(i)\n"
    path = tmp_path / "case.f90"
    text = changed(PROGRAM, {"    do j = 1, jm\n": f"{directive}    do j = 1, jm\n"})
    end = "    end do\n  end subroutine\nend module"
    path.write_text(changed(text, {end: end.replace("\n", "\n    !$omp end parallel do\n", 1)}))
    text = transform([path], Options()).after[str(path)].decode()
    boundary = text.partition("subroutine advect_boundary")[2].partition("end subroutine")[0]
    lines = [line.strip() for line in boundary.splitlines() if "omp" in line or "do j" in line]
    ends = "!$omp end parallel do"
    assert [line.partition(" j")[0] for line in lines] == [directive.strip(), "do", ends] * 2


def test_each_iteration_once(tmp_path: Path) -> None:
    """Of loops from none to several iterations, each is in one nest, in both languages."""
    path = tmp_path / "case.f90"
    path.write_text(PROGRAM)
    text = transform([path], Options()).after[str(path)].decode()
    headers = re.findall(r"    (do j = [^\n]*)\n", text.partition("_interior(a")[2])
    headers = [header for header in headers if "jm" in header][:3]
    assert len(headers) == 3
    loops = "\n".join(f"{header}\n n(j) = n(j) + 1\n end do" for header in headers)
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("no gfortran")
    source = tmp_path / "check.f90"
    source.write_text(
        f"program p\n integer :: n(-9:9), j, jm\n do jm = -2, 7\n n = 0\n{loops}\n"
        " if (any(n(1:jm) /= 1) .or. sum(n) /= max(jm, 0)) stop 1\n end do\n end\n"
    )
    subprocess.run([compiler, "-fcheck=bounds", str(source), "-o", str(tmp_path / "p")], check=True)
    subprocess.run([str(tmp_path / "p")], check=True)


C = """\
#include <mpi.h>
#include <stdio.h>
static double u[44][62], v[44][62];
static int n = 40;
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int t = 0; t < 20; t++) {
        MPI_Sendrecv(u[40], 2 * 62, MPI_DOUBLE, 0, 0, u[0], 2 * 62, MPI_DOUBLE, 0, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int j = 2; j < n + 2; j++)
            for (int i = 1; i <= 60; i++)
                v[j][i] = 0.5 * (u[j - 2][i] + u[j][i]);
        for (int j = 2; j < n + 2; j++)
            for (int i = 1; i <= 60; i++)
                u[j][i] = v[j][i];
    }
    printf("%g\\n", u[3][3]);
    MPI_Finalize();
    return 0;
}
"""


def test_c(tmp_path: Path) -> None:
    path = tmp_path / "case.c"
    path.write_text(C)
    text = transform([path], Options()).after[str(path)].decode()
    assert "for (int j = 4; j < n + 2; j++)" in text
    assert "for (int j = 2; j <= (3 < n + 1 ? 3 : n + 1); j++)" in text
