"""Events from inside libfabric under Open MPI's `pml cm` with `mtl ofi`, on real ranks."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed

MESSAGES = Path(__file__).parents[1] / "ucx" / "programs" / "messages.c"
TABLE = """path self
point 1 1 400 400 400
path intra-node
point 1 1 40000 -1 -1
point 4194304 1000000 8000000 100000 0"""
INTRA, POLL, CALLBACK = 2, 1, 2


@pytest.mark.parametrize("provider", ["tcp;ofi_rxm", "sockets"])
def test_messages_have_the_counts_and_bytes_of_the_calls(
    mpi: Any, measured: Any, tmp_path: Path, provider: str
) -> None:
    if mpi.name != "openmpi":
        pytest.skip("Debian's MPICH sends over UCX")
    program = tmp_path / "messages"
    command = [mpi.mpicc, "-g", "-O1", "-w", "-o", str(program), str(MESSAGES), "-pthread"]
    subprocess.run(command, check=True)
    settings = {"pml": "cm", "mtl": "ofi", "mtl_ofi_provider_include": provider}
    launcher = [argument for name, value in settings.items() for argument in ("--mca", name, value)]
    results = {}
    for source in ("call", "ofi"):
        results[source] = measured(
            program,
            "pt2pt",
            table=TABLE,
            environment={**os.environ, "IMBREX_EVENTS": source, "FI_PROVIDER": provider},
            launcher=(*launcher, "-x", "FI_PROVIDER"),
        )
    job = json.loads((results["ofi"].folder / "job.json").read_text())
    assert job["events"]["intra-node"] == "ofi"
    for operation in ("MPI_Isend", "MPI_Irecv", "MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Mrecv"):
        calls, inside = (
            rows[rows["path"] == INTRA]
            for rows in (results[source].rows(operation) for source in ("call", "ofi"))
        )
        assert calls["transfers"].sum() > 0
        for quantity in ("transfers", "bytes", "unknown_end"):
            assert inside[quantity].sum() == calls[quantity].sum(), (operation, quantity)
        sources = inside["source"][inside["transfers"] > 0].tolist()
        assert set(sources) <= {POLL, CALLBACK}
