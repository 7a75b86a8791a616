"""Regions marked by hand give T_P, N_P, T_AP and the consumer's numbers, in C and Fortran."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import forked

from imbrex.model.model_file import load_model

pytestmark = pytest.mark.untimed

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "runtime" / "include"
N = 100


def build(mpi: Any, language: str, folder: Path) -> Path:
    program = folder / "marked"
    if language == "c":
        command = [mpi.mpicc, "-w", "-g", f"-I{INCLUDE}", str(HERE / "marked.c")]
    else:
        compiler = f"mpifort.{mpi.name}"
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        command = [compiler, "-w", "-g", str(INCLUDE / "imbrex" / "imbrex_regions.f90")]
        command += [str(HERE / "marked.f90")]
    subprocess.run([*command, "-o", str(program)], check=True, cwd=folder)
    return program


@pytest.mark.parametrize("language", ["c", "fortran"])
def test_marked_regions_have_their_lengths(language: str, mpi: Any, tmp_path: Path) -> None:
    program = build(mpi, language, tmp_path)
    folder = tmp_path / "run"
    line = [mpi.mpirun, "-n", "2", str(program)]
    alone = subprocess.run(line, capture_output=True, check=False, timeout=60, env=os.environ)
    assert alone.returncode == 0  # without the runtime the marks do nothing
    done = forked.imbrex(["run", "-o", str(folder), "--", *line], timeout=120)
    assert done.returncode == 0, done.stderr
    assert "regions.toml" in done.stderr
    for rank in json.loads((folder / "regions.json").read_text())["ranks"]:
        (region,) = rank["regions"]
        assert region["name"] == "edge"
        assert region["operation"] == "MPI_Isend"
        assert region["site"].startswith("marked.")
        assert (region["sends"], region["n_sent"], region["element_bytes"]) == (10, N, 8)
        assert (region["n_produced"], region["n_consumed"]) == (N / 2, N)
        # No less than what was spun: the machine may only add to it.
        assert region["t_produce_s"] * N / 2 >= 2000e-6
        assert region["after_produce_s"] >= 1000e-6
        assert region["before_consume_s"] >= 500e-6
        assert region["t_consume_s"] * N >= 3000e-6
        assert region["between_sends_s"] >= 6500e-6
        # Each part alone is less than all of them.
        parts = region["t_produce_s"] * N / 2 + region["t_consume_s"] * N
        parts += region["after_produce_s"] + region["before_consume_s"]
        assert parts <= 1.25 * region["between_sends_s"]
    (message,) = load_model(folder / "regions.toml").programs[0].messages
    assert (message.n_sent, message.n_produced, message.n_consumed) == (N, N // 2, N)
    assert not list(folder.glob("regions-*.json"))
