"""Programs that no one here wrote under `imbrex run`: the same results, and sensible measures."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.python_lines import PROGRAM, check_lines

from imbrex.mpi_environment import native
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher

pytestmark = pytest.mark.untimed

ROOT = Path(__file__).parents[3]
REAL = ROOT / "apps" / "real"
TWO_RANKS = ["mpirun.openmpi", "-n", "2"]
HPCC_N = 160
"""Of 500, random access to a table of 2 MB, word by word, would be most of what hpcc takes."""


def need(program):
    """The path of an installed program; else the test is skipped and says so."""
    found = shutil.which(program)
    if found is None or shutil.which("mpirun.openmpi") is None:
        pytest.skip(f"{program} (built with Open MPI) is not installed")
    return found


def counts(run):
    """Calls per operation, over all ranks."""
    m = run.measures
    return {
        name: int(m["count"][m["operation"] == number].sum())
        for number, name in enumerate(run.job.operations)
    }


def test_lammps(execute, imbrex_run):
    """32,000 atoms of a Lennard-Jones melt: the thermodynamic output must not change by a digit."""
    need("lmp")
    steps = 20
    words = [*TWO_RANKS, "lmp", "-in", str(REAL / "melt.lammps"), "-log", "none"]
    words += ["-var", "steps", str(steps)]

    def thermo(output):
        assert "Created 32000 atoms" in output
        lines = re.findall(r"^ +(\d+ +[-0-9.]+ +[-0-9.]+ +0 +[-0-9.]+ +[-0-9.]+) *$", output, re.M)
        assert len(lines) == 1 + steps // 10, output
        return lines

    bare = execute(words)
    result, run = imbrex_run(words)
    assert result.exit_code == bare.exit_code == 0
    assert thermo(result.output) == thermo(bare.output)

    calls = counts(run)
    # every step sends the ghost atoms forward and their forces back, to two ranks in z
    # (in x and y a rank is its own neighbour, which LAMMPS copies without MPI)
    assert calls["MPI_Send"] >= 2 * 2 * steps, calls
    assert calls["MPI_Irecv"] == calls["MPI_Wait"] >= 2 * 2 * steps, calls
    assert calls["MPI_Allreduce"] > 0
    sent = run.measures[run.measures["operation"] == run.job.operations.index("MPI_Send")]
    assert sent["bytes"].sum() / sent["transfers"].sum() > 10_000  # thousands of ghost atoms

    # the binary is stripped: a site is an image and an offset in it, or a symbol of a library
    used = {int(number) for number in np.unique(run.measures["site"])} - {0}
    assert used
    for number in used:
        site = run.site(number)
        assert site.image is not None
        assert Path(site.image).name.startswith(("lmp", "liblammps", "libmpi")), site


def test_hpcc(execute, imbrex_run, tmp_path):
    """HPC Challenge: linear equations, transposition, random access and FFT verify themselves."""
    need("hpcc")

    def results(folder):
        text = (folder / "hpccoutf.txt").read_text()
        found = dict(re.findall(r"^(\w+)=(\S+)$", text, re.M))
        assert found["Success"] == "1"
        assert re.search(r"1 tests completed and passed residual checks", text)
        return found

    text = (REAL / "hpccinf.txt").read_text()
    assert text.count("\n500 ") == 1
    summaries = []
    for name in ("bare", "measured"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "hpccinf.txt").write_text(text.replace("\n500 ", f"\n{HPCC_N} "))
        words = [*TWO_RANKS, "hpcc"]
        if name == "bare":
            assert execute(words, cwd=folder).exit_code == 0
        else:
            result, run = imbrex_run(words, cwd=folder)
            assert result.exit_code == 0
        summaries.append(results(folder))
    bare, measured = summaries
    # the numbers that do not depend on time
    assert measured["HPL_N"] == str(HPCC_N)
    for key in ("HPL_N", "HPL_RnormI", "HPL_XnormI", "PTRANS_residual", "MPIRandomAccess_Errors"):
        assert measured[key] == bare[key], key
    assert float(measured["MPIFFT_maxErr"]) < 1e-14
    calls = counts(run)
    for operation in ("MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Alltoall"):
        assert calls.get(operation, 0) > 0, calls


@pytest.fixture(scope="module")
def python_with_mpi4py(tmp_path_factory):
    """A Python that has mpi4py and numpy: this one, or one in a virtual environment made here."""
    need("mpirun.openmpi")
    probe = [sys.executable, "-c", "import mpi4py, numpy"]
    if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return sys.executable
    folder = tmp_path_factory.mktemp("mpi4py")
    for words in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "pip"), "install", "-q", "mpi4py>=4.1", "numpy"],
    ):
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            reason = (done.stderr.strip() or "no reason given").splitlines()[-1]
            pytest.skip(f"mpi4py cannot be installed: {reason}")
    return str(folder / "bin" / "python")


def test_mpi4py(execute, imbrex_run, python_with_mpi4py):
    words = [*TWO_RANKS, python_with_mpi4py, str(REAL / "jacobi_mpi4py.py")]
    iterations = 300
    words += ["--n", "32", "--iterations", str(iterations)]
    bare = execute(words)
    assert bare.exit_code == 0, bare
    result, run = imbrex_run(words)
    assert (result.exit_code, result.value) == (0, bare.value)
    calls = counts(run)
    assert calls["MPI_Isend"] == calls["MPI_Irecv"] == 2 * 2 * iterations
    assert calls["MPI_Waitall"] == 2 * iterations
    sent = run.measures[run.measures["operation"] == run.job.operations.index("MPI_Isend")]
    assert sent["transfers"].sum() == 2 * iterations  # one neighbour each
    assert sent["bytes"].sum() == 2 * iterations * (32 + 2) * 8  # rows with both edges
    source = (REAL / "jacobi_mpi4py.py").read_text(encoding="utf-8").splitlines()
    starts = {run.sites[number].line for number in sent["site"][sent["transfers"] > 0]}
    assert starts == {i for i, text in enumerate(source, 1) if "comm.Isend" in text}


@pytest.mark.parametrize("threads", [[], ["threads"]])
def test_lines_of_python(imbrex_run, python_with_mpi4py, threads):
    result, run = imbrex_run([*TWO_RANKS, python_with_mpi4py, str(PROGRAM), *threads])
    assert result.exit_code == 0, result.errors
    check_lines(run, result.output)


def test_mpi4py_with_a_progress_thread(execute, python_with_mpi4py):
    """Its data moves while Python makes no call of MPI (programs/helped_mpi4py.py)."""
    launcher = [*TWO_RANKS[:1], "--bind-to", "none", *TWO_RANKS[1:]]
    prefix = native.build("runtime", library_of_launcher(parse_launcher_line([*launcher, "true"])))
    program = ROOT / "tests" / "mpi" / "programs" / "helped_mpi4py.py"
    words = [str(prefix / "bin" / "imbrex-exec"), "--progress", python_with_mpi4py, str(program)]
    # Over TCP a large message moves only inside calls.
    done = execute([*launcher, *words], environment={"OMPI_MCA_btl": "tcp,self"})
    assert done.output.splitlines() == ["moved", "right"], done.errors
    assert done.exit_code == 0
