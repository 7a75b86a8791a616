"""The functions that the reader of C knows without an MPI are those of the installed mpi.h."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from imbrex.transform.readers.c_declarations import declarations
from imbrex.transform.readers.c_source import HEADERS

pytestmark = pytest.mark.untimed
_PROTOTYPE = re.compile(r"^(?:int|MPI_Aint) (MPI_\w+)\([^;{]*\);", re.MULTILINE)


def _of_headers() -> str:
    """The prototypes that stand in the reader's own headers, one behind the other."""
    texts = [path.read_text() for path in sorted(HEADERS.glob("mpi*.h")) if path.stem != "mpif"]
    return "\n".join(match[0] for text in texts for match in _PROTOTYPE.finditer(text))


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
    texts = _PROTOTYPE.finditer(f"{declarations()}\n{_of_headers()}")
    lines = [match[0] for match in texts if match[1] in there]
    assert len(lines) > 400
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
