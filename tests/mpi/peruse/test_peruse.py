"""Events from PERUSE, with a stand-in for an MPI library that was built with it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
MS = 1_000_000
TABLE = """path intra-node
point 1 1000 200000000 0 0
point 4194304 1000 200000000 0 0"""
INTRA, CALLBACK = 2, 2


@pytest.fixture
def run(mpi: Any, measured: Any, tmp_path: Path) -> Callable[..., Any]:
    """Run programs/exchange.c over the stand-in (or without it) with the events of `source`."""
    if mpi.name != "openmpi":
        pytest.skip("only Open MPI has PERUSE")

    def start(source: str, standin: bool = True) -> Any:
        program, library = tmp_path / f"exchange-{standin}", tmp_path / "libstandin.so"
        compiler = [mpi.mpicc, "-g", "-O1", "-w"]
        below = []
        if standin:
            made = [*compiler, "-shared", "-fPIC", "-o", str(library)]
            subprocess.run([*made, str(HERE / "programs" / "standin.c"), "-ldl"], check=True)
            below = ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{tmp_path}"]
        made = [*compiler, "-o", str(program), str(HERE / "programs" / "exchange.c"), *below]
        subprocess.run(made, check=True)
        return measured(program, table=TABLE, environment={**os.environ, "IMBREX_EVENTS": source})

    return start


def job(result: Any) -> dict[str, Any]:
    return dict(json.loads((result.folder / "job.json").read_text()))


def test_events_come_from_peruse(run: Any) -> None:
    calls, inside = run("call"), run("peruse")
    assert job(inside)["events"] == {"self": "call", "intra-node": "peruse", "inter-node": "call"}
    assert inside.process.stderr == ""
    for operation in ("MPI_Send", "MPI_Irecv", "MPI_Isend", "MPI_Recv"):
        for quantity in ("transfers", "bytes", "transfer_max_ns"):
            mine, theirs = inside.total(operation, quantity), calls.total(operation, quantity)
            assert mine == theirs > 0, (operation, quantity)
    assert inside.total("MPI_Recv", "bytes") == 30000  # of a buffer that has room for more
    # cancelled ones have an unknown end; no other does
    assert inside.total("MPI_Irecv", "unknown_end") == calls.total("MPI_Irecv", "unknown_end")
    # what came at the poll was not hidden behind the sleep that follows it
    by_calls, by_events = (
        r.rows("MPI_Irecv")[r.rows("MPI_Irecv")["size_class"] == 16] for r in (calls, inside)
    )
    assert int(by_calls["transfers"].sum()) == int(by_events["transfers"].sum()) == 2
    assert int(by_calls["overlap_max_ns"].sum()) == 400 * MS
    assert int(by_events["overlap_max_ns"].sum()) < 200 * MS
    assert set(by_events["source"].tolist()) == {CALLBACK}


@pytest.mark.untimed
def test_a_new_communicator_is_seen_from_its_first_call(run: Any) -> None:
    inside = run("peruse")
    rows = inside.rows("MPI_Irecv", rank=0)
    rows = rows[rows["size_class"] == 12]
    by_source = {int(r["source"]): int(r["transfers"]) for r in rows}
    assert by_source == {CALLBACK: 3}


@pytest.mark.untimed
def test_messages_of_collectives_belong_to_them(run: Any) -> None:
    inside = run("peruse")
    assert inside.total("MPI_Bcast", "bytes") == 2 * 40000
    assert inside.total("MPI_Allreduce", "bytes") == 2 * 2 * 4000
    assert inside.total("MPI_Allreduce", "unknown_end") == 0
    rows = inside.rows("MPI_Allreduce")
    assert set(rows["source"][rows["transfers"] > 0].tolist()) == {CALLBACK}


@pytest.mark.untimed
def test_auto_takes_peruse_where_ucx_is_not_used(run: Any) -> None:
    assert job(run("auto"))["events"]["intra-node"] == "peruse"


@pytest.mark.untimed
def test_without_peruse_the_calls_are_the_source(run: Any) -> None:
    result = run("peruse", standin=False)
    assert set(job(result)["events"].values()) == {"call"}
    assert "no events from PERUSE: this MPI is built without PERUSE" in result.process.stderr
