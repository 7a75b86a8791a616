"""The installed imbrex-exec without `imbrex run`, as before the programs of an application file."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from tests import forked
from tests.complaints import complaints

from imbrex.profile.format import Ended
from imbrex.profile.run import load_run

pytestmark = pytest.mark.untimed


@pytest.fixture
def imbrex(tmp_path):
    def run(*words):
        return forked.imbrex(words, cwd=tmp_path, timeout=60)

    return run


def _start(mpi, runtime, folder, *program, **variables):
    return _launch(mpi, folder, str(runtime.prefix / "bin" / "imbrex-exec"), *program, **variables)


def _launch(mpi, folder, *program, **variables):
    return subprocess.run(
        [mpi.mpirun, "-n", "2", *program],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_show_and_collect_complete_what_it_left(mpi, runtime, compiled, imbrex, tmp_path):
    program = str(compiled("timing"))
    done = _start(mpi, runtime, tmp_path, program, "blocking", IMBREX_DIR=str(tmp_path / "mine"))
    assert done.returncode == 0, done.stderr
    shown = imbrex("show", "mine", "--by", "operation")
    assert shown.returncode == 0, shown.stderr
    collected = imbrex("collect", "mine")
    assert collected.returncode == 0, collected.stderr
    assert "2 ranks" in collected.stdout + collected.stderr
    run = load_run(tmp_path / "mine")
    assert run.ranks["ended"].tolist() == [Ended.FINALIZED] * 2
    assert (tmp_path / "mine" / "run.json").exists()


def test_a_crash_leaves_parts_that_can_be_collected(mpi, runtime, compiled, imbrex, tmp_path):
    done = _start(mpi, runtime, tmp_path, str(compiled("crash")), "kill")
    assert done.returncode != 0
    parts = sorted(p.name for p in (tmp_path / "imbrex-run" / "parts").iterdir())
    assert parts == ["rank-0.part", "rank-1.part"]
    assert imbrex("show", "imbrex-run").returncode == 0
    assert imbrex("collect", "imbrex-run").returncode == 0
    assert (tmp_path / "imbrex-run" / "measures.npy").exists()
    assert Ended.DIED in load_run(tmp_path / "imbrex-run").ranks["ended"]
    for part in (tmp_path / "imbrex-run" / "parts").iterdir():
        part.touch()  # as in a copy whose times are those of copying
    copied = imbrex("show", "imbrex-run")
    assert copied.returncode == 0, copied.stderr
    assert "ended before" not in copied.stdout + copied.stderr


def test_a_crash_is_not_hidden_by_the_job_before(mpi, runtime, compiled, imbrex, tmp_path):
    well = _start(mpi, runtime, tmp_path, str(compiled("timing")), "blocking")
    assert well.returncode == 0, well.stderr
    assert load_run(tmp_path / "imbrex-run").ranks["ended"].tolist() == [Ended.FINALIZED] * 2
    _start(mpi, runtime, tmp_path, str(compiled("crash")), "kill")
    assert Ended.DIED in load_run(tmp_path / "imbrex-run").ranks["ended"]
    collected = imbrex("collect", "imbrex-run")
    assert "ended before" in collected.stdout + collected.stderr
    assert Ended.DIED in load_run(tmp_path / "imbrex-run").ranks["ended"]


def test_a_relative_directory_survives_a_change_of_the_working_directory(mpi, runtime, tmp_path):
    script = str(runtime.prefix / "bin" / "imbrex-exec")
    variables = {**os.environ, "IMBREX_DIR": "mine"}
    words = [script, "sh", "-c", "cd / && echo $IMBREX_DIR"]
    done = subprocess.run(
        words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(tmp_path / "mine")


def test_and_one_that_is_given_to_the_runtime_itself(mpi, runtime, program, tmp_path):
    variables = {"IMBREX_DIR": "mine", "LD_PRELOAD": str(runtime.library)}
    done = _launch(mpi, tmp_path, str(program), "leave", **variables)
    assert done.returncode == 0, done.stderr
    assert "parts are kept" not in done.stderr
    assert (tmp_path / "mine" / "measures.npy").exists()


def test_without_a_program_it_says_so(mpi, runtime):
    script = str(runtime.prefix / "bin" / "imbrex-exec")
    done = subprocess.run([script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_runtime_that_cannot_be_preloaded_is_one_line(runtime, tmp_path):
    odd = shutil.copy(runtime.library, tmp_path / "a b.so")
    environment = os.environ | {"IMBREX_RUNTIME": str(odd)}
    command = [str(runtime.prefix / "bin" / "imbrex-exec"), "true"]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert len(complaints(done.stderr)) == 1
    assert "LD_PRELOAD takes no path with a blank or a colon" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["a b.so"]
