"""Events from inside UCX against what the calls say, on real ranks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.mpi.event_sums import INTRA, check_collectives, sums

from imbrex.profile.merge import merge_directory

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[2] / "runtime"
ONE_SIDED = "".join(
    f"""
collective {operation} 2 any intra-node
point 1 1 40000 0 0
point 65536 20000 200000 0 0
point 4194304 1000000 8000000 0 0"""
    for operation in ("MPI_Put", "MPI_Get", "MPI_Accumulate")
)
TABLE = f"""path self
point 1 1 400 400 400
path intra-node
point 1 1 40000 -1 -1
point 8192 2000 60000 -1 -1
point 65536 20000 200000 30000 0
point 4194304 1000000 8000000 100000 0{ONE_SIDED}"""
CALLBACK = 2
RECEIVES = ("MPI_Irecv", "MPI_Recv")
BOUNDS = ("transfer", "overlap", "exposed")


@pytest.fixture
def run(mpi: Any, measured: Any, tmp_path: Path) -> Callable[..., Any]:
    """Run one mode of programs/messages.c over UCX with the events of `source`."""
    if subprocess.run(["sh", "-c", "ldconfig -p | grep -q libucp.so"], check=False).returncode:
        pytest.skip("no UCX on this machine")
    program = tmp_path / "messages"
    source_file = HERE / "programs" / "messages.c"
    subprocess.run(
        [mpi.mpicc, "-g", "-O1", "-w", "-o", str(program), str(source_file), "-pthread"], check=True
    )
    launcher: tuple[str, ...] = ()
    if mpi.name == "openmpi":
        settings = {"pml": "ucx", "pml_ucx_tls": "any", "pml_ucx_devices": "any"}
        launcher = tuple(w for k, v in settings.items() for w in ("--mca", k, v))

    def start(
        mode: str,
        source: str,
        check: bool = True,
        over: tuple[str, ...] = launcher,
        more: tuple[str, ...] = (),
    ) -> Any:
        environment = {"IMBREX_EVENTS": source, "UCX_TLS": "tcp,self"}
        return measured(
            program,
            mode,
            table=TABLE,
            environment={**os.environ, **environment},
            launcher=(*over, *more),
            check=check,
        )

    return start


def job(result: Any) -> dict[str, Any]:
    return dict(json.loads((result.folder / "job.json").read_text()))


@pytest.mark.untimed
def test_point_to_point_has_the_messages_of_the_calls(run: Any) -> None:
    calls, inside = run("pt2pt", "call"), run("pt2pt", "ucx")
    assert job(inside)["events"] == {"self": "call", "intra-node": "ucx", "inter-node": "call"}
    for operation in ("MPI_Isend", "MPI_Irecv", "MPI_Send", "MPI_Ssend", "MPI_Recv"):
        mine, theirs = sums(inside, operation), sums(calls, operation)
        assert theirs["transfers"] > 0
        assert mine["transfers"] == theirs["transfers"], operation
        # UCX 1.13 may not say how long a receive is that is complete at once: such a transfer has
        # an unknown end and no bytes. Whether one is depends on who comes first.
        unsized = mine["unknown_end"] if operation in RECEIVES else 0
        for quantity in ("bytes", "transfer_min_ns", "transfer_max_ns"):
            if unsized and quantity != "transfer_max_ns":
                assert mine[quantity] <= theirs[quantity], (operation, quantity)
            elif not unsized:
                assert mine[quantity] == theirs[quantity], (operation, quantity)
    for operation in ("MPI_Sendrecv", "MPI_Startall", "MPI_Mrecv"):
        mine, theirs = sums(inside, operation), sums(calls, operation)
        assert mine["transfers"] == theirs["transfers"]
        assert mine["bytes"] == theirs["bytes"] or mine["unknown_end"]
    rows = inside.measures[(inside.measures["path"] == INTRA) & (inside.measures["transfers"] > 0)]
    assert set(rows["source"].tolist()) == {CALLBACK}
    assert sums(inside, "MPI_Isend")["unknown_end"] == sums(inside, "MPI_Send")["unknown_end"] == 0


@pytest.mark.untimed
def test_collectives_move_what_their_algorithm_must(run: Any) -> None:
    check_collectives(run("collectives", "ucx"))


@pytest.mark.untimed
@pytest.mark.parametrize(
    ("mode", "transfers", "sent"),
    [("cancels", 4, 2000), ("threads", 600, 6000000), ("windows", 2, 200000)],
)
def test_faults_leave_the_bytes_that_moved(run: Any, mode: str, transfers: int, sent: int) -> None:
    result = run(mode, "ucx")
    assert int(result.measures["transfers"].sum()) == transfers
    assert int(result.measures["bytes"].sum()) == sent


@pytest.mark.untimed
def test_a_communicator_with_the_number_of_one_that_is_freed_loses_nothing(run: Any) -> None:
    result = run("renumbered", "ucx")
    for operation in ("MPI_Ssend", "MPI_Irecv"):
        row = sums(result, operation)
        assert row["transfers"] == 40, operation
        assert row["bytes"] == 40 * 20000 or (operation in RECEIVES and row["unknown_end"])
    assert sums(result, "MPI_Sendrecv")["transfers"] == 0


@pytest.mark.untimed
def test_threads_whose_requests_have_one_handle_after_another_have_their_bytes(run: Any) -> None:
    result = run("threads", "call")
    for operation in ("MPI_Isend", "MPI_Irecv"):
        row = sums(result, operation)
        assert (row["transfers"], row["bytes"]) == (300, 3000000), operation


@pytest.mark.untimed
def test_one_sided_messages_have_their_bytes_and_bounds(run: Any, mpi: Any) -> None:
    over = ("--mca", "osc", "ucx") if mpi.name == "openmpi" else ()
    calls, inside = run("onesided", "call", more=over), run("onesided", "ucx", more=over)
    for operation in ("MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Rget"):
        mine, theirs = sums(inside, operation), sums(calls, operation)
        for quantity in ("transfers", "bytes", "transfer_min_ns", "transfer_max_ns"):
            assert mine[quantity] == theirs[quantity], (operation, quantity)
        assert mine["unknown_end"] == mine["uncalibrated"] == mine["contradicted"] == 0
    # what is contiguous goes by UCX's puts and gets, what the library packs or requests does not
    for operation, count in (("MPI_Put", 16), ("MPI_Get", 8)):
        rows = inside.rows(operation)
        rows = rows[rows["transfers"] > 0]
        assert int(rows["transfers"][rows["source"] == CALLBACK].sum()) == count
    assert set(inside.rows("MPI_Accumulate")["source"].tolist()) == {0}


def test_one_sided_transfers_are_seen_over_before_they_are_closed(run: Any, mpi: Any) -> None:
    """Both ranks make progress, compute, and close the transfer then: its data had moved before."""
    over = ("--mca", "osc", "ucx") if mpi.name == "openmpi" else ()
    calls, inside = run("seen", "call", more=over), run("seen", "ucx", more=over)
    # an accumulate is over in its call where the library fetches and puts; MPICH sends messages
    early = ("MPI_Put", "MPI_Get", "MPI_Rput", "MPI_Rget")
    early += ("MPI_Accumulate",) if mpi.name == "openmpi" else ()
    for operation in early:
        mine, theirs = sums(inside, operation), sums(calls, operation)
        for quantity in ("transfers", "bytes", "transfer_min_ns", "transfer_max_ns"):
            assert mine[quantity] == theirs[quantity], (operation, quantity)
        assert theirs["transfers"] == 4 and mine["contradicted"] == mine["unknown_end"] == 0
        assert theirs["overlap_max_ns"] == theirs["transfer_max_ns"], operation
        assert mine["overlap_max_ns"] < mine["transfer_max_ns"] / 2, operation


@pytest.mark.untimed
def test_auto_takes_what_works(run: Any, mpi: Any) -> None:
    assert job(run("cancels", "auto"))["events"]["intra-node"] == "ucx"
    if mpi.name == "openmpi":
        result = run("cancels", "auto", over=("--mca", "pml", "ob1"))
        assert set(job(result)["events"].values()) == {"call"}
        assert "does not use UCX" in job(result)["events_reason"]
        assert result.process.stderr == ""


@pytest.mark.untimed
def test_callbacks_after_the_end_are_the_librarys_alone(run: Any) -> None:
    result = run("finalize", "ucx")
    assert sums(result, "MPI_Isend")["bytes"] == 2 * 2000000


@pytest.mark.untimed
@pytest.mark.parametrize("source", ["call", "ucx"])
def test_what_another_thread_completes_is_undetermined(run: Any, source: str) -> None:
    """Or known, where the thread that posted it saw its end: in the library, at its return."""
    result = run("handover", source)
    for operation in ("MPI_Isend", "MPI_Irecv"):
        row = sums(result, operation)
        assert row["transfers"] == 100, operation
        assert row["bytes"] == 100 * 200000 or (source == "ucx" and row["unknown_end"]), operation
        assert row["contradicted"] == 0
    assert source == "ucx" or sums(result, "MPI_Isend")["undetermined"] == 100


@pytest.mark.untimed
@pytest.mark.parametrize("how", ["killed", "leaves"])
def test_a_rank_that_is_gone_leaves_its_profile(run: Any, how: str) -> None:
    result = run(how, "ucx", check=False)
    if how == "killed":  # where rank 1 only leaves, Hydra may give its 0
        assert result.process.returncode != 0
    merged = merge_directory(result.folder / "parts")
    sends = merged.measures[merged.measures["operation"] == merged.operations.index("MPI_Isend")]
    assert int(sends["count"][sends["rank"] == 1].sum()) == 2
    assert int(sends["count"][sends["rank"] == 0].sum()) >= 1  # its launcher may end it
    assert sorted(p.name for p in result.folder.rglob("*.part")) == ["rank-0.part", "rank-1.part"]


@pytest.mark.untimed
def test_where_ucx_is_not_used_the_calls_are_the_source(mpi: Any, run: Any) -> None:
    if mpi.name != "openmpi":
        pytest.skip("this library always uses UCX")
    result = run("cancels", "ucx", over=("--mca", "pml", "ob1"))
    assert set(job(result)["events"].values()) == {"call"}
    assert "no events from UCX" in result.process.stderr


@pytest.fixture
def headers() -> None:
    """Skip where UCX's headers are not installed."""
    if not Path("/usr/include/ucp/api/ucp.h").exists():
        pytest.skip("no UCX headers (libucx-dev)")


