"""The progress thread: data moves without a call, and nothing else changes.

`programs/helped.c` looks into its memory for the data of messages that it has posted, and makes no
call of MPI until they are there or its patience ends.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import forked

from imbrex.profile.run import load_run

pytestmark = pytest.mark.untimed

HERE = Path(__file__).parent / "programs"
TCP = {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "tcp,self"}
"""Over TCP both libraries move large messages only inside calls."""


@pytest.fixture
def start(mpi, runtime, compiled, tmp_path):
    """Start two ranks of helped.c, or another program, behind imbrex-exec or without it."""

    def run(*words, program=None, options=("--progress",), **variables):
        prefix = [str(runtime.prefix / "bin" / "imbrex-exec"), *options] if options else []
        binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
        return subprocess.run(
            [mpi.mpirun, *binding, "-n", "2", *prefix, str(program or compiled("helped")), *words],
            cwd=tmp_path,
            env={**os.environ, **TCP, **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.parametrize("scenario", ["message", "mixed", "persistent", "alltoall", "allreduce"])
def test_data_moves_while_the_program_makes_no_call(start, scenario):
    done = start(scenario)
    assert done.stdout.split("\n")[:2] == ["moved", "right"], done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("interface", ["mpif.h", "mpi", "mpi_f08"])
def test_so_it_does_for_fortran(mpi, start, tmp_path, interface):
    compiler = shutil.which(f"mpif90.{mpi.name}")
    if compiler is None:
        pytest.skip(f"mpif90.{mpi.name} is not installed")
    program = tmp_path / "helped"
    flags = {"mpif.h": [], "mpi": ["-DMODULE"], "mpi_f08": ["-DF08"]}[interface]
    command = [compiler, "-cpp", "-O1", "-w", *flags, "-o", str(program), str(HERE / "helped.f90")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode and interface == "mpi_f08":
        pytest.skip(f"{compiler} has no module mpi_f08")
    assert built.returncode == 0, built.stderr
    done = start(program=program)
    assert done.stdout.split("\n")[:2] == ["moved", "right"], done.stderr
    assert done.returncode == 0


def test_and_does_not_without_it(start):
    done = start("message", options=(), HELPED_WAIT_S="0.3")
    assert done.stdout.split("\n")[:2] == ["not moved", "right"], done.stderr


def test_no_looks_while_the_program_is_inside_mpi(start):
    """Not in a call that is not recorded either, because it leaves nothing open."""
    looks = {}
    for scenario in ("inside", "outside"):
        done = start(scenario, IMBREX_PROGRESS_TELL="1")
        assert done.stdout == "right\n", done.stderr
        looks[scenario] = int(re.search(r"rank 0: progress thread: (\d+) looks", done.stderr)[1])
    assert looks["inside"] < 20 < 40 < looks["outside"]


def test_operations_of_the_program_run_in_its_own_threads(start):
    done = start("own-operation", HELPED_WAIT_S="0.3")
    assert done.stdout.split("\n")[:2] == ["not moved", "right"], done.stderr
    assert "in another thread" not in done.stdout


@pytest.mark.parametrize("scenario", ["fork", "signals", "freed", "truncated"])
def test_what_it_must_not_change(start, scenario):
    done = start(scenario)
    assert done.stdout == "right\n", done.stderr
    assert done.returncode == 0


def test_it_has_the_cores_and_the_priority_of_the_process(start):
    done = start("placed")
    assert done.stdout == "right\n", done.stderr


def test_threads_of_the_program_beside_it(start):
    done = start("threads", "3")
    assert done.stdout == "right\n", done.stderr


@pytest.mark.parametrize("scenario", ["finalize", "exit", "kill", "abort"])
def test_it_hangs_no_program_that_ends_with_messages_open(start, scenario):
    plain, helped = start(scenario, options=(), HELPED_WAIT_S="0.3"), start(scenario)
    # A rank that exits is an error where the other has not posted yet, or is still to exit when the
    # launcher hears of it: with the thread and without.
    if scenario != "exit":
        assert (helped.returncode != 0) == (plain.returncode != 0), helped.stderr


@pytest.mark.parametrize("required", ["init", "0", "1", "2", "3"])
def test_the_program_sees_the_level_of_threads_that_it_asked_for(start, required):
    plain, helped = start("levels", required, options=()), start("levels", required)
    assert helped.stdout == plain.stdout
    assert "told" in helped.stdout


@pytest.fixture
def loaded(mpi, tmp_path):
    """A program that is not linked with MPI, and helped.c as its plugin."""
    program, plugin = tmp_path / "loaded", tmp_path / "plugin.so"
    source = str(HERE / "loaded.c")
    subprocess.run(["cc", "-O1", "-o", str(program), source, "-ldl"], check=True)
    flags = ["-O1", "-w", "-fPIC", "-shared", "-Dmain=program", "-pthread"]
    words = [mpi.mpicc, *flags, "-o", str(plugin), str(HERE / "helped.c")]
    subprocess.run(words, check=True)
    return program, plugin


def test_a_plugin_that_calls_mpi(start, loaded):
    program, plugin = loaded
    done = start(str(plugin), "message", program=program)
    assert done.stdout.split("\n")[:2] == ["moved", "right"], done.stderr
    assert done.returncode == 0


def test_a_program_that_takes_mpi_out_of_the_library_itself_runs_without(start, loaded):
    program, plugin = loaded
    linked = subprocess.run(["ldd", str(plugin)], capture_output=True, text=True, check=True)
    found = [line.split("=>")[1].split()[0] for line in linked.stdout.splitlines() if "=>" in line]
    library = next(file for file in found if Path(file).name.startswith(("libmpi.", "libmpich.")))
    done = start("--library", library, program=program, IMBREX_PROGRESS_TELL="1")
    assert done.stdout == "told 0\n" * 2, done.stderr
    assert done.returncode == 0 and "progress thread" not in done.stderr


def _measured(folder, *words):
    line = ["run", "--progress", *words]
    return forked.imbrex(line, cwd=folder, env={**os.environ, **TCP}, timeout=120)


def test_two_measured_ranks_tell_what_it_did(mpi, compiled, tmp_path):
    binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
    line = [mpi.mpirun, *binding, "-n", "2", str(compiled("helped")), "message"]
    done = _measured(tmp_path, "-o", "helped", "--", *line)
    assert done.stdout.split("\n")[:2] == ["moved", "right"], done.stderr
    assert "The progress thread looked" in done.stderr
    run = load_run(tmp_path / "helped")
    progress = run.job.progress
    assert progress is not None and progress.ranks == 2
    assert progress.looks >= progress.moving_looks > 0
    # The sends and the receives were open meanwhile, one of each a rank. (Whether a look saw one
    # complete is a matter of who comes first: the program watches its memory, and calls MPI.)
    assert len(progress.sites) == 2
    assert all(site["looks"] > 0 and site["completed"] <= 2 for site in progress.sites)
    # What the probe saw without a progress thread proves nothing with one.
    assert run.evidence is None or not run.evidence["expected"].any()
    # A probe that recommends no interval: Imbrex begins with its own. One that does: with that.
    assert progress.interval_s == 500e-6
    profile = json.loads((tmp_path / "helped" / "machine.json").read_text())
    (tmp_path / "known.json").write_text(json.dumps({**profile, "progress_interval_s": 1e-3}))
    done = _measured(tmp_path, "-o", "again", "--machine", "known.json", "--", *line)
    assert done.returncode == 0, done.stderr
    assert load_run(tmp_path / "again").job.progress.interval_s == 1e-3


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"IMBREX_PROGRESS": "often"}, "IMBREX_PROGRESS=often: write on, off, or microseconds"),
        ({"IMBREX_PROGRESS": "0.001"}, "IMBREX_PROGRESS=0.001: write on, off, or microseconds"),
        ({"IMBREX_PROGRESS_SHARE": "0"}, "IMBREX_PROGRESS_SHARE=0: write a share of a core"),
        ({"IMBREX_PROGRESS_SHARE": "101"}, "IMBREX_PROGRESS_SHARE=101: write a share of a core"),
    ],
)
def test_bad_variables_are_one_line_and_the_program_goes_on(
    mpi, runtime, compiled, tmp_path, variables, words
):
    environment = {"IMBREX_PROGRESS": "on", "LD_PRELOAD": str(runtime.library), **variables}
    done = subprocess.run(
        [mpi.mpirun, "-n", "2", str(compiled("helped")), "levels"],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0 and "told" in done.stdout
    lines = [line for line in done.stderr.splitlines() if "imbrex" in line]
    assert len(lines) == 1 and words in lines[0], done.stderr


@pytest.mark.parametrize("place", ["on the path", "in the working directory"])
def test_a_program_by_its_bare_name(start, runtime, compiled, tmp_path, place):
    folder = tmp_path if place == "in the working directory" else tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    shutil.copy(compiled("helped"), folder / "helped-here")
    path = os.pathsep.join([os.environ["PATH"], str(runtime.prefix / "bin"), str(tmp_path / "bin")])
    done = start("levels", program="helped-here", PATH=path)
    assert done.returncode == 0 and "told" in done.stdout, done.stderr
    done = subprocess.run(
        ["imbrex-exec", "--progress", "no-such-program"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 127


def test_an_unknown_option_of_imbrex_exec_is_one_line(runtime):
    done = subprocess.run(
        [str(runtime.prefix / "bin" / "imbrex-exec"), "--progres", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
