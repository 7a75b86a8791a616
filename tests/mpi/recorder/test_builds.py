"""The compiler wrappers where CMake and make expect compilers: archives, C and C++, plain twins."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed

LIBRARY = """
#include <mpi.h>
void swap(double *a, double *b, int n)
{
    MPI_Sendrecv(a, n, MPI_DOUBLE, MPI_PROC_NULL, 0, b, n, MPI_DOUBLE, MPI_PROC_NULL, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    a[0] = b[n - 1];
}
"""
PROGRAM = """
#include <mpi.h>
extern "C" void swap(double *, double *, int);
int main(int argc, char **argv)
{
    double a[8] = {0}, b[8] = {1};
    MPI_Init(&argc, &argv);
    swap(a, b, 8);
    MPI_Finalize();
}
"""
CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(exchange C CXX)
add_library(swap STATIC swap.c)
add_executable(app main.cpp)
target_link_libraries(app swap)
"""
MAKE = """
app: main.o libswap.a
	$(CXX) main.o -L. -lswap -o $@
libswap.a: swap.o
	$(AR) rcs $@ $^
"""


@pytest.mark.parametrize("tool", ["cmake", "make"])
def test_a_project_is_built_with_its_plain_twin(mpi: Any, tmp_path: Path, tool: str) -> None:
    cxx = f"mpicxx.{mpi.name}"
    if shutil.which(tool) is None or shutil.which(cxx) is None:
        pytest.skip(f"{tool} or {cxx} is not installed")
    files = {"swap.c": LIBRARY, "main.cpp": PROGRAM, "CMakeLists.txt": CMAKE, "Makefile": MAKE}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    imbrex = Path(sys.executable).with_name("imbrex")
    compilers = {"CC": f"{imbrex} cc", "CXX": f"{imbrex} cxx"}
    compilers |= {"IMBREX_CC": mpi.mpicc, "IMBREX_CXX": cxx}
    lines = {
        "cmake": [["cmake", "-S", ".", "-B", "."], ["cmake", "--build", "."]],
        "make": [["make", *(f"{name}={compilers[name]}" for name in ("CC", "CXX"))]],
    }
    for line in lines[tool]:
        done = subprocess.run(
            line, cwd=tmp_path, env=os.environ | compilers, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    hooked = {
        name: subprocess.run(["nm", tmp_path / name], capture_output=True, text=True, check=True)
        for name in ("app", "app.plain")
    }
    assert "imbrex_access_memory" in hooked["app"].stdout
    assert "imbrex_access" not in hooked["app.plain"].stdout
    assert " swap" in hooked["app"].stdout and " swap" in hooked["app.plain"].stdout


LINES = {
    "two members of one name": ["libparts.a"],
    "a thin archive": ["libthin.a"],
    "a folder as a word of its own": ["-L", ".", "-lparts"],
    "a library's file name": ["-L.", "-l:libparts.a"],
    "a file of arguments": ["@arguments"],
}


@pytest.mark.parametrize("link_style", LINES)
def test_the_twin_takes_its_libraries_as_the_program_does(
    mpi: Any, tmp_path: Path, link_style: str
) -> None:
    main = "#include <mpi.h>\nint one(void), two(void);\n"
    main += "int main(void) { return one() + two() + (MPI_PROC_NULL > 0); }\n"
    (tmp_path / "main.c").write_text(main)
    (tmp_path / "arguments").write_text("-O1 'libparts.a'\n")
    imbrex = str(Path(sys.executable).with_name("imbrex"))
    cc = [imbrex, "cc", f"--compiler={mpi.mpicc}"]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part.c").write_text(f"int {name}(void) {{ return 0; }}\n")
        subprocess.run([*cc, "-c", "part.c"], cwd=tmp_path / name, check=True)
    for words in (["qcs", "libparts.a"], ["qcsT", "libthin.a"]):
        line = ["ar", *words, "one/part.o", "two/part.o"]
        subprocess.run(line, cwd=tmp_path, check=True)
    line = [*cc, "main.c", *LINES[link_style], "-o", "app"]
    done = subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    symbols = subprocess.run(
        ["nm", "app.plain"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert " one\n" in symbols and " two\n" in symbols and "imbrex_access" not in symbols


def test_a_verbose_call_compiles_and_questions_are_passed_on(mpi: Any, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("#include <mpi.h>\nint x;\nint main(void) { return x++; }\n")
    cc = [str(Path(sys.executable).with_name("imbrex")), "cc", f"--compiler={mpi.mpicc}"]

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        line = [*cc, *words]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, input="int y;")

    assert call("-v", "-c", "main.c").returncode == 0
    sections = subprocess.run(
        ["objdump", "-h", tmp_path / "main.o"], capture_output=True, text=True
    )
    assert ".imbrex.plain" in sections.stdout
    for question in ("-v", "-show", "-dumpversion"):
        plain = subprocess.run([mpi.mpicc, question], capture_output=True, text=True)
        asked = call(question)
        assert (asked.stdout, asked.returncode) == (plain.stdout, plain.returncode)
    refused = call("-fsanitize=undefined,address", "-c", "main.c")
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        "imbrex: -fsanitize=address cannot be combined with the recording of accesses"
    ]
    assert "no plain twin" in call("-x", "c", "-c", "-", "-o", "y.o").stderr
