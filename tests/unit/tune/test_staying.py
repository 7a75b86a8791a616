"""What stands in the way of a rewrite that would be worth it, and the patch that is not proven."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.measured import Measured
from imbrex.transform.options import Options
from imbrex.transform.rewrites.base import Site
from imbrex.tune.source_candidates import _suggested
from imbrex.tune.sources import Sources
from imbrex.tune.staying import Staying, staying

PROGRAM = """#include <mpi.h>
#include <stdio.h>
static double u[100], w[100];
static int where[100];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Recv(u, 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++)
        u[where[i]] = 2.0 * w[i];
    printf("%g\\n", u[0]);
    MPI_Finalize();
    return 0;
}
"""
LOOP = "    for (int i = 0; i < 100; i++)\n        u[where[i]] = 2.0 * w[i];\n"
USED = PROGRAM.replace(
    LOOP, "    w[0] = 2.0 * u[0];\n    for (int i = 1; i < 100; i++)\n        w[i] = i;\n"
)


class Shares(Measured):
    """The receive could save a fifth of the run."""

    def share(self, site: Site) -> float:
        return 0.2 if site.call.name in ("MPI_Recv", "MPI_Irecv") else 0.0


def stays(folder: Path, text: str, worth: float = 0.01, gainable: float = 1.0) -> list[Staying]:
    file = folder / "src" / "app.c"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    sources = Sources(folder / "app", folder, folder, (file,), (), {}, "make")
    outcome = transform([file], Options())
    return staying(sources, Options(), outcome, Shares(1.0), worth, gainable)


def test_one_line_says_what_stands_in_the_way_and_what_to_do(tmp_path: Path) -> None:
    (found,) = stays(tmp_path, PROGRAM)
    assert found.told.startswith(
        "app.c:8 (MPI_Recv) stays as it is, though it could save at most 20 %"
    )
    assert "`u` may be set here" in found.told or "`u`" in found.told
    assert ". What would help: " in found.told
    assert "\n" not in found.told
    assert stays(tmp_path, PROGRAM, worth=0.3) == []
    (less,) = stays(tmp_path, PROGRAM, gainable=0.05)
    assert "though it could save at most 5 %" in less.told


def test_nothing_is_told_of_a_start_whose_wait_moves(tmp_path: Path) -> None:
    start = "MPI_Irecv(u, 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);\n"
    wait = "    MPI_Wait(&request, MPI_STATUS_IGNORE);\n"
    declared = "    MPI_Request request;\n    MPI_Init"
    lines = PROGRAM.replace("    MPI_Init", declared).splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if "MPI_Recv" in line)
    text = "".join([*lines[:at], f"    {start}", wait, *lines[at + 1 :]])
    (found,) = stays(tmp_path, text)
    assert "(MPI_Irecv)" in found.told
    moving = text.replace("u[where[i]] = 2.0 * w[i];", "w[i] = 2.0 * w[i];")
    assert stays(tmp_path, moving) == []


def test_the_patch_applies_and_says_that_nothing_is_proven(tmp_path: Path) -> None:
    found = stays(tmp_path, PROGRAM)
    out = tmp_path / "found"
    out.mkdir()
    (out / "suggestion-2.patch").write_text("of an earlier start")
    (line,) = _suggested(out, found, wanted=True)
    assert line.endswith(". How: suggestion-1.patch (not proven, not applied)")
    assert [file.name for file in out.iterdir()] == ["suggestion-1.patch"]
    patch = out / "suggestion-1.patch"
    text = patch.read_text()
    assert text.startswith("Not proven, not applied: ")
    assert "+#pragma imbrex independent(u)" in text
    assert "+    /* imbrex: not proven: " in text
    assert "MPI_Irecv(" in text
    assert (tmp_path / "src" / "app.c").read_text() == PROGRAM
    subprocess.run(["git", "apply", str(patch)], cwd=tmp_path, check=True)
    assert "MPI_Irecv(" in (tmp_path / "src" / "app.c").read_text()


@pytest.mark.parametrize(("wanted", "end"), [(True, "nothing is suggested"), (False, "")])
def test_what_no_assumption_helps_is_told_alone(tmp_path: Path, wanted: bool, end: str) -> None:
    found = stays(tmp_path, USED)
    (line,) = _suggested(tmp_path, found, wanted)
    assert line.endswith(end)
    assert "stays as it is, though it could save at most 20 %" in line
    assert not list(tmp_path.glob("*.patch"))
