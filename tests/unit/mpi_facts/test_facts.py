"""The table of MPI functions as the package reads it, against the MPI standard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from imbrex import mpi_facts
from imbrex.mpi_facts.database import Database

TABLE = Path(__file__).parents[3] / "runtime" / "mpi" / "functions.json"


@pytest.mark.parametrize(
    ("name", "completion", "dependence", "nonblocking", "large", "since"),
    [
        ("MPI_Send", "call", "none", "MPI_Isend", "MPI_Send_c", "1.0"),
        ("MPI_Issend", "request", "none", "MPI_Issend", "MPI_Issend_c", "1.0"),
        ("MPI_Isendrecv", "request", "none", "MPI_Isendrecv", "MPI_Isendrecv_c", "4.0"),
        ("MPI_Recv_init", "start", "none", "MPI_Irecv", "MPI_Recv_init_c", "1.0"),
        ("MPI_Psend_init", "start", "none", None, None, "4.0"),
        ("MPI_Bcast", "call", "root-to-all", "MPI_Ibcast", "MPI_Bcast_c", "1.0"),
        ("MPI_Ireduce_c", "request", "all-to-root", "MPI_Ireduce_c", "MPI_Ireduce_c", "4.0"),
        ("MPI_Exscan", "call", "prefix", "MPI_Iexscan", "MPI_Exscan_c", "2.0"),
        ("MPI_Barrier", "none", "all-to-all", "MPI_Ibarrier", None, "1.0"),
        ("MPI_Allgatherv_init", "start", "all-to-all", "MPI_Iallgatherv", None, "4.0"),
        ("MPI_Neighbor_alltoallw", "call", "neighbours", "MPI_Ineighbor_alltoallw", None, "3.0"),
        ("MPI_Put", "synchronization", "none", None, "MPI_Put_c", "2.0"),
        ("MPI_Rget_accumulate", "request", "none", None, "MPI_Rget_accumulate_c", "3.0"),
        ("MPI_Fetch_and_op", "synchronization", "none", None, None, "3.0"),
        ("MPI_Wait", "none", "none", None, None, "1.0"),
        ("MPI_Comm_rank", "none", "none", None, None, "1.0"),
        ("MPI_Type_size", "none", "none", None, "MPI_Type_size_c", "1.0"),
        ("MPI_Never_heard_of", "none", "none", None, None, ""),
    ],
)
def test_what_a_function_is(
    name: str, completion: str, dependence: str, nonblocking: str | None, large: str, since: str
) -> None:
    assert mpi_facts.completion(name) == completion
    assert mpi_facts.dependence(name) == dependence
    assert mpi_facts.nonblocking_form(name) == nonblocking
    if large is not None or completion in ("none", "synchronization"):
        assert mpi_facts.large_count_form(name) == large
    assert mpi_facts.since(name) == since


def test_forms_of_one_function() -> None:
    for name in ("MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init", "MPI_Iallreduce_c"):
        assert mpi_facts.blocking_form(name) == "MPI_Allreduce"
    assert mpi_facts.form_of("MPI_Ibcast", "persistent") == "MPI_Bcast_init"
    assert mpi_facts.form_of("MPI_Put", "request") == "MPI_Rput"
    assert mpi_facts.form_of("MPI_Compare_and_swap", "request") is None
    assert mpi_facts.blocking_form("MPI_Never_heard_of") == "MPI_Never_heard_of"
    assert mpi_facts.is_reduction("MPI_Ireduce_scatter") and not mpi_facts.is_reduction("MPI_Bcast")
    assert mpi_facts.spawns("MPI_Comm_spawn") and not mpi_facts.spawns("MPI_Comm_dup")


def test_what_waits_and_what_only_looks() -> None:
    waits = {n for n in mpi_facts.functions() if mpi_facts.is_wait(n)}
    polls = {n for n in mpi_facts.functions() if mpi_facts.is_poll(n)}
    assert {n for n in waits if "Win" not in n} == {
        "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome",
    }  # fmt: skip
    assert {"MPI_Win_fence", "MPI_Win_wait", "MPI_Win_unlock", "MPI_Win_flush_local"} <= waits
    assert "MPI_Win_lock" not in waits and "MPI_Win_post" not in waits
    assert polls >= {"MPI_Testsome", "MPI_Improbe", "MPI_Request_get_status", "MPI_Win_test"}
    assert not polls & waits and "MPI_Probe" not in polls | waits


def test_arguments_where_the_standard_has_them() -> None:
    assert mpi_facts.position("MPI_Sendrecv", "rtag") == 9
    assert mpi_facts.position("MPI_Irecv", "request") == 6
    assert mpi_facts.position("MPI_Recv", "request") is None
    assert mpi_facts.access("MPI_Gatherv") == {0: "r", 3: "w", 4: "r", 5: "r"}
    assert mpi_facts.access("MPI_Wait") == {0: "rw", 1: "w"}
    (put,) = mpi_facts.buffers("MPI_Put")
    (get,) = mpi_facts.buffers("MPI_Rget")
    assert (put.access, get.access, put.peer) == ("r", "w", 3)
    send, receive = mpi_facts.buffers("MPI_Sendrecv")
    assert (send.address, send.count, send.peer, send.tag) == (0, 1, 3, 4)
    assert (receive.address, receive.count, receive.peer, receive.tag) == (5, 6, 8, 9)
    send, receive = mpi_facts.buffers("MPI_Sendrecv_replace")
    assert (send.address, send.access, send.peer, send.tag) == (0, "r", 3, 4)
    assert (receive.address, receive.access, receive.peer, receive.tag) == (0, "w", 5, 6)


def test_buffers_with_a_block_for_each_process() -> None:
    each = {n: [b.per_process for b in mpi_facts.buffers("MPI_" + n)] for n in (
        "Gather", "Scatter", "Allgather", "Alltoall", "Bcast", "Reduce", "Reduce_scatter_block"
    )}  # fmt: skip
    assert each == {
        "Gather": [False, True],
        "Scatter": [True, False],
        "Allgather": [False, True],
        "Alltoall": [True, True],
        "Bcast": [False],
        "Reduce": [False, False],
        "Reduce_scatter_block": [True, False],
    }
    sent, obtained = mpi_facts.buffers("MPI_Alltoallw")
    assert (sent.count, sent.displacements, sent.datatype, sent.lists, sent.typed) == (
        1, 2, 3, True, True,
    )  # fmt: skip
    assert (obtained.count, obtained.displacements, obtained.datatype) == (5, 6, 7)


def test_each_fact_is_said_once() -> None:
    """No entry repeats what its kind, or the function it is like, says already."""
    content = json.loads(TABLE.read_text())
    database = Database(TABLE)
    repeated = []
    for name, entry in content["functions"].items():
        base = content["defaults_by_kind"].get(database.functions[name].kind, {})
        if "like" in entry:
            base = {**base, **database.functions[entry["like"]].fields}
        repeated += [(name, field) for field, value in entry.items()
                     if field != "since" and base.get(field) == value]  # fmt: skip
    assert repeated == []


def test_every_argument_has_one_place_and_every_accessed_one_a_mode() -> None:
    for name, facts in mpi_facts.functions().items():
        roles = facts.roles or []
        assert len(set(roles)) == len(roles), name
        assert set(mpi_facts.access(name).values()) <= {"r", "w", "rw"}, name
        for buffer in mpi_facts.buffers(name):
            assert buffer.datatype >= 0, name


def test_a_table_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "functions.json"
    file.write_text('{"schema_version": 1, "functions": {}}')
    with pytest.raises(ValueError, match="schema_version is not 2"):
        Database(file)
