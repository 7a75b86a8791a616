"""A function that is added to the table is known everywhere: one line each, and nothing else.

The package and the runtime are copied as a wheel has them, two functions that no MPI has are added
to the copy's table, and everything that reads the table is asked about them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ADDED = {
    "MPI_Spread": {"since": "9.0", "like": "MPI_Bcast"},
    "MPI_Wsend": {"since": "9.0", "like": "MPI_Ssend"},
}
HEADER = """typedef int MPI_Comm, MPI_Datatype, MPI_Request;
int MPI_Spread(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int PMPI_Spread(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Iwsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request);
int PMPI_Iwsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                MPI_Request *request);
"""
PROGRAM = """#include <mpi.h>
#include <stdio.h>
static double a[100], b[100], c[100];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++)
        a[i] = rank + i;
    %s
    for (int i = 0; i < 100; i++)
        b[i] = 0.5 * b[i] + c[i];
    printf("%%g %%g\\n", a[1], b[2]);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the package as a wheel installs it, with functions added."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(ROOT / "src" / "imbrex", folder / "imbrex")
    native = folder / "imbrex" / "_native" / "runtime"
    shutil.copytree(ROOT / "runtime", native)
    table = native / "mpi" / "functions.json"
    content = json.loads(table.read_text())
    content["functions"] |= ADDED
    table.write_text(json.dumps(content))
    return folder


def _run(installed: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=installed,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def _ask(installed: Path, *lines: str) -> object:
    """What the last expression is worth after these lines, in the installed package."""
    *before, last = lines
    script = "\n".join(["import json", *before, f"print(json.dumps({last}))"])
    return json.loads(_run(installed, "-c", script))


def test_the_generator_wraps_them(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "mpi.h").write_text(HEADER)
    compiler = tmp_path / "mpicc"
    compiler.write_text(f'#!/bin/sh\nexec gcc -I "{tmp_path}" "$@"\n')
    compiler.chmod(0o755)
    generator = installed / "imbrex" / "_native" / "runtime" / "mpi" / "generate" / "generate.py"
    _run(installed, "-S", str(generator), str(compiler), str(tmp_path / "generated"))
    entries = json.loads((tmp_path / "generated" / "coverage.json").read_text())
    assert [(e["name"], e["kind"], e["wrapped"], e["known"]) for e in entries] == [
        ("MPI_Iwsend", "send", True, True),
        ("MPI_Spread", "collective", True, True),
    ]
    wrappers = (tmp_path / "generated" / "wrappers.c").read_text()
    spread = wrappers[wrappers.index("MPI_Spread(") :]
    assert "int MPI_Iwsend(const void* buf, " in wrappers.replace("const void *", "const void* ")
    assert "ix_role_in(ix_wc, root)" in spread and "IX_OP_Spread" in spread
    assert "root, IX_LOG_FROM_ROOT" in spread


def test_transform_rewrites_them(installed: Path, tmp_path: Path) -> None:
    for call, start in (
        ("MPI_Spread(a, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);", "MPI_Ispread(a, 100,"),
        ("MPI_Wsend(a, 100, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD);", "MPI_Iwsend(a, 100,"),
    ):
        path = tmp_path / "case.c"
        path.write_text(PROGRAM % call)
        decision, reason, text = _ask(
            installed,
            "from pathlib import Path",
            "from imbrex.transform.engine import transform",
            "from imbrex.transform.options import Options",
            f"result = transform([Path({str(path)!r})], Options())",
            "decision = result.decisions[0]",
            "[decision.decision, decision.reason.text if decision.reason else '',"
            " result.after[next(iter(result.after))].decode()]",
        )
        assert decision == "rewritten", reason
        assert start in text


def test_the_replay_and_the_recorder_know_them(installed: Path) -> None:
    assert _ask(
        installed,
        "from imbrex.recorder.trace import function_name, name_hash",
        "from imbrex.replay.collective_cost import collective_cost",
        "from imbrex.replay.schedule import _may_wait_for_its_receiver as waits",
        "cost = {name: collective_cost(name, 8, 1e6) for name in ('MPI_Spread', 'MPI_Bcast')}",
        "[cost['MPI_Spread'] == cost['MPI_Bcast'] is not None, waits('MPI_Wsend'),"
        " waits('MPI_Iwsend'), function_name(name_hash('mpi_spread_'))]",
    ) == [True, True, False, "MPI_Spread"]


FINDING = """
from imbrex.diagnosis.diagnosis import diagnose

def test_findings(make_caused, call):
    run = make_caused(
        call("MPI_Spread", 3, 300, transfer=300, gainable=300)
        + call("MPI_Wsend", 4, 200, transfer=200, gainable=200)
    )
    found = {f.operation: (f.kind, f.text) for f in diagnose(run).findings if f.operation}
    assert found["MPI_Spread"][0] == "blocking_collective"
    assert "MPI_Ispread" in found["MPI_Spread"][1]
    assert found["MPI_Wsend"][0] == "blocking_call"
"""


def test_findings_speak_of_them(installed: Path, tmp_path: Path) -> None:
    text = (ROOT / "tests" / "unit" / "diagnosis" / "conftest.py").read_text()
    known = "OPERATIONS = [\n"
    assert known in text
    (tmp_path / "conftest.py").write_text(text.replace(known, f"{known}    *{[*ADDED]},\n"))
    (tmp_path / "test_added.py").write_text(FINDING)
    _run(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))
