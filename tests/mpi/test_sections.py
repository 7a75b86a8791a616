"""Sections named through the installed header and the Fortran source."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.profile.run import load_run

pytestmark = pytest.mark.untimed

SOURCES = Path(__file__).resolve().parent / "counts"
INCLUDE = Path(__file__).resolve().parents[2] / "runtime" / "include"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

C_FORMS = {
    "c99": ("mpicc", ["-std=c99"]),
    # Weak references would be null here for good.
    "c11 at a fixed address": ("mpicc", ["-std=c11", "-O2", "-fno-pie", "-no-pie"]),
    "c++11": ("mpicxx", ["-std=c++11", "-x", "c++"]),
    "c++20 at a fixed address": (
        "mpicxx",
        ["-std=c++20", "-O2", "-fno-pie", "-no-pie", "-x", "c++"],
    ),
}


def compile_with(mpi: Any, wrapper: str, arguments: list[str], program: Path) -> Path:
    compiler = shutil.which(f"{wrapper}.{mpi.name}")
    if compiler is None:
        pytest.skip(f"{wrapper}.{mpi.name} is not installed")
    command = [compiler, "-g", "-o", str(program), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return program


def sections_of(folder: Path) -> dict[str, int]:
    """MPI calls by section, of both ranks."""
    run = load_run(folder, resolve=False)
    calls: dict[str, int] = {}
    for row in run.measures:
        name = run.job.sections[row["section"]]
        calls[name] = calls.get(name, 0) + int(row["count"])
    return calls


@pytest.mark.parametrize("form", list(C_FORMS))
def test_sections_of_c_and_cxx(
    form: str, mpi: Any, measured: Callable[..., Any], tmp_path: Path
) -> None:
    wrapper, flags = C_FORMS[form]
    arguments = [*flags, f"-I{INCLUDE}", str(SOURCES / "sections.c")]
    run = measured(compile_with(mpi, wrapper, arguments, tmp_path / "named"))
    expected = {"outer/inner": 2, "outer": 2, "(unnamed)": 2}
    if form.startswith("c++"):
        expected["scope"] = 2
    assert sections_of(run.folder) == expected
    assert run.process.stdout.splitlines() == ["present 1"] * 2
    assert run.ranks["section_errors"].tolist() == [1, 1]


MISTAKES = r"""
#include <imbrex/imbrex.h>
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    imbrex_begin("solver");
    imbrex_begin("na\xefve \"quoted\"\x01"); /* Latin-1, quotes and a control character */
    MPI_Barrier(MPI_COMM_WORLD);
    imbrex_end("solver"); /* with the inner one open: one mistake */
    imbrex_end("solver"); /* a second time */
    imbrex_begin("caf\xc3\xa9"); /* UTF-8; never ended */
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


def test_mistakes_with_sections_reach_the_verdict(
    mpi: Any, imbrex: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """Three mistakes on each of two ranks; names in any encoding leave valid UTF-8."""
    (tmp_path / "mistakes.c").write_text(MISTAKES)
    arguments = [f"-I{INCLUDE}", str(tmp_path / "mistakes.c")]
    app = compile_with(mpi, "mpicc", arguments, tmp_path / "mistakes")
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(app))
    assert done.returncode == 0
    names = ["solver", 'solver/na\ufffdve "quoted"\x01', "caf\u00e9"]
    for file in ("job.json", "run.json"):
        content = json.loads((tmp_path / "run" / file).read_bytes().decode("utf-8", "strict"))
        assert sorted(content["sections"]) == sorted(["", *names])
    said = "6 sections ended twice, out of order, or never"
    # Of a busy machine the verdict shows two other lines first.
    assert said in done.stderr or "more: imbrex show" in done.stderr
    assert said in imbrex("show", "run", "--bounds").stdout
    shown = imbrex("show", "run", "--by", "section", "--json")
    assert {row["section"]: row["count"] for row in json.loads(shown.stdout)["sections"]} == {
        names[1]: 2,
        names[2]: 2,
    }


def test_sections_of_fortran_77(mpi: Any, measured: Callable[..., Any], tmp_path: Path) -> None:
    module = INCLUDE / "imbrex" / "imbrex.f90"
    arguments = [f"-J{tmp_path}", "-std=legacy", "-w", str(module), str(SOURCES / "sections.f")]
    run = measured(compile_with(mpi, "mpif90", arguments, tmp_path / "named"))
    assert sections_of(run.folder) == {"OUTER/INNER": 2}
    assert run.ranks["section_errors"].tolist() == [0, 0]


@pytest.mark.parametrize(
    "command",
    [
        ["gcc", "-std=c99"],
        ["gcc", "-std=c99", "-fno-pie", "-no-pie", "-O2"],
        ["gcc", "-std=c17", "-static"],
        ["clang", "-std=c11", "-O2"],
        ["g++", "-std=c++11", "-x", "c++"],
        ["clang++", "-std=c++20", "-x", "c++"],
    ],
    ids=" ".join,
)
def test_the_header_does_nothing_without_the_runtime(command: list[str], tmp_path: Path) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    source = tmp_path / "plain.c"
    source.write_text(
        "#include <imbrex/imbrex.h>\n"
        'int main(void) { imbrex_begin("a"); imbrex_end("a"); return imbrex_present(); }\n'
    )
    program = tmp_path / "plain"
    subprocess.run([*command, *STRICT, f"-I{INCLUDE}", str(source), "-o", str(program)], check=True)
    clean = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    assert subprocess.run([str(program)], env=clean, check=False).returncode == 0


@pytest.mark.parametrize("standard", ["f2003", "f2018"])
def test_the_module_is_clean_and_does_nothing_without_the_runtime(
    standard: str, tmp_path: Path
) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("gfortran is not installed")
    source = tmp_path / "plain.f90"
    source.write_text(
        "program plain\n  use imbrex\n  implicit none\n"
        "  call imbrex_begin('a')\n  call imbrex_end('a')\n"
        "  if (imbrex_present()) stop 1\nend program plain\n"
    )
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-J{tmp_path}"]
    module = INCLUDE / "imbrex" / "imbrex.f90"
    program = tmp_path / "plain"
    subprocess.run(["gfortran", *flags, str(module), str(source), "-o", str(program)], check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0
