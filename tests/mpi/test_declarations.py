"""The arguments that the table of facts gives MPI's functions are those of the installed mpi.h."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from imbrex.transform.readers.c_declarations import declarations
from imbrex.transform.readers.c_source import HEADERS

pytestmark = pytest.mark.untimed


def _compiles(compiler: str, *flags: str, text: str) -> subprocess.CompletedProcess[str]:
    command = [compiler, *flags, "-fsyntax-only", "-Wno-deprecated-declarations", "-x", "c", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_declarations_agree_with_mpi_h(mpi: Any) -> None:
    """C refuses a second declaration of another type."""
    header = subprocess.run(
        [mpi.mpicc, "-E", "-P", "-x", "c", "-"],
        input="#include <mpi.h>\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    there = set(re.findall(r"\b(MPI_\w+)\s*\(", header))
    lines = [
        line for line in declarations().splitlines() if re.findall(r"MPI_\w+", line)[0] in there
    ]
    assert len(lines) > 100
    text = "#include <mpi.h>\n" + "\n".join(lines) + "\n"
    result = _compiles(mpi.mpicc, text=text)
    assert result.returncode == 0, result.stderr
    wrong = text.replace("int MPI_Send(const void *, int,", "int MPI_Send(const void *, long,")
    assert wrong != text and "MPI_Send" in _compiles(mpi.mpicc, text=wrong).stderr


def test_declarations_agree_with_the_readers_own_header(tmp_path: Path) -> None:
    (tmp_path / "mpi_functions.h").write_text(declarations())
    result = _compiles("gcc", "-I", str(tmp_path), "-I", str(HEADERS), text="#include <mpi.h>\n")
    assert result.returncode == 0, result.stderr
    assert "MPI_Neighbor_alltoallw(" in declarations()
