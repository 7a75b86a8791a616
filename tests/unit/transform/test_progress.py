"""Progress calls in the loops of windows: golden cases, refusals, the interval."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli.transform import transform as command
from imbrex.network.profile import MachineProfile, NetworkPath, Point
from imbrex.transform.command import diff, explain
from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "progress"
SOURCES = sorted(path for path in CASES.iterdir() if path.suffix in (".c", ".f", ".f90"))
WITH = Options(progress_interval_s=100e-6)


@pytest.fixture(params=SOURCES, ids=lambda path: path.name)
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(request.param, tmp_path)
    monkeypatch.chdir(tmp_path)
    return Path(request.param.name)


def test_diff_and_reasons(case: Path) -> None:
    outcome = transform([case], WITH)
    assert diff(outcome) == (CASES / f"{case.name}.expected.diff").read_text()
    assert explain(outcome) == (CASES / f"{case.name}.expected.txt").read_text()


def test_second_run_is_empty(case: Path) -> None:
    once = transform([case], WITH).after[str(case)]
    again = transform([case], Options(contents={case: once}, progress_interval_s=100e-6))
    assert again.after[str(case)] == once


def test_no_new_warnings_and_within_72_columns(case: Path) -> None:
    after = transform([case], WITH).after[str(case)]
    if case.suffix == ".f":
        assert all(len(line) <= 72 for line in after.splitlines())
    for compiler in compilers(case):
        before = warnings(compiler, case)
        rewritten = case.with_name("rewritten" + case.suffix)
        rewritten.write_bytes(after)
        assert not Counter(warnings(compiler, rewritten)) - Counter(before), compiler


def test_none_without_being_asked(case: Path) -> None:
    text = transform([case], Options()).after[str(case)].upper()
    assert b"IPROBE" not in text and b"GET_STATUS" not in text


def compilers(case: Path) -> list[str]:
    names = ["gcc", "clang"] if case.suffix == ".c" else ["gfortran"]
    return [name for name in names if shutil.which(name)]


def warnings(compiler: str, source: Path) -> list[str]:
    flags = ["-Wall", "-Wextra", "-fsyntax-only", "-I", str(HEADERS)]
    answer = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return re.findall(r"\[-W[\w-]+", answer.stderr)


C_WINDOW = """#include <mpi.h>
%s
static double a[4000000], b[10];
int main(int argc, char **argv)
{
    int peer = 1, k = 0;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Irecv(b, 10, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &r);
    %s
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return k;
}
"""
LOOP = "for (int i = 0; i < 4000000; i++)\n        a[i] = 2.0 * a[i];"
# name: (top-level code, code in the window, part of the reason)
REFUSED = {
    "a short loop": (
        "",
        "for (int i = 0; i < 10; i++)\n        a[i] = 2.0;",
        "no loop in the window",
    ),
    "nothing": ("", "k = 1;", "no loop in the window"),
    "parallel regions": (
        "",
        "#pragma omp parallel for\n    " + LOOP,
        "parallel regions",
    ),
    "threads": ("static int pthread_create;", "k = pthread_create; " + LOOP, "pthread_create"),
    "a loop that calls MPI": (
        "",
        "for (int j = 0; j < 50; j++) {\n        a[0] = MPI_Wtime();\n"
        "        MPI_Bcast(a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n    }",
        "makes progress there",
    ),
    "a loop that is left": (
        "",
        "for (int i = 0; i < 4000000; i++) {\n        a[i] = 2.0 * a[i];\n"
        "        if (a[i] > 7.0)\n            break;\n    }",
        "may be left by break",
    ),
    "an index that is read behind its loop": (
        "",
        "int i;\n    for (i = 0; i < 4000000; i++)\n        a[i] = 2.0 * a[i];\n    k = i;",
        "read outside its loops",
    ),
    "a loop with another step": (
        "",
        "for (int i = 0; i < 4000000; i += 2)\n        a[i] = 2.0 * a[i];",
        "not one that can be divided",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    top, body, reason = REFUSED[name]
    source = tmp_path / "program.c"
    source.write_text(C_WINDOW % (top, body))
    options = Options(rewrites=frozenset({"nonblocking"}), progress_interval_s=100e-6)
    outcome = transform([source], options)
    told = [decision.reason.text for decision in outcome.decisions]
    assert outcome.after == outcome.before, told
    assert any(reason in text for text in told), told


def test_a_file_without_mpi(tmp_path: Path) -> None:
    main, other = tmp_path / "main.c", tmp_path / "other.c"
    main.write_text(C_WINDOW % ("void work(double *);", "work(a);"))
    other.write_text(
        "void work(double *x);\nvoid work(double *x)\n{\n"
        "    for (int i = 0; i < 4000000; i++)\n        x[i] = 2.0 * x[i];\n}\n"
    )
    outcome = transform([main, other], WITH)
    assert outcome.after == outcome.before
    assert any("mpi.h is not included" in d.reason.text for d in outcome.decisions)
    other.write_text("#include <mpi.h>\n" + other.read_text())
    outcome = transform([main, other], WITH)
    assert b"MPI_Iprobe" in outcome.after[str(other)]


def profile(folder: Path, interval_s: float | None) -> Path:
    file = folder / "machine.json"
    path = NetworkPath((Point(1024, 1e-6, 2e-6),), 1e-9)
    paths = {"inter-node": path}
    made = MachineProfile("x", "1", ("a",), 2, {}, paths, (), "", "0", False, interval_s)
    made.save(file)
    return file


def test_the_interval_of_the_machine_profile(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(C_WINDOW % ("", LOOP))
    file = profile(tmp_path, 1e-3)
    words = ["--diff", "--machine", str(file), str(source)]
    answer = CliRunner().invoke(command, words)
    assert answer.exit_code == 0, answer.output
    assert "imbrex_first + 262144" in answer.output
    answer = CliRunner().invoke(command, ["--progress", "100", *words])
    assert "imbrex_first + 32768" in answer.output


def test_off_where_the_library_needs_none(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(C_WINDOW % ("", LOOP))
    words = ["--diff", "--machine", str(profile(tmp_path, None)), str(source)]
    answer = CliRunner().invoke(command, words)
    assert answer.exit_code == 0
    assert "recommends none" in answer.output
    assert "not measured" in answer.output  # as in any profile of `imbrex calibrate`
    assert "MPI_Iprobe" not in answer.output and "get_status" not in answer.output


def test_mpi_through_another_header(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    (tmp_path / "all.h").write_text("#include <stdio.h>\n#include <mpi.h>\n")
    text = C_WINDOW % ("", LOOP)
    assert text.count("#include <mpi.h>") == 1
    source.write_text(text.replace("#include <mpi.h>", '#include "all.h"'))
    assert b"imbrex_flag" in transform([source], WITH).after[str(source)]


def test_mpi_known_only_behind_the_loop(tmp_path: Path) -> None:
    """No call can stand where its declaration is still to come."""
    work = "static void work(double *x)\n{\n    for (int i = 0; i < 4000000; i++)\n"
    work += "        x[i] = 2.0 * x[i];\n}\n"
    source = tmp_path / "main.c"
    text = C_WINDOW % ("", "work(a);")
    include, rest = "#include <mpi.h>\n", text.replace("#include <mpi.h>\n", "")
    source.write_text(include + work + rest)
    assert b"imbrex_flag" in transform([source], WITH).after[str(source)]
    source.write_text(work + include + rest)
    outcome = transform([source], WITH)
    assert b"imbrex_flag" not in outcome.after[str(source)]
    assert any("mpi.h is not included" in d.reason.text for d in outcome.decisions)


def test_by_the_clock_where_iterations_are_of_unknown_length(tmp_path: Path) -> None:
    """A count would be a guess; the clock meets the interval, and a second run adds nothing."""
    work = "static void work(double *x, int n)\n{\n    for (int k = 0; k < n; k++) {\n"
    work += "        for (int i = 0; i < n; i++)\n            x[i] = 2.0 * x[i] + k;\n    }\n}\n"
    source = tmp_path / "main.c"
    text = C_WINDOW % ("", "work(a, peer);")
    source.write_text(text.replace("#include <mpi.h>\n", "#include <mpi.h>\n" + work))
    once = transform([source], WITH).after[str(source)]
    # 100 accesses or so in an iteration: the clock is read about 16 times in an interval.
    assert b"if (++imbrex_count % 16 == 0 && MPI_Wtime() >= imbrex_next) {" in once
    assert b"imbrex_next = MPI_Wtime() + 0.0001;" in once
    again = Options(contents={source: once}, progress_interval_s=100e-6)
    assert transform([source], again).after[str(source)] == once
    source.write_bytes(once)
    assert warnings("gcc", source) == []


def test_windows_of_chosen_calls_get_progress_calls(tmp_path: Path) -> None:
    """The wait of a call that was blocking stands in a line that nobody could choose."""
    source = tmp_path / "tuned.c"
    shutil.copy(Path(__file__).parents[2] / "mpi" / "programs" / "tuned.c", source)
    lines = source.read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "MPI_Sendrecv" in text)
    chosen = Options(only=frozenset({(str(source), line)}), progress_interval_s=100e-6)
    after = transform([source], chosen).after[str(source)]
    assert b"MPI_Irecv" in after and b"imbrex_flag" in after
    other = Options(only=frozenset({(str(source), line + 20)}), progress_interval_s=100e-6)
    assert transform([source], other).after[str(source)] == source.read_bytes()


F_WINDOW = """      program main
      implicit none
      include 'mpif.h'
      double precision a(2000), b(10)
      integer r, peer, ierr
      call mpi_init(ierr)
      peer = 1
      call mpi_irecv(b, 10, MPI_DOUBLE_PRECISION, peer, 0,
     &               MPI_COMM_WORLD, r, ierr)
      call work(a, 2000)
      call mpi_wait(r, MPI_STATUS_IGNORE, ierr)
      call mpi_finalize(ierr)
      end

      subroutine work(x, n)
      implicit none
      include 'mpif.h'
      integer n, i, k
      double precision x(n)
      do 20 k = 1, n
        do 10 i = 2, n
          x(i) = 0.5d0 * x(i) + 0.25d0 * x(i - 1)
   10   continue
   20 continue
      end
