"""The runtime under the sanitizers of the compiler, and with a table that cannot be true."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"


@pytest.fixture(scope="module")
def sanitized(mpi: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The object to preload, built with the sanitizers of gcc for this MPI."""
    if mpi.name != "openmpi":
        pytest.skip("the code is the same for every MPI")
    tree = tmp_path_factory.mktemp("sanitized")
    mpicc = subprocess.run(["which", mpi.mpicc], capture_output=True, text=True, check=True).stdout
    configure = ["cmake", "-S", str(ROOT / "runtime"), "-B", str(tree), "-DCMAKE_BUILD_TYPE=Debug"]
    configure += [f"-DMPI_C_COMPILER={mpicc.strip()}", f"-DIMBREX_PYTHON={sys.executable}"]
    configure += [f"-DCMAKE_C_FLAGS={SANITIZERS}", "-DCMAKE_C_COMPILER=gcc"]
    for step in (configure, ["cmake", "--build", str(tree), "--target", "imbrex", "-j2"]):
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return tree / "libimbrex.so"


@pytest.mark.parametrize(("name", "words"), [("endings", ["end"]), ("point", []), ("rma", [])])
def test_no_error_of_the_runtime_s_own(
    mpi: Any,
    sanitized: Path,
    compiled: Callable[..., Path],
    tmp_path: Path,
    name: str,
    words: list[str],
) -> None:
    """Its accesses, shifts and sums are checked; the library's leaks are not ours."""
    asan = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    environment = {**os.environ, "IMBREX_DIR": str(tmp_path / "run"), "IMBREX_EVENTS": "auto"}
    environment |= {"ASAN_OPTIONS": "detect_leaks=0", "OMPI_MCA_osc": "^rdma"}
    preload = f"LD_PRELOAD={asan}:{sanitized}"
    words = [mpi.mpirun, "--oversubscribe", "-n", "2", "env", preload, str(compiled(name)), *words]
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    assert (tmp_path / "run" / "measures.npy").exists()


def test_a_table_that_cannot_be_true_is_noticed(measured: Any, program: Path) -> None:
    """Messages of 100 kB that are said to take ten seconds each: no claim, and they are counted."""
    table = "path intra-node\npoint 1 10000000000 20000000000 0 0"
    table += "\npoint 4194304 10000000000 20000000000 0 0"
    result = measured(program, "end", table=table)
    for operation in ("MPI_Send", "MPI_Recv"):
        transfers = result.total(operation, "transfers")
        assert result.total(operation, "contradicted") == transfers > 0
        assert result.total(operation, "overlap_min_ns") == 0
        assert result.total(operation, "exposed_min_ns") == 0
