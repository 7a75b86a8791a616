"""Events from inside libfabric on real ranks: what they count is what the calls count."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.untimed

MESSAGES = Path(__file__).parents[1] / "mpi" / "ucx" / "programs" / "messages.c"
POINTS = "point 1 1 40000 -1 -1\npoint 4194304 1000000 8000000 100000 0\n"
TABLE = f"imbrex-table 1\npath inter-node\n{POINTS}" + "".join(
    f"collective {operation} 2 any inter-node\n{POINTS}"
    for operation in ("MPI_Put", "MPI_Get", "MPI_Accumulate")
)
INTER = 3
POLL, CALLBACK = 1, 2  # messages that libfabric copies end when the call returns
POINT_TO_POINT = ("MPI_Isend", "MPI_Irecv", "MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Mrecv")
ONE_SIDED = ("MPI_Put", "MPI_Get", "MPI_Accumulate")
# without shared memory, and so as if each rank were a node of its own
OVER_LIBFABRIC = {
    "MPIR_CVAR_NOLOCAL": "1",
    "MPIR_CVAR_CH4_NETMOD": "ofi",
    "FI_PROVIDER": "tcp",
}


@pytest.fixture
def run(wheel, runtime, tmp_path):
    """Run a mode of messages.c with a source; each operation's rows between the ranks."""
    if wheel.key != "mpich":
        pytest.skip(f"{wheel.name} does not call libfabric where it can be seen")
    program = tmp_path / "messages"
    command = [wheel.command("mpicc"), "-g", "-O1", "-w", "-o", str(program), str(MESSAGES)]
    subprocess.run([*command, "-pthread"], check=True)
    (tmp_path / "table").write_text(TABLE + "end\n")

    def start(mode, source, operations):
        folder = tmp_path / source
        preloaded = {
            "LD_PRELOAD": str(runtime / "lib" / "libimbrex.so"),
            "IMBREX_DIR": str(folder),
            "IMBREX_TABLE": str(tmp_path / "table"),
            "IMBREX_EVENTS": source,
        }
        done = subprocess.run(
            [wheel.command("mpiexec"), "-n", "2", str(program), mode],
            env={**os.environ, **OVER_LIBFABRIC, **preloaded},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        job = json.loads((folder / "job.json").read_text())
        assert job["events"]["inter-node"] == source, job
        rows = np.load(folder / "measures.npy")
        rows = rows[rows["path"] == INTER]
        return {
            name: rows[rows["operation"] == job["operations"].index(name)] for name in operations
        }

    return start


def test_messages_have_the_counts_and_bytes_of_the_calls(run):
    calls, inside = (run("pt2pt", source, POINT_TO_POINT) for source in ("call", "ofi"))
    for name in POINT_TO_POINT:
        assert calls[name]["transfers"].sum() > 0
        for quantity in ("transfers", "bytes", "transfer_min_ns", "transfer_max_ns"):
            assert inside[name][quantity].sum() == calls[name][quantity].sum(), (name, quantity)
        assert inside[name]["unknown_end"].sum() == 0
        # the row of the calls has no transfers: those are all in that of the source
        assert set(inside[name]["source"][inside[name]["transfers"] > 0]) <= {POLL, CALLBACK}


def test_one_sided_operations_have_the_bytes_of_the_calls(run):
    calls, inside = (run("onesided", source, ONE_SIDED) for source in ("call", "ofi"))
    for name in ONE_SIDED:
        assert inside[name]["bytes"].sum() == calls[name]["bytes"].sum() > 0, name
        assert inside[name]["transfers"].sum() >= calls[name]["transfers"].sum(), name
        assert inside[name]["unknown_end"].sum() == inside[name]["contradicted"].sum() == 0
