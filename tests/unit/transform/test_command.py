"""The command: applying, refusing dirty and unreadable files, JSON."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli.transform import transform as command
from imbrex.errors import ImbrexError
from imbrex.transform.engine import transform
from imbrex.transform.options import Options

HALO = Path(__file__).parent / "cases" / "halo.c"
LIGHT = re.compile(r"b\[0\] = 1;")
HEAVY = "for (int i = 0; i < 100; i++)\n            b[i] = 1;"
ARRAYS = """program p
  use mpi
  real(8) :: a(100), b(SIZE)
  integer :: ierr
  call MPI_Init(ierr)
  call MPI_Send(a, 100, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, ierr)
  b = 2.0d0 * b + 1.0d0
  call MPI_Finalize(ierr)
end program p
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HALO, "halo.c")
    return Path("halo.c")


def test_apply_then_nothing_is_left(source: Path) -> None:
    assert CliRunner().invoke(command, ["--apply", "halo.c"]).exit_code == 0
    assert "MPI_Irecv" in source.read_text()
    again = CliRunner().invoke(command, ["--diff", "halo.c"])
    assert again.stdout == ""
    assert "the diff is empty: " in again.stderr
    assert "halo.c:" in again.stderr


def test_what_is_said_of_a_call_stays_on_the_screen(source: Path) -> None:
    """A place is not broken, and the line that begins with one is that of the call."""
    name = f"{'a-long-folder/' * 8}halo.c"
    Path(name).parent.mkdir(parents=True)
    shutil.copy(HALO, name)
    text = CliRunner().invoke(command, ["--explain", name]).stdout
    told = text.splitlines()
    long = [line for line in told if len(line) > 100]
    assert long and all(
        line.strip().startswith(("a-long-folder", "(a-long-folder")) for line in long
    )
    assert any(line.startswith(" " * 8) for line in told)
    assert re.search(rf"\({name}:[0-9]+\)", text)
    assert {len(line) - len(line.lstrip()) for line in told} == {0, 4, 8}
    assert sum(line.startswith(name) for line in told) == text.count(f"\n{name}:") + 1


def test_only_and_json(source: Path) -> None:
    answer = CliRunner().invoke(command, ["--json", "--only", "halo.c:25", "halo.c"])
    sites = json.loads(answer.output)["sites"]
    assert [(site["line"], site["decision"]) for site in sites] == [(25, "rewritten")]


def test_only_as_a_run_names_the_call(source: Path) -> None:
    """Without its folder, and by the line that the call returns to."""
    Path("src").mkdir()
    source.rename("src/halo.c")
    for place in ("halo.c:26", "src/halo.c:25"):
        answer = CliRunner().invoke(command, ["--json", "--only", place, "src/halo.c"])
        sites = json.loads(answer.output)["sites"]
        assert [(site["line"], site["decision"]) for site in sites] == [(25, "rewritten")]
    answer = CliRunner().invoke(command, ["--suggest", "halo.c:26", "src/halo.c"])
    assert "this call can be rewritten as it is" in str(answer.exception)


def test_one_sided_communication_is_told_to_stay(source: Path) -> None:
    note = "of one-sided communication stay as they are"
    assert note not in CliRunner().invoke(command, ["halo.c"]).stderr
    put = "MPI_Win_fence(0, w);\n    MPI_Put(u, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, w);\n"
    text = source.read_text().replace("MPI_Finalize", f"MPI_Win w;\n    {put}    MPI_Finalize")
    source.write_text(text)
    line = text[: text.index("MPI_Win_fence")].count("\n") + 1
    answer = CliRunner().invoke(command, ["halo.c"])
    assert f"note: halo.c:{line}: MPI_Win_fence and 1 more call {note}" in answer.stderr


def test_a_dirty_file_is_refused(source: Path) -> None:
    for words in (["init", "-q"], ["add", "halo.c"]):
        subprocess.run(["git", *words], check=True)
    before = source.read_bytes()
    answer = CliRunner().invoke(command, ["--apply", "halo.c"])
    assert isinstance(answer.exception, ImbrexError)
    assert "not committed" in str(answer.exception)
    assert source.read_bytes() == before


def test_one_unreadable_file_stops_all_edits(source: Path) -> None:
    Path("bad.c").write_text("int main( {\n")
    before = source.read_bytes()
    answer = CliRunner().invoke(command, ["--apply", "halo.c", "bad.c"])
    assert isinstance(answer.exception, ImbrexError)
    assert "bad.c:1" in str(answer.exception)
    assert source.read_bytes() == before


UNFINISHED = {
    "empty.c": ("", "the file is empty"),
    "blank.f90": ("\n  \n", "the file is empty"),
    "if.f90": ("program p\nif (.true.) then\nprint *, 1\nend program p\n", "without END IF"),
    "do.f90": ("subroutine s\ndo\nprint *, 1\nend subroutine s\n", "without END DO"),
    "label.f": ("      do 10 i = 1, 3\n      print *, i\n      end\n", "without its end 10"),
    "stray.f90": ("subroutine s\nend if\nend subroutine s\n", "closes nothing that is open"),
    "select.f90": (
        "subroutine s(i)\nselect case (i)\ncase (1)\ni = 2\nend subroutine s\n",
        "without END SELECT",
    ),
}


@pytest.mark.parametrize("name", UNFINISHED)
def test_an_unfinished_file_is_one_line(source: Path, name: str) -> None:
    text, reason = UNFINISHED[name]
    Path(name).write_text(text)
    with pytest.raises(ImbrexError, match=reason) as error:
        CliRunner().invoke(command, [name], catch_exceptions=False)
    assert "\n" not in str(error.value)
    answer = CliRunner().invoke(command, ["halo.c", name])
    assert answer.exit_code == 2
    assert reason in answer.stderr


def test_the_wheel_carries_the_headers() -> None:
    headers = resources.files("imbrex.transform") / "headers"
    assert {"mpi.h", "mpif.h"} <= {item.name for item in headers.iterdir()}


def test_only_branches_that_all_compute_make_a_window(tmp_path: Path) -> None:
    text = """#include <mpi.h>
static double a[100], b[100];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(a, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
    if (rank == 0)
        b[0] = 1;
    else
        for (int i = 0; i < 100; i++)
            b[i] = i;
    MPI_Finalize();
    return 0;
}
"""
    path = tmp_path / "program.c"
    for source, decision in ((text, "nothing-to-gain"), (LIGHT.sub(HEAVY, text), "rewritten")):
        path.write_text(source)
        assert [d.decision for d in transform([path], Options()).decisions] == [decision]


def test_a_whole_array_assignment_is_a_window(tmp_path: Path) -> None:
    path = tmp_path / "program.f90"
    for extent, decision in ((1000, "rewritten"), (3, "nothing-to-gain")):
        path.write_text(ARRAYS.replace("SIZE", str(extent)))
        assert [d.decision for d in transform([path], Options()).decisions] == [decision]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--diff", "--apply"], "--explain, --diff and --apply: give one of them"),
        (["--worth", "2"], "--worth goes with --run"),
    ],
)
def test_options_that_do_not_go_together(source: Path, words: list[str], told: str) -> None:
    before = source.read_bytes()
    with pytest.raises(ImbrexError, match=told):
        CliRunner().invoke(command, [*words, str(source)], catch_exceptions=False)
    assert source.read_bytes() == before