@pytest.mark.untimed
def test_the_declared_interface_is_that_of_the_headers(headers: None) -> None:
    command = ["gcc", "-fsyntax-only", f"-I{RUNTIME}"]
    subprocess.run([*command, str(HERE / "programs" / "abi.c")], check=True)


@cache
def built_without_mpi(name: str, folder: Path, *flags: str) -> Path:
    """One of the programs with the source and the engine."""
    program = folder / name
    sources = [HERE / "programs" / f"{name}.c", *sorted((RUNTIME / "core").glob("*.c"))]
    sources += [RUNTIME / "base" / "clock.c"]
    parts = ("ucx.c", "ucx_rma.c", "ucx_endpoints.c", "onesided.c", "self_messages.c")
    sources += [RUNTIME / "transport" / part for part in parts]
    command = ["gcc", "-O1", "-g", "-D_GNU_SOURCE", *flags, f"-I{RUNTIME}", "-o", str(program)]
    libraries = ["-rdynamic", "-lucp", "-lucs", "-lpthread", "-ldl"]
    subprocess.run([*command, *map(str, sources), *libraries], check=True)
    return program


def without_mpi(
    name: str, folder: Path, *flags: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run one of the programs, built once in this folder."""
    environment = {**os.environ, "UCX_TLS": "tcp", "IMBREX_EVENTS": "ucx", **variables}
    environment.pop("LD_PRELOAD", None)  # the address sanitizer comes first
    return subprocess.run(
        [str(built_without_mpi(name, folder, *flags))],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.untimed
def test_every_message_of_a_worker_to_itself(headers: None, tmp_path: Path) -> None:
    result = without_mpi("loopback", tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("without-mpi")


@pytest.mark.parametrize("transports", ["tcp", "shm,self"])
def test_what_nobody_flushes_is_seen_over(headers: None, folder: Path, transports: str) -> None:
    """Three puts and three gets of 4 MB are over before 100 ms of work; those could hide them."""
    result = without_mpi("watched", folder, UCX_TLS=transports)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("MPI_")]
    assert [line[0] for line in lines] == ["MPI_Put", "MPI_Get"]
    for _, transfers, moved, hidden, whole in lines:
        assert (int(transfers), int(moved)) == (3, 3 << 22)
        assert int(hidden) < int(whole) / 2


@pytest.mark.untimed
def test_a_worker_that_is_closed_early_loses_nothing_of_the_others(
    headers: None, tmp_path: Path
) -> None:
    """A send, a receive, a put and a flush are open in it; the address sanitizer watches."""
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    result = without_mpi("closed", tmp_path, *flags, ASAN_OPTIONS="detect_leaks=0")
    assert result.returncode == 0, result.stdout + result.stderr
    lines = [line.split() for line in result.stdout.splitlines() if line.startswith("MPI_")]
    messages, puts = ([int(count) for count in words[1:]] for words in lines)
    # 20 messages, sent and received; of what was open UCX may say that it was cancelled
    assert messages[0] in (41, 42)
    assert messages[1] in (40 * 1000, 40 * 1000 + (4 << 20))
    assert puts[0] <= 1


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_rank_that_closes_late_is_answered(mpi: Any, measured: Any, tmp_path: Path) -> None:
    """Without Imbrex this program does not end.

    It answers until nothing came for 20 ms: beside others that compute, this may be too soon.
    """
    program = tmp_path / "late"
    source = HERE / "programs" / "late.c"
    command = [mpi.mpicc, "-O1", "-rdynamic", "-o", str(program), str(source), "-ldl"]
    subprocess.run(command, check=True)
    result = measured(program, environment={**os.environ, "UCX_TLS": "tcp,self"}, timeout=30)
    assert result.process.stdout == "done\n"
