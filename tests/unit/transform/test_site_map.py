"""The map of call sites that `transform --apply` leaves, and what compare makes of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli.transform import transform as command
from imbrex.profile.site_map import NAME, load_site_map

CASES = Path(__file__).parent / "cases"


def calls(file: str) -> dict[str, list[int]]:
    """Lines with a call, by its name."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(Path(file).read_text().splitlines(), 1):
        for token in line.replace("(", " ").split():
            if token.startswith("MPI_") and f"{token}(" in line:
                found.setdefault(token, []).append(number)
    return found


@pytest.fixture
def applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def apply(name: str, *words: str) -> dict[tuple[int, str], tuple[int, str]]:
        monkeypatch.chdir(tmp_path)
        shutil.copy(CASES / name, name)
        done = CliRunner().invoke(command, ["--apply", *words, name])
        assert done.exit_code == 0, done.output
        assert f"{NAME} says which calls stand for which" in done.stderr
        found = load_site_map(tmp_path / NAME).before_of
        assert {place[0] for pair in found.items() for place in pair} == {name}
        return {new[1:]: old[1:] for new, old in found.items()}

    return apply


def test_every_part_of_a_sendrecv_belongs_to_its_own(applied) -> None:
    """Two calls of MPI_Sendrecv: their receives and sends by their buffers, the waits by request;
    a MPI_Waitall for the sends of both stands for the first."""
    found = applied("halo.c")
    now = calls("halo.c")
    first, second = (25, "MPI_Sendrecv"), (27, "MPI_Sendrecv")
    for operation, origins in (
        ("MPI_Irecv", (first, second)),
        ("MPI_Isend", (first, second)),
        ("MPI_Wait", (first, second)),
        ("MPI_Waitall", (first,)),
    ):
        assert [found[line, operation] for line in now[operation]] == list(origins)


TWO_ROUTINES = """#include <mpi.h>
static double u[4002], w[4002];
static void left(int rank, int size)
{
    double s = 0;
    MPI_Recv(&u[0], 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= 4000; i++)
        s += w[i] * w[i];
    w[0] = s + u[0];
}
static void right(int rank, int size)
{
    double s = 0;
    MPI_Recv(&u[4001], 1, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= 4000; i++)
        s += w[i] + w[i];
    w[4001] = s + u[4001];
}
void both(int rank, int size)
{
    MPI_Send(&u[1], 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD);
    MPI_Send(&u[4000], 1, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD);
    left(rank, size);
    right(rank, size);
}
"""


def test_routines_whose_requests_have_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait belongs to the start in its own routine, though others wait for the same name."""
    monkeypatch.chdir(tmp_path)
    Path("two.c").write_text(TWO_ROUTINES)
    assert CliRunner().invoke(command, ["--apply", "two.c"]).exit_code == 0
    found = load_site_map(tmp_path / NAME).before_of
    now = calls("two.c")
    assert Path("two.c").read_text().count("MPI_Wait(&imbrex_request, MPI_STATUS_IGNORE);") == 2
    origins = [("two.c", 6, "MPI_Recv"), ("two.c", 14, "MPI_Recv")]
    waits = [n for n, s in enumerate(Path("two.c").read_text().splitlines(), 1) if "request," in s]
    for operation, numbers in (("MPI_Irecv", now["MPI_Irecv"]), ("MPI_Wait", waits)):
        assert [found["two.c", number, operation] for number in numbers] == origins


def test_halves_whose_requests_have_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The half that waits stands behind the one that starts."""
    text = (CASES / "imports.f90").read_text()
    module = text[text.index("module edges") : text.index("program imports")]
    work = text[text.index("program imports") :]
    work = work.replace("only: swap_edges", "only: swap_edges\n  use sides, only: swap_sides")
    step = work[work.index("    call swap_edges(") : work.index("  part = 0")]
    step = step[: step.rindex("  end do")]
    work = work.replace(step, step + step.replace("swap_edges", "swap_sides"))
    monkeypatch.chdir(tmp_path)
    sides = module.replace("edges", "sides")
    Path("two.f90").write_text(module + sides + work)
    lines = (module + sides).splitlines()
    written = [number for number, line in enumerate(lines, 1) if "MPI_Sendrecv(u" in line]
    result = CliRunner().invoke(command, ["--apply", "two.f90"])
    assert result.exit_code == 0, result.output
    found = load_site_map(tmp_path / NAME).before_of
    now = calls("two.f90")
    origins = [("two.f90", line, "MPI_Sendrecv") for line in written]
    for operation in ("MPI_Irecv", "MPI_Isend"):
        assert [found["two.f90", line, operation] for line in now[operation]] == origins
    waits = [found["two.f90", line, "MPI_Waitall"] for line in now["MPI_Waitall"]]
    assert waits == [origins[0], origins[2]]


