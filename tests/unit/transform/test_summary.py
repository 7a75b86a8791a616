"""The screen of `imbrex transform`: the answer first, a command for each step, why calls stay."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli.transform import transform as command
from imbrex.profile.summary import Sums
from imbrex.transform.measured import Measured, transform_measured
from imbrex.transform.options import Options
from imbrex.transform.summary import summary

ROOT = Path(__file__).resolve().parents[3]
HALO = Path(__file__).parent / "cases" / "halo.c"
STAYS = """#include <mpi.h>
void post(double *u, int n, MPI_Comm comm)
{
  MPI_Send(u, n, MPI_DOUBLE, 1, 0, comm);
}
double norm(double x, double *v, int n, MPI_Comm comm)
{
  for (int i = 0; i < n; i++)
    v[i] = v[i] * 0.5 + x;
  MPI_Barrier(comm);
  return x;
}
"""
TWO = """#include <mpi.h>
#define N 1000
double a[N], b[N], c[N];
void f(MPI_Comm comm)
{
  MPI_Send(a, N, MPI_DOUBLE, 1, 0, comm);
  for (int i = 0; i < N; i++)
    c[i] = c[i] * 0.5 + 1;
  MPI_Send(b, N, MPI_DOUBLE, 1, 0, comm);
  for (int i = 0; i < N; i++)
    c[i] = c[i] * 0.5 + 2;
}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HALO, "halo.c")
    Path("stays.c").write_text(STAYS)
    return tmp_path


def said(*arguments: str) -> list[str]:
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.stderr
    return done.stdout.splitlines()


def test_what_can_be_done_and_how(here: Path) -> None:
    assert said("halo.c") == [
        "2 of 2 calls can be rewritten: messages are under way while ranks compute.",
        "  halo.c:25  MPI_Sendrecv in main: during lines 22-34 (boundary-first, nonblocking)",
        "  halo.c:27  MPI_Sendrecv in main: during lines 22-34 (boundary-first, nonblocking)",
        "Do it: imbrex transform --apply halo.c  (see it first: --diff)",
        "Each call with its reason: imbrex transform --explain halo.c",
    ]


def test_the_guide_shows_it_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (ROOT / "docs" / "guide" / "transform.md").read_text()
    shown = guide.partition("$ imbrex transform exchange.f ssor.f sweeps.f\n")[2]
    monkeypatch.chdir(ROOT / "apps" / "ssor")
    assert said("exchange.f", "ssor.f", "sweeps.f") == shown.partition("\n```")[0].splitlines()


def test_the_commands_do_what_they_say(here: Path) -> None:
    lines = said("--errors-are-fatal", "--only", "halo.c:25", "halo.c", "--", "-DM=1")
    apply = next(line for line in lines if line.startswith("Do it: "))
    assert apply.startswith(
        "Do it: imbrex transform --apply --only halo.c:25 --errors-are-fatal halo.c -- -DM=1  ("
    )
    words = apply.removeprefix("Do it: imbrex transform ").partition("  (")[0].split()
    explained = lines[-1].removeprefix("Each call with its reason: imbrex transform ").split()
    assert said(*explained)[-1] == "1 of 1 call sites can be rewritten."
    done = said(*words)
    assert done[0] == "1 of 1 call was rewritten: messages are under way while ranks compute."
    assert "Did it help? Build it, imbrex run it as before, then: imbrex compare BEFORE AFTER" in (
        done
    )
    assert not any("--explain" in line for line in done)
    assert "MPI_Irecv" in Path("halo.c").read_text()


def test_work_of_callers(here: Path) -> None:
    Path("parted.c").write_text((HALO.parent / "parted.c").read_text())
    rows = [line for line in said("parted.c") if line.startswith("  parted.c:")]
    assert rows and all(": during its callers' work (" in row for row in rows)


def test_why_calls_stay(here: Path) -> None:
    lines = said("stays.c")
    assert lines[0] == "None of the 2 calls can be rewritten."
    assert lines[1] == "1 call that stays:"
    assert lines[2] == (
        "  stays.c:10: MPI_Barrier: a barrier has no data, so data flow cannot justify moving it"
    )
    assert lines[3] == "      what to do: remove it if nothing needs it"
    assert "1 call has nothing to gain: nothing is computed beside it." in lines
    assert not any(line.startswith("Do it") for line in lines)
    assert all(len(line) <= 100 for line in lines)


def test_the_other_files_are_asked_for_where_they_may_help(here: Path) -> None:
    Path("send.c").write_text(STAYS.partition("double norm")[0])
    Path("main.c").write_text(
        "#include <mpi.h>\nvoid post(double *u, int n, MPI_Comm comm);\ndouble u[9], v[99];\n"
        "int main(int argc, char **argv)\n{\n  MPI_Init(&argc, &argv);\n"
        "  for (int step = 0; step < 9; step++) {\n    post(u, 9, MPI_COMM_WORLD);\n"
        "    for (int i = 0; i < 99; i++)\n      v[i] = v[i] * 0.5 + step;\n  }\n"
        "  MPI_Finalize();\n  return 0;\n}\n"
    )
    asked = "The main program is not among the files: give all of them, and what callers compute"
    assert any(line.startswith(asked) for line in said("send.c"))
    whole = said("main.c", "send.c")
    assert whole[0].startswith("1 of 1 call can be rewritten")
    assert not any("main program" in line for line in whole)


def test_nothing_is_there(here: Path) -> None:
    Path("none.c").write_text("int f(void)\n{\n  return 1;\n}\n")
    assert said("none.c") == ["No call of MPI in these files could be rewritten."]


def test_many_are_cut(here: Path) -> None:
    send = "  MPI_Send(u, n, MPI_DOUBLE, 1, 0, comm);\n"
    work = "  for (int i = 0; i < n; i++)\n    v[i] = v[i] * 0.5;\n"
    given = "double *restrict u, double *restrict v, int n, MPI_Comm comm"
    head = f"#include <mpi.h>\nvoid f({given})\n"
    Path("many.c").write_text(f"{head}{{\n{(send + work) * 15}}}\n")
    lines = said("many.c")
    assert lines[0].startswith("15 of 15 calls can be rewritten")
    assert lines[13] == "  and 3 more"
    barrier = "  MPI_Barrier(comm);\n"
    head = "#include <mpi.h>\ndouble f(double x, double *v, int n, MPI_Comm comm)\n"
    body = f"{(work + barrier) * 5}  return x;\n"
    Path("many.c").write_text(f"{head}{{\n{body}}}\n")
    lines = said("many.c")
    assert lines[:2] == ["None of the 5 calls can be rewritten.", "5 calls that stay:"]
    assert lines[5] == "  and 2 more like these"


def test_what_it_may_save_by_a_run(here: Path) -> None:
    Path("two.c").write_text(TWO)
    exposed = Sums(count=10, call_s=30.0, transfer_max_s=60.0, exposed_max_s=30.0)
    measured = Measured(100.0, {("two.c", 6): [("MPI_Send", exposed)]})
    outcome = transform_measured([Path("two.c")], Options(), measured, 0.005)
    text = summary(outcome.decisions, applied=False, further="Do it", explain="why")
    lines = text.splitlines()
    assert " ".join(line.strip() for line in lines[:2]) == (
        "1 of 2 calls can be rewritten: messages are under way while ranks compute; together they "
        "cost at most 30 % of the ranks' time."
    )
    assert "1 call is not worth it, by the measured run." in lines
    assert not any("nothing to gain" in line for line in lines)
