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
