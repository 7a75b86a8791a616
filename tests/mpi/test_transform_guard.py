"""What the rewrites make is clean under `imbrex run --guard`; a wait taken out of it is not.

Random programs and apps under the guard: test_transform_random.py, test_transform_apps.py.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests import forked

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.untimed

HERE = Path(__file__).parent
CASES = HERE.parent / "unit" / "transform" / "cases"


def imbrex(*arguments: str) -> str:
    done = forked.imbrex(arguments, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def guarded(mpi: Any, source: Path, folder: Path) -> dict[str, Any]:
    """What the guard finds in a program of one file, every access of which it sees."""
    language = "cc" if source.suffix == ".c" else "fc"
    compiler = mpi.mpicc if language == "cc" else f"mpifort.{mpi.name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = folder / source.stem
    words = ["-w", "-g", "-O1", str(source), "-o", str(program), "-lm"]
    imbrex(language, f"--compiler={compiler}", *words)
    run = folder / f"{source.stem}.run"
    imbrex("run", "-q", "--guard", "-o", str(run), "--", mpi.mpirun, "-n", "2", str(program))
    found: dict[str, Any] = json.loads((run / "guard.json").read_text())
    assert found["exact"] is True
    return found


@pytest.mark.parametrize(
    "name", ["interior.c", "wrapper.f90", "grid.f90", "blocks.f90", "fields.c", "components.f90"]
)
def test_a_wait_taken_out_is_found(name: str, mpi: Any, tmp_path: Path) -> None:
    source = tmp_path / name
    text = transform([CASES / name], Options()).after[str(CASES / name)].decode()
    source.write_text(text)
    clean = guarded(mpi, source, tmp_path)
    assert clean["transfers"] > 0
    assert clean["findings"] == []
    # Their buffers live as long as the program: a late message does no harm.
    planted = tmp_path / f"planted{source.suffix}"
    # Whole statements: `call` may be continued, in fixed and in free form.
    wait = r"(?im)^ *(?:call +)?mpi_wait(?:all)? *\((?:[^()]|\([^()]*\))*\) *;?$"
    planted.write_text(re.sub(wait, "", text, count=1))
    assert planted.read_text() != text
    found = guarded(mpi, planted, tmp_path)
    assert found["findings"]
    assert {finding["how"] for finding in found["findings"]} <= {
        "access",
        "call",
        "never-completed",
    }
