"""`--run` without files: the sources of the measured program, with the flags that it was built."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.diagnosis.conftest import call, make_caused

from imbrex.diagnosis import commands
from imbrex.diagnosis.account import take_account
from imbrex.errors import ImbrexError
from imbrex.profile.compile_units import CompileUnit
from imbrex.profile.run import Run, load_run
from imbrex.transform import program_sources
from imbrex.transform.command import Action, Request, answer
from imbrex.transform.headers_found import folders_of_headers
from imbrex.transform.program_sources import flags_of_run, flags_of_units, sources_of_run

__all__ = ["call", "make_caused"]
pytestmark = pytest.mark.slow

HEADER = "#include <mpi.h>\n#define N 99\nvoid exchange(double *, double *);"
EXCHANGE = """#include "grid/halo.h"
void exchange(double *u, double *ghost)
{
    MPI_Send(u, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
"""
MAIN = """#include "grid/halo.h"
static double u[N], v[N], ghost[N];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int s = 0; s < 9; s++) {
        exchange(u, ghost);
        for (int i = 0; i < N; i++)
            v[i] = 0.5 * v[i] + i;
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture
def measured(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_caused: Callable[..., Run],
    call: Callable[..., list[dict[str, int]]],
) -> Run:
    """A program in two folders, and a run in which its MPI_Send took 40 % of the time."""
    mpicc = shutil.which("mpicc")
    if mpicc is None:
        pytest.skip("no mpicc")
    project = tmp_path / "project"
    for name, text in (
        ("src/exchange.c", EXCHANGE),
        ("src/main.c", MAIN),
        (
            "include/grid/halo.h",
            "#include <mpi.h>\n#define N 99\nvoid exchange(double *, double *);",
        ),
    ):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text + "\n")
    words = [mpicc, "-g", "-Iinclude", "-o", "app", "src/exchange.c", "src/main.c"]
    subprocess.run(words, cwd=project, check=True)
    monkeypatch.chdir(project)
    folder = make_caused(call("MPI_Send", 1, 400, transfer=400, gainable=400)).directory
    sites = json.loads((folder / "sites.json").read_text())
    sites["sites"][1] |= {"image": str(project / "app"), "file": str(project / "src/exchange.c")}
    sites["sites"][1]["line"] = 4
    (folder / "sites.json").write_text(json.dumps(sites))
    return load_run(folder)


def test_all_files_of_the_program_are_read_with_its_folders(measured: Run) -> None:
    """The headers are where the compiler found them; the callers' work hides the message."""
    assert sources_of_run(measured) == [Path("src/exchange.c"), Path("src/main.c")]
    found = answer(Request((), Action.EXPLAIN, run_directory=measured.directory))
    assert found.complete
    assert "src/exchange.c:4: MPI_Send in exchange: rewrite (wrappers" in found.text
    assert "at most 40 % of the ranks' time to save" in " ".join(found.text.split())


def test_files_that_are_given_are_read_with_its_folders(measured: Run) -> None:
    found = answer(Request(("src/exchange.c",), Action.EXPLAIN, run_directory=measured.directory))
    assert found.complete and "exchange.c:4: MPI_Send" in found.text
    with pytest.raises(ImbrexError, match=r"halo\.h"):  # the user's own flags alone
        answer(Request(("src/exchange.c", "-DX"), run_directory=measured.directory))


def test_the_command_to_copy_names_the_run_alone(measured: Run) -> None:
    site = measured.sites[1]
    account = take_account(measured)
    told = f"imbrex transform --run {measured.directory}"
    assert commands.transform(account, site) == told
    Path("app").unlink()
    assert commands.transform(account, site) == f"{told} src/exchange.c"
    Path("src/exchange.c").unlink()
    assert commands.transform(account, site) == f"imbrex show {measured.directory} --by site"


def test_of_many_files_those_with_calls_are_read(
    measured: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_sources, "MOST_FILES", 1)
    assert sources_of_run(measured) == [Path("src/exchange.c")]


def test_a_program_that_was_moved_is_one_line(measured: Run) -> None:
    Path("app").unlink()
    assert flags_of_run(measured) == {}
    with pytest.raises(ImbrexError, match="its program are not known here: name the files"):
        answer(Request((), Action.EXPLAIN, run_directory=measured.directory))


def test_without_a_run_files_are_asked_for() -> None:
    with pytest.raises(ImbrexError, match="no files were given"):
        answer(Request(()))


def test_the_compilers_own_folders_come_last(measured: Run, tmp_path: Path) -> None:
    flags = flags_of_run(measured)[tmp_path / "project" / "src" / "exchange.c"]
    assert f"-idirafter{tmp_path / 'project' / 'include'}" in flags
    assert not any(flag.startswith(("-I/usr", "-I/opt", "-I/lib")) for flag in flags)


def test_a_header_of_which_there_are_two_is_not_guessed(measured: Run, tmp_path: Path) -> None:
    other = tmp_path / "project" / "old" / "grid" / "halo.h"
    other.parent.mkdir(parents=True)
    shutil.copy("include/grid/halo.h", other)
    assert answer(Request((), Action.EXPLAIN, run_directory=measured.directory)).complete
    other.write_text("#define N 7\n")
    (tmp_path / "project" / "old" / "run").mkdir()  # of imbrex tune: a copy
    (tmp_path / "project" / "old" / "run" / "run.json").touch()
    assert answer(Request((), Action.EXPLAIN, run_directory=measured.directory)).complete
    (tmp_path / "project" / "old" / "run" / "run.json").unlink()
    with pytest.raises(ImbrexError, match=r"'grid/halo\.h' file not found"):
        answer(Request((), Action.EXPLAIN, run_directory=measured.directory))


def test_fortran_finds_what_it_includes(tmp_path: Path) -> None:
    source = tmp_path / "src" / "a.f"
    for file, text in (
        (source, "      include 'sizes.inc'\n"),
        (tmp_path / "inc" / "sizes.inc", "      include 'more.inc'\n"),
        (tmp_path / "more" / "more.inc", ""),
    ):
        file.parent.mkdir()
        file.write_text(text)
    assert folders_of_headers(tmp_path, [source]) == [tmp_path / "inc", tmp_path / "more"]
    unit = CompileUnit(source, "Fortran", ("-ffixed-form",), ())
    (flags,) = flags_of_units(tmp_path, [unit], None).values()
    assert flags == [f"-I{tmp_path / 'inc'}", f"-I{tmp_path / 'more'}", "-ffixed-form"]
