"""The runtime under the sanitizers of the compiler, and with a table that cannot be true."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed


@pytest.mark.parametrize(("name", "words"), [("endings", ["end"]), ("point", []), ("rma", [])])
def test_no_error_of_the_runtime_s_own(
    sanitized: Callable[..., subprocess.CompletedProcess[str]],
    compiled: Callable[..., Path],
    tmp_path: Path,
    name: str,
    words: list[str],
) -> None:
    """Its accesses, shifts and sums are checked; the library's leaks are not ours."""
    done = sanitized([str(compiled(name)), *words], tmp_path / "run", "auto")
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
