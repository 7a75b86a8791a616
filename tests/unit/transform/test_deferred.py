"""Golden cases run with an MPI that moves data as late as it may: they print the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
NAMES = [
    "branches.c",
    "branches.f",
    "carried.f90",
    "common.f",
    "distribute.f",
    "faces.f",
    "interior.f",
    "nested.f",
    "persistent.f90",
    "private.f",
    "rearrange.f",
    "replace.f",
    "shared.f",
    "wrapper.f90",
    "brick.c",
    "middle.c",
    "distribute.c",
    "interior.c",
    "nested.c",
    "persistent.c",
    "private.c",
    "rearrange.c",
    "replace.c",
    "restarted.c",
    "vectors.cpp",
    "wrapper.c",
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The MPI that moves data late, compiled once."""
    file = tmp_path_factory.mktemp("deferred") / "deferred.o"
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-idirafter", str(HEADERS)]
    subprocess.run(["gcc", "-c", *flags, str(HERE / "deferred_mpi.c"), "-o", str(file)], check=True)
    return file


def output(text: bytes, name: str, folder: Path, library: Path) -> tuple[int, str]:
    """The exit code and the output of a program with one process."""
    source, program = folder / name, folder / "program"
    source.write_bytes(text)
    fortran = name.endswith((".f", ".f90"))
    flags = ["-O2", "-Wall", "-Werror", "-idirafter", str(HEADERS)]
    compiler = "gfortran" if fortran else "g++" if name.endswith(".cpp") else "gcc"
    if fortran:
        flags = ["-O2", "-I", str(HEADERS), "-J", str(folder)]
    command = [compiler, *flags, str(source), str(library), "-lm", "-o", str(program)]
    subprocess.run(command, check=True, cwd=folder)  # where modules are written and found
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("g++")), reason="gcc is missing")
@pytest.mark.parametrize("name", NAMES)
def test_same_output(name: str, tmp_path: Path, library: Path) -> None:
    if not name.endswith((".c", ".cpp")) and not shutil.which("gfortran"):
        pytest.skip("gfortran is missing")
    source = tmp_path / f"case_{name}"
    shutil.copy(HERE / "cases" / name, source)
    outcome = transform([source], Options())
    before, after = outcome.before[str(source)], outcome.after[str(source)]
    assert before != after
    expected = output(before, name, tmp_path, library)
    assert expected[0] == 0, expected
    assert output(after, name, tmp_path, library) == expected


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is missing")
@pytest.mark.parametrize("late", [False, True])
def test_errors_are_seen(tmp_path: Path, library: Path, late: bool) -> None:
    """A wait that is left out, or that comes one statement late, shows in the output."""
    source = tmp_path / "case.c"
    shutil.copy(HERE / "cases" / "distribute.c", source)
    outcome = transform([source], Options())
    expected = output(outcome.before[str(source)], "distribute.c", tmp_path, library)
    text = outcome.after[str(source)].decode()
    wait = re.search(r"\n *MPI_Wait\(&imbrex_requests\[0\][^\n]*", text)
    assert wait is not None
    wrong = text.replace(wait[0], "", 1)
    if late:
        end = wrong.index("        }\n", wait.start()) + len("        }")
        wrong = wrong[:end] + wait[0] + wrong[end:]
    assert output(wrong.encode(), "distribute.c", tmp_path, library) != expected
