"""Messages in the place of MPI_Alltoallv, on more ranks than have theirs under way at a time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.text.exchange_text import AHEAD

pytestmark = pytest.mark.untimed

CASES = Path(__file__).parents[1] / "unit" / "transform" / "cases"


@pytest.mark.parametrize("name", ["pieces.c", "particles.c"])
@pytest.mark.parametrize("ranks", [1, AHEAD, AHEAD + 1, 2 * AHEAD + 3])
def test_all_ranks_pieces_are_used_once(name: str, ranks: int, mpi: Any, tmp_path: Path) -> None:
    compiler = f"mpicc.{mpi.name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    outcome = transform([CASES / name], Options())
    printed = []
    for side, texts in (("before", outcome.before), ("after", outcome.after)):
        source = tmp_path / f"{side}.c"
        source.write_bytes(texts[str(CASES / name)])
        warnings = ["-Wall", "-Wextra", "-Werror"]
        subprocess.run(
            [compiler, "-std=c11", *warnings, "-O1", str(source), "-o", str(tmp_path / side)],
            check=True,
        )
        done = subprocess.run(
            [mpi.mpirun, "-n", str(ranks), str(tmp_path / side)],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
        printed.append(done.stdout)
    assert b"MPI_Alltoallv(" not in outcome.after[str(CASES / name)]
    assert printed[0] == printed[1] != ""
