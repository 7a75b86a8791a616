"""Events from inside PSM2 under Open MPI's `pml cm` with `mtl psm2`, on real ranks.

There is no Omni-Path adapter: PSM2's devices `self` and `shm` run where a file system of the test's
own has a device file (without_hardware.sh). Two hosts are two names of this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.mpi.event_sums import INTRA, check_collectives, sums

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[2] / "runtime"
IMBREX = str(Path(sys.executable).with_name("imbrex"))
IN_NAMESPACE = ("unshare", "-m", str(HERE / "without_hardware.sh"))
OPEN_MPI = pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
PSM2 = ("--mca", "pml", "cm", "--mca", "mtl", "psm2")
TWO_HOSTS = (
    *("--bind-to", "none", "--map-by", "slot", "--mca", "plm_rsh_agent", str(HERE / "agent.sh")),
    *("--mca", "oob_tcp_if_include", "lo", "--mca", "rtc", "^hwloc", "--host", "one:2,two:2"),
)
# No memory is faster than these lower bounds: they hold in every run, so that bounds of two runs
# have something in common.
TABLE = """path self
point 1 1 400 400 400
path intra-node
point 1 1 40000 -1 -1
point 8192 200 60000 -1 -1
point 65536 1500 200000 30000 0
point 4194304 100000 8000000 100000 0
path inter-node
point 1 1 40000 -1 -1
point 4194304 100000 8000000 100000 0"""
SELF, INTER = 1, 3
POLL = 1
SIZES = (100, 20000, 4 << 20)


@pytest.fixture(scope="module")
def namespace() -> None:
    """Skip where PSM2 cannot be brought to run, and say why."""
    if os.geteuid() != 0:
        pytest.skip("mount namespaces need root")
    listed = subprocess.run(
        ["ompi_info", "--parsable"], capture_output=True, text=True, check=False
    ).stdout
    if "mca:mtl:psm2:" not in listed:
        pytest.skip("this Open MPI has no mtl psm2")
    tried = subprocess.run([*IN_NAMESPACE, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no mount namespace as PSM2 needs it: {tried.stderr.strip()}")


@pytest.fixture
def run(mpi: Any, measured: Any, namespace: None, tmp_path: Path) -> Callable[..., Any]:
    """Run a mode of a program over PSM2 with these events."""

    def start(source: Path, mode: str, events: str, over: tuple[str, ...] = (), **how: Any) -> Any:
        program = tmp_path / source.stem
        if not program.exists():
            words = [mpi.mpicc, "-g", "-O1", "-w", "-o", str(program), str(source), "-pthread"]
            subprocess.run(words, check=True)
        environment = {**os.environ, "IMBREX_EVENTS": events, "PSM2_DEVICES": "self,shm"}
        return measured(
            program,
            mode,
            table=TABLE,
            environment=environment,
            launcher=(*PSM2, *over),
            **{"before": IN_NAMESPACE, **how},
        )

    return start


PEERS = HERE / "programs" / "peers.c"
MESSAGES = HERE.parent / "ucx" / "programs" / "messages.c"


def job(result: Any) -> dict[str, Any]:
    return dict(json.loads((result.folder / "job.json").read_text()))


def agree(mine: dict[str, int], theirs: dict[str, int]) -> bool:
    """Whether what may be hidden and exposed by two sources can be the same."""
    return all(
        max(mine[f"{part}_min_ns"], theirs[f"{part}_min_ns"])
        <= min(mine[f"{part}_max_ns"], theirs[f"{part}_max_ns"])
        for part in ("overlap", "exposed", "transfer")
    )


@pytest.mark.untimed
@OPEN_MPI
@pytest.mark.parametrize(
    ("hosts", "ranks", "pairs_by_path"),
    [((), 2, {INTRA: 2}), (TWO_HOSTS, 4, {INTRA: 4, INTER: 8})],
    ids=["node", "two nodes"],
)
def test_every_message_is_counted_with_its_path(
    run: Any, hosts: tuple[str, ...], ranks: int, pairs_by_path: dict[int, int]
) -> None:
    """Wildcard receives, which are of the path of their sender, and cancelled ones among them.

    A pair counts in both directions.
    """
    how: dict[str, Any] = {"ranks": ranks}
    if hosts:
        how["before"] = ("unshare", "-u", str(HERE / "agent.sh"), "one", *IN_NAMESPACE)
    calls = run(PEERS, "all", "call", hosts, **how)
    inside = run(PEERS, "all", "psm2", hosts, **how)
    seen = {"intra-node": "psm2", "inter-node": "psm2" if INTER in pairs_by_path else "call"}
    assert job(inside)["events"] == {"self": "call", **seen}
    for operation in ("MPI_Isend", "MPI_Irecv", "MPI_Send", "MPI_Recv"):
        for path, pairs in pairs_by_path.items():
            mine, theirs = sums(inside, operation, path), sums(calls, operation, path)
            assert mine["transfers"] == len(SIZES) * pairs, (operation, path)
            assert mine["bytes"] == sum(SIZES) * pairs, (operation, path)
            assert mine["unknown_end"] == 0
            assert agree(mine, theirs), (operation, path)
            rows = inside.rows(operation)
            rows = rows[(rows["path"] == path) & (rows["transfers"] > 0)]
            assert set(rows["source"].tolist()) == {POLL}
    itself = sums(inside, "MPI_Sendrecv", SELF)
    assert (itself["transfers"], itself["bytes"]) == (
        2 * len(SIZES) * ranks,
        2 * sum(SIZES) * ranks,
    )
    assert all(sums(inside, "MPI_Sendrecv", path)["transfers"] == 0 for path in pairs_by_path)


@pytest.mark.untimed
@OPEN_MPI
def test_point_to_point_has_the_messages_of_the_calls(run: Any) -> None:
    calls, inside = run(MESSAGES, "pt2pt", "call"), run(MESSAGES, "pt2pt", "psm2")
    for operation in (
        *("MPI_Isend", "MPI_Irecv", "MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Mrecv"),
        *("MPI_Sendrecv", "MPI_Startall"),
    ):
        mine, theirs = sums(inside, operation), sums(calls, operation)
        assert theirs["transfers"] > 0
        for quantity in ("transfers", "bytes", "transfer_min_ns", "transfer_max_ns", "unknown_end"):
            assert mine[quantity] == theirs[quantity], (operation, quantity)
        assert agree(mine, theirs), operation


@pytest.mark.untimed
@OPEN_MPI
def test_collectives_move_what_their_algorithm_must(run: Any) -> None:
    check_collectives(run(MESSAGES, "collectives", "psm2"))


@OPEN_MPI
def test_what_has_moved_before_the_work_is_not_hidden(run: Any) -> None:
    """Both ranks make progress, compute, and wait then: the calls leave open what was hidden."""
    calls, inside = run(PEERS, "moved", "call"), run(PEERS, "moved", "psm2")
    for operation in ("MPI_Isend", "MPI_Irecv"):
        mine, theirs = sums(inside, operation), sums(calls, operation)
        assert mine["transfers"] == theirs["transfers"] == 8
        assert theirs["overlap_max_ns"] == theirs["transfer_max_ns"], operation
        assert mine["overlap_max_ns"] < mine["transfer_max_ns"] / 2, operation
        assert mine["unknown_end"] == mine["contradicted"] == 0


@pytest.mark.untimed
@OPEN_MPI
@pytest.mark.parametrize(
    ("mode", "transfers", "sent"),
    [("cancels", 4, 2000), ("threads", 600, 6000000), ("windows", 2, 200000)],
)
def test_faults_leave_the_bytes_that_moved(run: Any, mode: str, transfers: int, sent: int) -> None:
    result = run(MESSAGES, mode, "psm2")
    assert int(result.measures["transfers"].sum()) == transfers
    assert int(result.measures["bytes"].sum()) == sent
    if mode == "cancels":
        assert sums(result, "MPI_Irecv")["unknown_end"] == 0


@pytest.mark.untimed
@OPEN_MPI
def test_what_another_thread_completes_is_undetermined(run: Any) -> None:
    result = run(MESSAGES, "handover", "psm2")
    for operation in ("MPI_Isend", "MPI_Irecv"):
        row = sums(result, operation)
        assert (row["transfers"], row["bytes"]) == (100, 100 * 200000), operation
        assert row["contradicted"] == 0


@pytest.mark.untimed
@OPEN_MPI
def test_auto_takes_it_and_the_run_says_so(
    mpi: Any, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(PEERS, "all", "auto")
    assert job(result)["events"]["intra-node"] == "psm2"
    monkeypatch.setenv("PSM2_DEVICES", "self,shm")
    for events in ((), ("--events", "psm2")):
        launcher = [mpi.mpirun, "--oversubscribe", *PSM2, "-n", "2", str(tmp_path / "peers")]
        command = [IMBREX, "run", "-q", "--force", "-o", "run", *events, "--", *launcher]
        done = subprocess.run(
            [*IN_NAMESPACE, *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        described = json.loads((tmp_path / "run" / "run.json").read_text())
        assert described["events"]["intra-node"] == "psm2"


@pytest.mark.untimed
def test_where_it_is_not_used_the_calls_are_the_source(
    mpi: Any, measured: Any, compiled: Callable[..., Path]
) -> None:
    result = measured(
        compiled("endings"), table=TABLE, environment={**os.environ, "IMBREX_EVENTS": "psm2"}
    )
    assert set(job(result)["events"].values()) == {"call"}
    said = [line for line in result.process.stderr.splitlines() if line.startswith("imbrex: ")]
    absent = "this MPI does not use PSM2's matched queues here"
    assert said == [f"imbrex: no events from PSM2: {absent}: the calls are the source"]


@pytest.mark.untimed
def test_the_declared_interface_is_that_of_the_headers(mpi: Any, static_runtime: Path) -> None:
    if not Path("/usr/include/psm2_mq.h").exists():
        pytest.skip("no PSM2 headers (libpsm2-dev)")
    folders = [f"-I{RUNTIME}", f"-I{static_runtime.parent}"]
    command = [mpi.mpicc, "-fsyntax-only", "-D_GNU_SOURCE", *folders]
    subprocess.run([*command, str(HERE / "programs" / "abi.c")], check=True)
