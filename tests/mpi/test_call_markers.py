"""Markers of MPI calls as tools of the system see them: their notes, and stops at them in gdb."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.untimed,
    pytest.mark.skipif(
        platform.machine() not in ("x86_64", "aarch64"), reason="no markers on this processor"
    ),
]

PROGRAM = """
#include <mpi.h>
static void exchange(void)
{
    char out[4] = {0}, in[4];
    MPI_Request requests[2];
    MPI_Irecv(in, 4, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(out, 4, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++)
        exchange();
    MPI_Finalize();
    return 0;
}
"""
STOPS = """
set pagination off
set startup-with-shell off
set environment LD_PRELOAD {library}
set environment IMBREX_DIR {folder}
start
break -probe-stap imbrex:call_entered
commands
silent
printf "marker: entered %s %lu\\n", (char *)$_probe_arg0, $_probe_arg1
info symbol $_probe_arg1
continue
end
break -probe-stap imbrex:call_left
commands
silent
printf "marker: left %s %lu %ld\\n", (char *)$_probe_arg0, $_probe_arg1, $_probe_arg2
continue
end
continue
"""
CALLS = ["MPI_Irecv", "MPI_Isend", "MPI_Waitall"] * 3


@pytest.fixture
def exchanging(mpi: Any, tmp_path: Path) -> Path:
    source = tmp_path / "exchanging.c"
    source.write_text(PROGRAM)
    program = tmp_path / "exchanging"
    subprocess.run([mpi.mpicc, "-g", "-O1", "-w", "-o", program, source], check=True)
    return program


def test_notes_say_where_the_markers_are(runtime: Any) -> None:
    done = subprocess.run(
        ["readelf", "-n", str(runtime.library)], capture_output=True, text=True, check=True
    )
    found = re.findall(r"Provider: imbrex\n\s+Name: (\w+)\n.*\n\s+Arguments: (.*)", done.stdout)
    assert sorted(name for name, _ in found) == ["call_entered", "call_left"]
    assert all(re.fullmatch(r"8@\S+ 8@\S+ -8@\S+", arguments) for _, arguments in found)


def stops(mpi: Any, runtime: Any, program: Path, tmp_path: Path, markers: str) -> str:
    """What gdb prints of a rank that it stops at each marker."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is missing")
    script = tmp_path / "stops.gdb"
    script.write_text(STOPS.format(library=runtime.library, folder=tmp_path / "run"))
    (tmp_path / "run").mkdir()
    done = subprocess.run(
        [mpi.mpirun, "-n", "1", "gdb", "-nx", "-batch", "-x", str(script), str(program)],
        env={**os.environ, "IMBREX_MARKERS": markers},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "exited normally" in done.stdout, done.stdout + done.stderr
    return done.stdout


def test_a_debugger_stops_at_each_call(
    mpi: Any, runtime: Any, exchanging: Path, tmp_path: Path
) -> None:
    told = stops(mpi, runtime, exchanging, tmp_path, "on")
    entered = re.findall(r"^marker: entered (\w+) (\d+)\n(\w+)", told, re.MULTILINE)
    left = re.findall(r"^marker: left (\w+) (\d+) (\d+)$", told, re.MULTILINE)
    assert [name for name, _, _ in entered] == [name for name, _, _ in left] == CALLS
    assert [site for _, site, _ in entered] == [site for _, site, _ in left]
    assert len({site for _, site, _ in entered}) == 3
    assert {function for _, _, function in entered} <= {"exchange", "main"}
    # A stop takes gdb longer than a microsecond, and lies in the call that it stops in.
    assert all(1_000 < int(ns) < 120e9 for _, _, ns in left)
    order = re.findall(r"^marker: (\w+)", told, re.MULTILINE)
    assert order == ["entered", "left"] * len(CALLS)


def test_no_call_is_marked_where_nobody_asks(
    mpi: Any, runtime: Any, exchanging: Path, tmp_path: Path
) -> None:
    assert "marker:" not in stops(mpi, runtime, exchanging, tmp_path, "off")


def test_markers_change_no_profile(exchanging: Path, measured: Any) -> None:
    for markers in ("on", "off"):
        run = measured(exchanging, ranks=1, environment={"IMBREX_MARKERS": markers})
        assert run.process.stderr == ""
        assert [run.total(name, "count", 0) for name in sorted(set(CALLS))] == [3, 3, 3]


def test_another_word_is_told_once(exchanging: Path, measured: Any) -> None:
    run = measured(exchanging, environment={"IMBREX_MARKERS": "yes"})
    lines = [line for line in run.process.stderr.splitlines() if "imbrex" in line]
    assert lines == ["imbrex: IMBREX_MARKERS=yes: write on or off: no call is marked"]
