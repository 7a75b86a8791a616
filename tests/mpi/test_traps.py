"""What is known to go wrong with preloading and request handles, one test each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.profile.merge import merge_directory

pytestmark = pytest.mark.untimed

Build = Callable[..., Path]
Run = Callable[..., Any]

FAST = "path intra-node\npoint 1 0 100 0 0\npoint 1048576 0 100 0 0"


def test_shared_handles_of_eager_sends_are_complete_at_once(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "shared", table=FAST)
    for operation in ("MPI_Isend", "MPI_Irecv"):
        assert run.total(operation, "transfers") == 600
        assert run.total(operation, "bytes") == 4800
        assert run.total(operation, "unknown_end") == 0
    # Head and tail are 0 in the table: only duplicates of a handle would leave anything open.
    assert run.total("MPI_Isend", "undetermined") == 0


def test_pcontrol_pauses_and_resumes(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "paused")
    assert run.total("MPI_Bcast", "count", 0) == 2
    assert run.total("MPI_Bcast", "bytes", 0) == 16


def test_a_static_object_that_finalizes_after_main(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "late")
    assert run.total("MPI_Bcast", "count") == 2
    assert (run.ranks["ended"] == 0).all()
    assert not (run.folder / "parts").exists()


def test_a_forked_child_changes_nothing(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "forked")
    assert run.total("MPI_Bcast", "count") == 4
    assert (run.ranks["ended"] == 0).all()


def test_calls_from_callbacks_belong_to_the_outer_call(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "nested")
    assert run.total("MPI_Allreduce", "count") == 6
    assert run.total("MPI_Pack", "count") == 0


def test_threads(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "threads")
    if "no threads" in run.process.stdout:
        pytest.skip("this library has no MPI_THREAD_MULTIPLE")
    for operation in ("MPI_Isend", "MPI_Irecv", "MPI_Waitall"):
        assert run.total(operation, "count") == 2 * 3 * 200
    assert run.total("MPI_Irecv", "bytes") == 8 * 2 * 3 * 200
    assert (run.ranks["threads"] >= 3).all()
    # 8 MiB with the rows of three threads, and the call log's tables and first step.
    assert (run.ranks["memory_bytes"] <= (8 + 5) * 2**20).all()


def test_calls_that_fail_move_nothing(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "errors")
    assert run.total("MPI_Send", "count") == 2
    assert run.total("MPI_Send", "transfers") == 0
    assert run.total("MPI_Isend", "transfers") == 0


def test_calls_are_counted_after_one_that_an_error_handler_left(
    compiled: Build, measured: Run
) -> None:
    run = measured(compiled("odd"), "jumped")
    assert run.total("MPI_Send", "transfers") == 0
    for operation in ("MPI_Send", "MPI_Sendrecv", "MPI_Bcast"):
        assert run.total(operation, "count") == 2 * 3, operation
    assert run.total("MPI_Sendrecv", "bytes") == 2 * 3 * 16


def test_a_limit_of_file_sizes_costs_the_tables_not_the_program(
    compiled: Build, measured: Run
) -> None:
    run = measured(compiled("odd"), "limited")
    assert "parts are kept" in run.process.stderr
    merged = merge_directory(run.folder / "parts")
    assert merged.measures["count"].sum() == 2
    assert (merged.ranks["ended"] == 0).all()


def test_a_callback_on_another_stack_is_within_its_call(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "elsewhere")
    assert run.total("MPI_Bcast", "count") == 2 * 3
    assert run.total("MPI_Comm_free", "count") == 2


def test_a_call_that_fails_names_no_requests(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "some")
    assert run.total("MPI_Waitsome", "count") == run.total("MPI_Testsome", "count") == 2


def test_a_persistent_receive_starts_again_after_an_error(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "truncated")
    starts = int((run.folder / "expect.0").read_text().split()[5])
    assert run.total("MPI_Start", "transfers", 0) == starts >= 2
    assert run.total("MPI_Start", "unknown_end", 0) == 1


def test_receives_end_after_their_communicator(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "freed")
    assert run.total("MPI_Irecv", "transfers") == 2 * 50
    assert run.total("MPI_Irecv", "bytes") == 2 * 50 * 60
    assert run.total("MPI_Irecv", "unknown_end") == 0


def test_windows_that_were_freed_take_no_room(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "windows", environment={"OMPI_MCA_osc": "^rdma"})
    assert run.total("MPI_Put", "transfers") == 2 * 600
    assert run.total("MPI_Irecv", "bytes") == 2 * 3800 * 8
    assert run.total("MPI_Irecv", "unknown_end") == 0


def test_nothing_is_claimed_about_a_process_that_was_spawned(
    mpi: Any, compiled: Build, measured: Run
) -> None:
    if mpi.name != "openmpi":
        pytest.skip("hydra of MPICH 4.0 does not start processes for a program everywhere")
    table = "path inter-node\npoint 1 50 100 0 0\npoint 1048576 50000 100000 0 0"
    run = measured(compiled("spawned"), ranks=1, table=table)
    assert run.total("MPI_Irecv", "transfers") == 20
    assert run.total("MPI_Irecv", "undetermined") == 20


def test_thousands_of_communicators_at_a_time(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "communicators")
    calls = int((run.folder / "expect.0").read_text().split()[4])
    assert calls > 1000
    assert run.total("MPI_Bcast", "transfers", 0) == calls


def test_many_requests_in_one_call(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "many")
    assert run.total("MPI_Irecv", "bytes") == 2 * 700 * 4
    assert run.total("MPI_Irecv", "unknown_end") == 0


def test_sessions_without_init(mpi: Any, compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "sessions")
    if "not with this library" in run.process.stdout:
        pytest.skip(f"{mpi.name} has no sessions")
    merged = merge_directory(run.folder / "parts")
    number = merged.operations.index("MPI_Allreduce")
    rows = merged.measures[merged.measures["operation"] == number]
    assert rows["count"].sum() == 8
    assert rows["bytes"].sum() == 64
    assert (merged.ranks["ended"] == 0).all()


def test_each_partition_is_a_transfer(mpi: Any, compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "partitions", table=FAST)
    if "not with this library" in run.process.stdout:
        pytest.skip(f"{mpi.name} has no partitioned communication")
    assert run.total("MPI_Pready", "transfers") == 3
    assert run.total("MPI_Pready_range", "transfers") == 3
    assert run.total("MPI_Pready_list", "transfers") == 6
    assert run.total("MPI_Pready_list", "bytes") == 6 * 80
    assert run.total("MPI_Start", "bytes", 1) == 3 * 320
    assert run.measures["unknown_end"].sum() == 0


@pytest.mark.parametrize(
    ("how", "ended"),
    [("abort", 1), ("fatal", 1), ("exit", 2), ("_exit", 3), ("segv", 3), ("kill", 3)],
)
def test_a_crash_leaves_what_was_measured(
    how: str, ended: int, compiled: Build, measured: Run
) -> None:
    run = measured(compiled("crash"), how, check=False)
    assert not (run.folder / "measures.npy").exists()
    merged = merge_directory(run.folder / "parts")
    number = merged.operations.index("MPI_Sendrecv")
    rows = merged.measures[merged.measures["operation"] == number]
    assert rows["count"].sum() == 200
    assert rows["bytes"].sum() == 3200
    # The fatal error handler leaves through exit, abort or a signal, as the library likes.
    allowed = {ended, 2, 3} if how == "fatal" else {ended}
    assert int(merged.ranks["ended"][1]) in allowed


@pytest.mark.parametrize(
    "command", [["true"], ["sh", "-c", "exit 7"], ["env"], ["cat", "/dev/null"]]
)
def test_programs_without_mpi_stay_untouched(runtime: Any, command: list[str]) -> None:
    def run(**more: str) -> tuple[int, str]:
        process = subprocess.run(
            command, env={**os.environ, **more}, capture_output=True, text=True, check=False
        )
        assert process.stderr == ""
        return process.returncode, process.stdout

    bare = run(LD_PRELOAD="")
    loaded = run(LD_PRELOAD=str(runtime.library))
    assert loaded[0] == bare[0]
    assert loaded[1].replace(str(runtime.library), "") == bare[1]


def test_a_program_of_another_language_that_opens_the_library_late(
    compiled: Build, measured: Run
) -> None:
    """Python loads a module that needs the library, in a scope of its own."""
    found = subprocess.run(
        ["sh", "-c", f"ldd {compiled('odd')} | grep -o '/[^ ]*libmpi[^ ]*'"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()[0]
    program = (
        "import ctypes, os\n"
        f"mpi = ctypes.CDLL({found!r}, os.RTLD_LOCAL)\n"
        "everybody = ctypes.CDLL(None)\n"  # the preloaded object's names are global
        "assert everybody.MPI_Init(None, None) == 0\n"
        "assert everybody.MPI_Finalize() == 0\n"
        "print('fine')\n"
    )
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else "python3"
    run = measured([python, "-c", program])
    assert run.process.stdout.count("fine") == 2
    assert len(run.ranks) == 2


def test_a_library_of_the_other_family_that_is_opened_late(mpi: Any, measured: Run) -> None:
    """mpi4py takes whatever libmpi it finds; the wrappers of another would crash in it."""
    other = {"openmpi": "libmpich.so.12", "mpich": "libmpi.so.40"}[mpi.name]
    program = (
        "import ctypes, sys\n"
        "try:\n"
        f"    mpi = ctypes.CDLL({other!r})\n"
        "except OSError:\n"
        "    sys.exit(77)\n"
        "ctypes.CDLL(None).MPI_Init(None, None)\n"
    )
    run = measured([sys.executable, "-c", program], check=False)
    if run.process.returncode == 77:
        pytest.skip(f"no {other}")
    assert run.process.returncode == 1
    lines = [line for line in run.process.stderr.splitlines() if line.startswith("imbrex:")]
    assert lines
    assert all("launcher of its own library" in line for line in lines)


def test_plugins_that_are_loaded_one_after_the_other(
    compiled: Build, measured: Run, tmp_path: Path
) -> None:
    """The second lies where the first was; the first comes back as what it was."""
    built = compiled("plugin", "-shared", "-fPIC")
    first, second = (Path(shutil.copy(built, tmp_path / name)) for name in ("a.so", "b.so"))
    run = measured(compiled("plugins", "-ldl"), str(first), str(second), str(first))
    sites = json.loads((run.folder / "sites.json").read_text())["sites"]
    found: dict[str, int] = {}
    for row in run.rows("MPI_Bcast"):
        name = Path(sites[row["site"]]["image"]).name
        found[name] = found.get(name, 0) + int(row["count"])
    assert found == {"a.so": 2 * (10 + 30), "b.so": 2 * 20}
    assert len({int(row["site"]) for row in run.rows("MPI_Bcast")}) == 2


def test_nothing_is_measured_without_a_run_directory_or_when_disabled(
    compiled: Build, measured: Run
) -> None:
    run = measured(compiled("odd"), "paused", environment={"IMBREX_DISABLE": "1"})
    assert run.measures is None
    assert not (run.folder / "parts").exists()
    assert run.process.stderr == ""


def test_a_table_that_cannot_be_read_is_one_line(compiled: Build, measured: Run) -> None:
    run = measured(compiled("odd"), "paused", environment={"IMBREX_TABLE": "/nonexistent"})
    lines = [line for line in run.process.stderr.splitlines() if line.startswith("imbrex:")]
    assert len(lines) == 1
    assert "/nonexistent" in lines[0]
    assert run.total("MPI_Bcast", "uncalibrated") == 4


def test_a_directory_that_cannot_be_written_does_not_stop_the_program(
    compiled: Build, measured: Run
) -> None:
    run = measured(compiled("odd"), "paused", environment={"IMBREX_DIR": "/proc/nowhere"})
    assert run.process.returncode == 0
    assert any(line.startswith("imbrex:") for line in run.process.stderr.splitlines())


def test_ranks_and_sites_merge_over_many_ranks(compiled: Build, measured: Run) -> None:
    run = measured(compiled("collective"), ranks=4)
    assert sorted(run.ranks["rank"].tolist()) == [0, 1, 2, 3]
    # One program: the same call has the same site on all ranks.
    sites = [set(run.rows("MPI_Alltoallw", rank)["site"].tolist()) for rank in range(4)]
    assert all(s == sites[0] and len(s) == 1 for s in sites)
    assert (run.measures["section"] == 0).all()
    assert len(set(run.ranks["memory_bytes"].tolist())) == 1  # whatever the number of ranks
    assert 4 * 2**20 < run.ranks["memory_bytes"][0] <= (4 + 5) * 2**20  # profile, and call log
