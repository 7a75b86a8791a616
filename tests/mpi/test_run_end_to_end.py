"""`imbrex run` on real ranks: what passes through untouched, and what is left when ranks die."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.complaints import complaints

from imbrex.profile.format import Ended
from imbrex.profile.run import load_run
from imbrex.profile.summary import rows, totals

pytestmark = pytest.mark.untimed


@pytest.mark.calibrates
def test_a_run_that_ends_well(mpi, program, imbrex, tmp_path):
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program))
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    assert "err of rank 0" in done.stderr
    assert "Measuring took" in done.stderr
    run = load_run(tmp_path / "run")
    assert run.merged
    assert not (tmp_path / "run" / "parts").exists()
    send = next(row for row in rows(run, "site") if row.operation == "MPI_Send")
    place = (Path(send.site.file).name, send.site.line, send.site.function)
    assert place == ("endings.c", 18, "main")
    assert (send.sums.count, send.sums.bytes, send.sizes) == (50, 5_000_000, (16, 16))
    assert run.ranks["ended"].tolist() == [Ended.FINALIZED] * 2
    job = json.loads((tmp_path / "run" / "run.json").read_text())
    assert job["command"][0] == mpi.mpirun
    assert job["exit_code"] == 0
    assert job["library"]["name"] == {"openmpi": "Open MPI", "mpich": "MPICH"}[mpi.name]
    assert job["machine"]["origin"] in ("quick", "cached")
    assert totals(run).uncalibrated == 0
    # A second look comes from the files alone.
    shown = imbrex("show", "run", "--json")
    content = json.loads(shown.stdout)
    assert content["totals"]["count"] == totals(run).count


def test_input_and_exit_code_pass_through(mpi, program, imbrex):
    line = ("run", "-q", "-o", "run", "--", mpi.mpirun, "-n", "2", str(program))
    done = imbrex(*line, "cat", input="a line\n")
    assert done.stdout == "read a line\nout of rank 0\n"
    done = imbrex("run", "-q", "--force", *line[2:], "code")
    assert done.returncode == 9


def test_several_programs_in_one_line(mpi, program, imbrex, tmp_path):
    line = f"{mpi.mpirun} -n 1 {program} : -n 1 {program} code".split()
    done = imbrex("run", "-o", "run", "--", *line)
    assert "out of rank 0" in done.stdout
    assert len(load_run(tmp_path / "run").ranks) == 2


def test_one_process_without_a_launcher(mpi, program, imbrex, tmp_path):
    done = imbrex("run", "-o", "run", "--", str(program))
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    assert len(load_run(tmp_path / "run").ranks) == 1


def test_a_run_directory_whose_name_is_no_text(mpi, program, imbrex, tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/a \xff'b")
    done = imbrex("run", "-o", folder, "--", mpi.mpirun, "-n", "2", str(program))
    assert "Measuring took" in done.stderr
    assert load_run(Path(folder)).merged


def test_the_prefix_in_the_line(mpi, program, imbrex, tmp_path):
    line = [mpi.mpirun, "-n", "2", "imbrex-exec", str(program)]
    assert imbrex("run", "-o", "run", "--", *line).returncode == 0
    assert totals(load_run(tmp_path / "run")).transfers >= 100


def test_not_an_mpi_program(mpi, imbrex, tmp_path):
    # MPICH's launcher tells the process of the end of standard input, and breaks where it is gone.
    line = [mpi.mpirun, "-n", "1", "sh", "-c", "cat; echo hi; exit 4"]
    done = imbrex("run", "-o", "run", "--", *line)
    assert (done.returncode, done.stdout) == (4, "hi\n")
    assert "made no MPI_Init" in done.stderr
    shown = imbrex("show", "run")
    assert shown.returncode == 2
    assert len(complaints(shown.stderr)) == 1


def test_refusals_before_the_start(mpi, program, imbrex, tmp_path):
    other = {"openmpi": "mpich", "mpich": "openmpi"}[mpi.name]
    (tmp_path / "exists").mkdir()
    (tmp_path / "exists" / "precious").write_text("x")
    (tmp_path / "text").write_text("x")
    (tmp_path / "empty.json").write_text("")
    app = str(program)
    for words, message in [
        (["--", mpi.mpirun, "-n", "2", "./nope"], "program not found"),
        (["--", mpi.mpirun, "-n", "2", "./text"], "not executable"),
        (["--", f"mpirun.{other}", "-n", "2", app], "is the launcher of"),
        (["--mpicc", f"/usr/bin/mpicc.{other}", "--", mpi.mpirun, "-n", "2", app], "belongs to"),
        (["--mpicc", "/bin/false", "--", mpi.mpirun, "-n", "2", app], "cannot compile"),
        (["-o", "exists", "--", mpi.mpirun, "-n", "2", app], "exists; choose another"),
        (["-o", "exists", "--force", "--", mpi.mpirun, "-n", "2", app], "does not replace it"),
        (["-o", "/proc/x/run", "--", mpi.mpirun, "-n", "2", app], "cannot be written"),
        (["--machine", "empty.json", "--", mpi.mpirun, "-n", "2", app], "empty.json"),
        (["--machine", "none.json", "--", mpi.mpirun, "-n", "2", app], "none.json"),
    ]:
        done = imbrex("run", *words)
        assert done.returncode == 2, words
        assert message in done.stderr
        assert len(complaints(done.stderr)) == 1, done.stderr
        assert done.stdout == ""
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty.json", "exists", "text"]
    assert (tmp_path / "exists" / "precious").read_text() == "x"


@contextmanager
def small_file_system(folder: Path, size: str) -> Iterator[Path]:
    """A new folder with room for `size` (as mount says it); a skip where none can be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.skipif(os.getuid() != 0, reason="mounting a small file system needs root")
