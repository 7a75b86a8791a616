"""Every mini-app with the runtime under the sanitizers of the compiler, events from inside UCX."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.untimed

APPS = {
    "halo2d": "--n 100 --steps 5 --variant overlapped",
    "halo3d": "--n 16 --steps 5 --variant late-wait",
    "cg": "--n 8 --variant separate",
    "wavefront": "--n 12 --nz 8 --planes 2 --sweeps 2 --variant overlapped",
    "bucket": "--log-keys 10 --iterations 2",
    "fft": "--n 8 --steps 2",
    "front": "--cells 100 --steps 3",
    "bossworker": "--cells 4",
    "ssor": "--n 12",
    "mg": "--n 8 --cycles 2",
    "line": "--n 12 --chunk 16",
    "sweep": "--n 8 --planes 4",
}
OVER_UCX = {"pml": "ucx", "pml_ucx_tls": "any", "pml_ucx_devices": "any"}


@pytest.mark.parametrize("name", APPS)
def test_no_error_of_the_runtime_s_own(
    sanitized: Callable[..., subprocess.CompletedProcess[str]],
    apps: dict[str, Any],
    tmp_path: Path,
    name: str,
) -> None:
    program = apps["openmpi"].folder / name
    launcher = [argument for setting in OVER_UCX.items() for argument in ("--mca", *setting)]
    launcher += ["-x", "UCX_TLS=tcp,self"]
    done = sanitized([str(program), *APPS[name].split()], tmp_path / "run", "ucx", *launcher)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED" in done.stdout
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    measures = np.load(tmp_path / "run" / "measures.npy")
    inside = measures["transfers"][measures["source"] == 2]
    assert inside.sum() > 0, "no event came from inside UCX"
