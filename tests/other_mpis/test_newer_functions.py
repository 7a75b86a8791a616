"""Functions that only newer MPI libraries have, with the libraries that have them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from imbrex.mpi_environment.mpi_library import compiler_environment

pytestmark = pytest.mark.untimed

MS = 1_000_000
X_HI_NS = 300 * MS  # longer than anything but the sleep of 400 ms


def test_every_function_of_the_header_is_known(runtime):
    coverage = json.loads((runtime / "share" / "imbrex" / "coverage.json").read_text())
    assert len(coverage) > 400
    assert [entry["name"] for entry in coverage if not entry["known"]] == []


@pytest.mark.parametrize("form", ["none", "all", "any", "some"])
def test_seen_complete_is_complete(wheel, runtime, tmp_path, form):
    """A receive that a look saw complete was not moving in the sleep behind that look."""
    mpicc, source = wheel.command("mpicc"), Path(__file__).with_name("peek.c")
    command = [mpicc, "-g", "-w", "-o", str(tmp_path / "peek"), str(source)]
    subprocess.run(command, check=True, env=compiler_environment(Path(mpicc)))
    table = tmp_path / "times.table"
    table.write_text(f"imbrex-table 1\npath intra-node\npoint 1000 0 {X_HI_NS} 0 0\nend\n")
    preloaded = {
        "LD_PRELOAD": str(runtime / "lib" / "libimbrex.so"),
        "IMBREX_DIR": str(tmp_path),
        "IMBREX_TABLE": str(table),
    }
    done = subprocess.run(
        [wheel.command("mpiexec"), "-n", "2", str(tmp_path / "peek"), form],
        env={**os.environ, **preloaded},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    if "no MPI_Request_get_status_all" in done.stdout:
        pytest.skip(f"{wheel.name} has no MPI_Request_get_status_all")
    operations = json.loads((tmp_path / "job.json").read_text())["operations"]
    measures = np.load(tmp_path / "measures.npy")
    receives = measures[measures["operation"] == operations.index("MPI_Irecv")]
    assert (receives["transfers"].sum(), receives["bytes"].sum()) == (6, 6000)
    assert receives["unknown_end"].sum() == 0
    hidden_ns = receives["overlap_max_ns"].sum()
    if form == "none":
        assert hidden_ns == 6 * X_HI_NS
    else:
        name = f"MPI_Request_get_status_{form}"
        assert measures["count"][measures["operation"] == operations.index(name)].sum() >= 2
        assert hidden_ns < 6 * X_HI_NS / 2