def test_full_disk_while_it_runs(mpi, program, imbrex, tmp_path):
    with small_file_system(tmp_path / "disk", "128k") as disk:
        done = imbrex("run", "-o", str(disk / "run"), "--", mpi.mpirun, "-n", "2", str(program))
        job = disk / "run" / "job.json"
        warnings = json.loads(job.read_text())["warnings"] if job.exists() else []
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    assert "imbrex: " in done.stderr or any("had no file" in line for line in warnings)


@pytest.mark.skipif(os.getuid() != 0, reason="mounting a small file system needs root")
def test_a_disk_without_room_for_any_profile_is_said_once(mpi, program, imbrex, tmp_path):
    with small_file_system(tmp_path / "disk", "64k") as disk:
        done = imbrex("run", "-o", str(disk / "run"), "--", mpi.mpirun, "-n", "2", str(program))
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    lines = [line for line in done.stderr.splitlines() if "calibrated" not in line]
    said = " ".join(" ".join(lines).split())
    assert said.count("imbrex: ") == 1, done.stderr
    assert f"{disk / 'run'}: the disk is full: what was measured is lost; free some room" in said


def test_a_limit_of_memory_costs_no_program_its_exit_code(mpi, program, imbrex, tmp_path):
    """The library would end the program where it gets no memory in the merge.

    An arena of malloc for a second thread takes 64 MiB of address space in some runs and none in
    others: then Open MPI waits for ever in the first collective of any program.
    """
    limit_kib = {"openmpi": 90000, "mpich": 130000}[mpi.name]
    limited = f"ulimit -v {limit_kib}; export MALLOC_ARENA_MAX=1; exec {program}"
    words = ["sh", "-c", limited]
    plain = subprocess.run([mpi.mpirun, "-n", "2", *words], capture_output=True, text=True)
    if plain.returncode:
        pytest.skip("the program itself does not start with so little memory")
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", *words)
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n"), done.stderr
    run = load_run(tmp_path / "run")
    assert len(run.ranks) == 2
    assert (run.ranks["ended"] == 0).all()