CONTINUED = """subroutine exchange(u, n, to, from)
  use mpi
  implicit none
  integer, intent(in) :: n, to, from
  real(8), intent(inout) :: u(0:n+1)
  integer :: ierr
  call MPI_Sendrecv(u(1), 1, MPI_DOUBLE_PRECISION, to, 3, &
      u(n+1), 1, MPI_DOUBLE_PRECISION, from, 3, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
end subroutine exchange
program p
  use mpi
  implicit none
  integer :: i, k, ierr, rank, size
  real(8) :: u(0:1001), v(0:1001)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  do k = 1, 10
    call exchange(u, 1000, mod(rank + 1, size), mod(rank + size - 1, size))
    do i = 1, 999
      v(i) = v(i) + u(i-1) * u(i)
    end do
    v(1000) = v(1000) + u(1001)
  end do
  call MPI_Finalize( &
      ierr)
end program p
"""


def test_where_calls_of_several_lines_end(tmp_path, monkeypatch) -> None:
    """GNU Fortran's debug data name the last line."""
    monkeypatch.chdir(tmp_path)
    Path("continued.f90").write_text(CONTINUED)
    result = CliRunner().invoke(command, ["--apply", "continued.f90"])
    assert result.exit_code == 0, result.output
    found = load_site_map(tmp_path / NAME)
    old = ("continued.f90", 7, "MPI_Sendrecv")
    assert found.last_before[old] == 9
    assert found.original(("continued.f90", 9, "MPI_Sendrecv")) == old
    (start,) = (place for place in found.before_of if place[2] == "MPI_Irecv")
    assert found.last_after[start] == start[1] + 1
    assert found.stands_for(("continued.f90", start[1] + 1, "MPI_Irecv")) == old
    (end,) = (place for place in found.before_of if place[2] == "MPI_Finalize")
    assert found.last_after[end] == end[1] + 1
    assert found.original(("continued.f90", 27, "MPI_Finalize")) == found.before_of[end]


def test_messages_stand_for_the_collective_that_they_were(applied) -> None:
    found = applied("pieces.c")
    now = calls("pieces.c")
    alltoallv = (calls(str(CASES / "pieces.c"))["MPI_Alltoallv"][0], "MPI_Alltoallv")
    for operation, count in (("MPI_Irecv", 1), ("MPI_Isend", 1), ("MPI_Wait", 2)):
        assert [found[line, operation] for line in now[operation]] == [alltoallv] * count
    assert not any(name == "MPI_Comm_dup" for _, name in found)
    (rest,) = now["MPI_Alltoall"]
    assert found[rest, "MPI_Alltoall"][1] == "MPI_Alltoall"


def test_what_did_not_change_is_where_it_moved_to(applied) -> None:
    found = applied("halo.c")
    before = calls(str(CASES / "halo.c"))
    for name in ("MPI_Init", "MPI_Comm_size", "MPI_Finalize"):
        (line,) = calls("halo.c")[name]
        assert found[line, name] == (before[name][0], name)


def test_all_waits_of_a_collective_and_fortran(applied) -> None:
    found = applied("branches.c")
    now = calls("branches.c")
    (line,) = calls(str(CASES / "branches.c"))["MPI_Allreduce"]
    for name in ("MPI_Iallreduce", "MPI_Wait"):
        assert [found[at, name] for at in now[name]] == [(line, "MPI_Allreduce")] * len(now[name])
    assert len(now["MPI_Wait"]) == 2


def test_in_fortran(applied) -> None:
    found = applied("halo.f90")
    now = calls("halo.f90")
    for name in ("MPI_Irecv", "MPI_Isend", "MPI_Wait"):
        assert {found[at, name][1] for at in now[name]} == {"MPI_Sendrecv"}


def test_a_further_run_without_rewrites_keeps_the_map(applied, tmp_path: Path) -> None:
    applied("halo.c")
    before = (tmp_path / NAME).read_bytes()
    again = CliRunner().invoke(command, ["--apply", "halo.c"])
    assert again.exit_code == 0
    assert (tmp_path / NAME).read_bytes() == before


def test_nothing_changed_leaves_no_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.c").write_text("#include <mpi.h>\nint main(void) { return 0; }\n")
    assert CliRunner().invoke(command, ["--apply", "empty.c"]).exit_code == 0
    assert not Path(NAME).exists()
