"""Scopes that import names of MPI one by one get what rewritten text uses besides."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
IMPORTS = (CASES / "imports.f90").read_text()
CONSTANTS = (CASES / "constants.f90").read_text()
LIST = "use mpi, only: MPI_COMM_WORLD, MPI_PROC_NULL, MPI_DOUBLE_PRECISION, &"
STATUS = "MPI_STATUS_SIZE, MPI_SUM\n"
EDGES = "use mpi_f08, only: MPI_DOUBLE_PRECISION\n  implicit none\n  private"

# name: the program, what is replaced, by what, a line that must be there
ADDED: dict[str, tuple[str, str, str, str]] = {
    "constants alone": (
        CONSTANTS,
        "",
        "",
        "  use mpi, only: MPI_ADDRESS_KIND, MPI_STATUSES_IGNORE\n  implicit none",
    ),
    "procedures without buffers": (
        CONSTANTS,
        STATUS,
        "MPI_STATUS_SIZE, MPI_SUM, MPI_Comm_rank\n",
        "  use mpi, only: MPI_ADDRESS_KIND, MPI_STATUSES_IGNORE, MPI_Waitall\n",
    ),
    "procedures with buffers": (
        CONSTANTS,
        STATUS,
        "MPI_STATUS_SIZE, MPI_SUM, MPI_Sendrecv\n",
        "  use mpi, only: MPI_ADDRESS_KIND, MPI_Get_address, MPI_Irecv, MPI_Isend, "
        "MPI_STATUSES_IGNORE, &\n       MPI_Waitall\n",
    ),
    "some are imported already": (
        CONSTANTS,
        STATUS,
        "MPI_STATUS_SIZE, MPI_SUM, MPI_STATUSES_IGNORE\n",
        "  use mpi, only: MPI_ADDRESS_KIND\n",
    ),
    "others in small letters": (
        CONSTANTS,
        LIST,
        "use mpi, only: MPI_COMM_WORLD, MPI_PROC_NULL, mpi_double_precision, mpi_address_kind, &",
        "  use mpi, only: MPI_STATUSES_IGNORE\n",
    ),
    "two lists": (
        IMPORTS,
        "",
        "",
        "  use mpi_f08, only: MPI_F_SYNC_REG, MPI_Irecv, MPI_Isend, MPI_Request, "
        "MPI_STATUSES_IGNORE, &\n       MPI_Waitall\n  implicit none\n  private\n",
    ),
    "of a program": (IMPORTS, "", "", "  use mpi_f08, only: MPI_Request\n  implicit none\n  int"),
    "in the routine that needs them": (
        IMPORTS.replace("  use mpi_f08, only: MPI_DOUBLE_PRECISION\n  implicit", "  implicit"),
        "nprocs, comm)\n",
        "nprocs, comm)\n    use mpi_f08, only: MPI_DOUBLE_PRECISION\n",
        "    use mpi_f08, only: MPI_DOUBLE_PRECISION\n"
        "    use mpi_f08, only: MPI_F_SYNC_REG, MPI_Request, MPI_STATUSES_IGNORE, MPI_Waitall\n",
    ),
    "operators of handles": (
        IMPORTS,
        "MPI_Comm, MPI_Status,",
        "MPI_Comm, operator(==), MPI_Status,",
        "  use mpi_f08, only: MPI_Request\n",
    ),
    "another variable whose name only begins like those of MPI": (
        CONSTANTS,
        "integer :: i, j, rank, size, ierr",
        "integer :: i, j, rank, size, ierr, mpi_error",
        "  use mpi, only: MPI_ADDRESS_KIND, MPI_STATUSES_IGNORE\n",
    ),
    "the whole module around it": (
        CONSTANTS.replace(
            "class(field), intent(inout) :: self\n    integer :: ierr, status",
            "use mpi, only: MPI_SUM\n    class(field), intent(inout) :: self\n"
            "    integer :: ierr, status",
        ),
        CONSTANTS[CONSTANTS.index("  use mpi, only") : CONSTANTS.index("  implicit none")],
        "  use mpi\n",
        "  use mpi\n  implicit none\n",
    ),
}
STAYS: dict[str, tuple[str, str, str]] = {
    "a name that is another one here": (
        CONSTANTS,
        LIST,
        "use mpi, only: MPI_COMM_WORLD, MPI_PROC_NULL, MPI_DOUBLE_PRECISION, dp => MPI_REAL8, &",
    ),
    "an array that is named like a procedure": (
        CONSTANTS,
        "integer :: i, j, rank, size, ierr",
        "integer :: i, j, rank, size, ierr, mpi_wait",
    ),
    "a variable that is named like a type": (
        CONSTANTS,
        "integer :: ierr, status(MPI_STATUS_SIZE)",
        "integer :: ierr, status(MPI_STATUS_SIZE), mpi_status",
    ),
    "another statement on the line": (CONSTANTS, STATUS, STATUS.rstrip() + "; implicit none\n"),
    "names that a module of the program's hands on": (
        CONSTANTS.replace(
            CONSTANTS[CONSTANTS.index("  use mpi, only") : CONSTANTS.index("  implicit none")],
            "  use constants_of_mpi\n",
        ),
        "module fields\n",
        f"module constants_of_mpi\n  {LIST}\n       {STATUS}end module constants_of_mpi\n"
        "module fields\n",
    ),
}


def _after(text: str, old: str, new: str, path: Path) -> str:
    assert not old or old in text
    path.write_text(text.replace(old, new, 1))
    return transform([path], Options()).after[str(path)].decode()


@pytest.mark.parametrize("name", ADDED)
def test_what_is_used_is_imported(name: str, tmp_path: Path) -> None:
    text, old, new, line = ADDED[name]
    after = _after(text, old, new, tmp_path / "main.f90")
    assert "call MPI_Irecv(" in after
    assert line in after
    for imported in ("mpi_irecv", "mpi_waitall", "mpi_request,", "mpi_address_kind"):
        lists = [line.lower() for line in after.splitlines() if ", only:" in line.lower()]
        once = 2 if name == "in the routine that needs them" and imported == "mpi_request," else 1
        assert sum(imported in line for line in lists) <= once


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    text, old, new = STAYS[name]
    path = tmp_path / "main.f90"
    after = _after(text, old, new, path)
    module = after[: after.index("end module fields")]
    assert "MPI_Irecv" not in module


def test_calls_that_make_progress(tmp_path: Path) -> None:
    """They stand in a scope that needed nothing of them before."""
    listed = "use mpi, only: MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_STATUSES_IGNORE, MPI_Wait"
    text = (CASES.parent / "progress" / "halves.f90").read_text()
    text = text.replace("  implicit none\n  include 'mpif.h'\n", f"  {listed}\n  implicit none\n")
    text = text.replace("  use halo\n", "  use halo\n  use mpi, only: MPI_COMM_WORLD\n")
    path = tmp_path / "main.f90"
    path.write_text(text)
    after = transform([path], Options(progress_interval_s=1e-4)).after[str(path)].decode()
    program = after[after.index("program halves") :]
    assert "call MPI_Iprobe(" in program
    assert "  use mpi, only: MPI_STATUS_IGNORE\n" in program


def test_a_text_without_changes_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "main.f90"
    path.write_text(IMPORTS)
    outcome = transform([path], Options(rewrites=frozenset()))
    assert outcome.after == outcome.before