@pytest.mark.calibrates
def test_settings_and_bindings_before_the_launcher(mpi, program, imbrex, tmp_path):
    """What `env` sets is in force for the calibration, and `taskset` stands before it too."""
    variable = {"openmpi": "OMPI_MCA_btl_vader_eager_limit", "mpich": "MPIR_CVAR_X"}[mpi.name]
    all_cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    wrapper = ["timeout", "60", "env", f"{variable}=5000", "taskset", "-c", all_cores]
    line = [*wrapper, mpi.mpirun, "-n", "2", str(program)]
    done = imbrex("run", "-o", "run", "--", *line)
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    run = load_run(tmp_path / "run")
    assert len(run.ranks) == 2
    assert list(run.job.command) == line
    machine = json.loads((tmp_path / "run" / "machine.json").read_text())
    assert machine["settings"][variable] == "5000"
    assert machine["ranks"] == 2


def test_a_launcher_in_a_script_is_told_of(mpi, program, imbrex, tmp_path):
    """Its ranks are measured, but the line taken for one process had no partner to calibrate."""
    words = ["sh", "-c", f"{mpi.mpirun} -n 2 {program}"]
    mpicc = ["--mpicc", f"/usr/bin/{mpi.mpicc}"]
    done = imbrex("run", *mpicc, "-o", "run", "--", *words)
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    said = f"imbrex: the {mpi.mpirun} inside the shell's command is not seen"
    assert done.stderr.startswith(said)
    (tmp_path / "job.sh").write_text(f"#!/bin/sh\n{mpi.mpirun} -n 2 {program}\n")
    (tmp_path / "job.sh").chmod(0o755)
    done = imbrex("run", *mpicc, "-o", "script", "--", "./job.sh")
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    for said in (done.stderr, imbrex("show", "script").stdout):
        words = " ".join(said.split())
        assert "./job.sh started 2 ranks by a launcher line" in words
        assert "another MPI job" not in words
    (tmp_path / "job.sh").write_text(f"#!/bin/sh\n{mpi.mpirun} -n 2 {program}\n" * 2)
    done = imbrex("run", *mpicc, "-o", "two", "--", "./job.sh")
    assert "another MPI job of this run ended before" in " ".join(done.stderr.split())


def test_a_script_with_another_mpi_goes_on_unmeasured(mpi, program, imbrex, tmp_path):
    other = {"openmpi": "mpich", "mpich": "openmpi"}[mpi.name]
    words = ["sh", "-c", f"{mpi.mpirun} -n 2 {program}"]
    done = imbrex("run", "--mpicc", f"/usr/bin/mpicc.{other}", "-o", "run", "--", *words)
    assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
    lines = done.stderr.splitlines()
    assert sum("name its mpicc with --mpicc" in line for line in lines) == 1
    assert any("nothing was measured" in line for line in lines)


def test_a_cleared_environment_is_named(mpi, program, imbrex, tmp_path):
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "1", "env", "-i", str(program))
    assert "made no MPI_Init" in done.stderr
    assert "`env -i`" in done.stderr


def test_a_line_that_fails_before_any_rank_is_told_by_its_exit_code(mpi, imbrex):
    done = imbrex("run", "-o", "run", "--", mpi.mpirun, "-n", "2", "false")
    assert done.returncode
    lines = [line for line in done.stderr.splitlines() if "nothing was measured" in line]
    assert len(lines) == 1 and f"ended with exit code {done.returncode}" in lines[0]


@pytest.mark.skipif(os.getuid() != 0, reason="mounting a small file system needs root")
def test_ranks_without_a_part_are_counted(mpi, program, imbrex, tmp_path):
    """One line says of how many ranks the profile had no file: none of them says it by itself."""
    imbrex("run", "-o", "two", "--", mpi.mpirun, "-n", "2", str(program))
    known = str(tmp_path / "two" / "machine.json")  # so that three ranks need no calibration
    with small_file_system(tmp_path / "disk", "1m") as disk:
        words = ["-o", str(disk / "run"), "--machine", known, "--", mpi.mpirun, "-n", "3"]
        done = imbrex("run", *words, str(program))
        assert (done.returncode, done.stdout) == (0, "out of rank 0\n")
        said = " ".join(done.stderr.split())
        told = re.findall(r"(\d) of 3 ranks had no file for their profile", said)
        assert [int(number) >= 2 for number in told] == [True]
