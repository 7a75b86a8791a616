"""What is said where the MPI library of a launcher's line has no compiler that works."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import MpiLibrary, library_of_launcher, with_compiler


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that is on the path: a launcher of no known MPI."""
    _executable(tmp_path / "mpirun", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def _executable(file: Path, text: str) -> Path:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def test_a_compiler_that_does_not_work_is_named(folder: Path) -> None:
    """As where the wrapper is installed and gcc is not; where there is none, that is said."""
    line = parse_launcher_line(["mpirun", "-n", "2", "imbrex-exec", "./app"])
    apart = folder / "of" / "this" / "alone" / "lib"  # what is near a library is tried, too
    library = MpiLibrary(apart / "libmpi.so.40", "libmpi.so.40", "openmpi")
    for look in (lambda: library_of_launcher(line), lambda: with_compiler(library, line)):
        with pytest.raises(ImbrexError, match="no mpicc was found"):
            look()
    broken = _executable(folder / "mpicc", "exit 1")
    for look in (lambda: library_of_launcher(line), lambda: with_compiler(library, line)):
        with pytest.raises(ImbrexError, match=f"{broken} cannot compile an MPI program"):
            look()