"""


def test_by_the_clock_in_fortran(tmp_path: Path) -> None:
    """Iterations of unknown length in fixed form: a block IF around the call."""
    source = tmp_path / "main.f"
    source.write_text(F_WINDOW)
    once = transform([source], WITH).after[str(source)]
    assert b"        imbrex_count = mod(imbrex_count + 1, 16)\n" in once
    assert b"        if (imbrex_count .eq. 0) then\n" in once
    assert b"          if (MPI_Wtime() .ge. imbrex_next) then\n" in once
    assert b"imbrex_next = MPI_Wtime() + 0.0001d0\n" in once
    assert b"data imbrex_next /0.0d0/" in once
    assert all(len(line) <= 72 for line in once.splitlines())
    again = Options(contents={source: once}, progress_interval_s=100e-6)
    assert transform([source], again).after[str(source)] == once
    for compiler in compilers(source):
        source.write_text(F_WINDOW)
        before = warnings(compiler, source)
        source.write_bytes(once)
        assert not Counter(warnings(compiler, source)) - Counter(before), compiler


def test_a_routine_is_split_where_one_of_its_calls_is_chosen(tmp_path: Path) -> None:
    source = tmp_path / "halves.c"
    source.write_bytes((CASES / source.name).read_bytes())
    lines = source.read_text().splitlines()

    def rewritten(call: str) -> bytes:
        line = 1 + next(i for i, text in enumerate(lines) if call in text)
        only = frozenset({(str(source), line)})
        options = Options(only=only, progress_interval_s=100e-6)
        return transform([source], options).after[str(source)]

    assert all(callee in rewritten("MPI_Sendrecv(") for callee in (b"swap_start(d", b"MPI_Iprobe"))
    assert b"swap_start" not in rewritten("MPI_Waitall(")


def test_no_progress_calls_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(CASES / "declared.c", tmp_path)
    done = CliRunner().invoke(command, ["--diff", "--progress", "100000", "declared.c"])
    assert "no progress calls: 6 of 6 calls: no loop in the window" in done.stderr
    done = CliRunner().invoke(command, ["--diff", "--progress", "100", "declared.c"])
    assert done.stderr == ""
    Path("none.c").write_text("#include <mpi.h>\nint main(void) { return 0; }\n")
    done = CliRunner().invoke(command, ["--diff", "--progress", "100", "none.c"])
    assert "no call of MPI that could be rewritten" in done.stderr
    assert "no transfer is under way" in done.stderr
