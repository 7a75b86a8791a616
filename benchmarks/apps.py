"""The mini-apps as the benchmarks run them: their problem sizes, how to build and start them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMBREX = str(Path(sys.executable).with_name("imbrex"))  # of the same environment

# app: options of the small and of the large problem
SIZES: dict[str, tuple[str, str]] = {
    "halo2d --variant blocking": ("--n 512 --steps 400", "--n 4096 --steps 12"),
    "halo2d --variant late-wait": ("--n 512 --steps 400", "--n 4096 --steps 12"),
    "halo2d --variant overlapped": ("--n 512 --steps 400", "--n 4096 --steps 12"),
    "halo3d --variant blocking": ("--n 64 --steps 400", "--n 256 --steps 12"),
    "halo3d --variant late-wait": ("--n 64 --steps 400", "--n 256 --steps 12"),
    "halo3d --variant overlapped": ("--n 64 --steps 400", "--n 256 --steps 12"),
    "cg --variant blocking": ("--n 100", "--n 400"),
    "cg --variant separate": ("--n 100", "--n 400"),
    "cg --variant overlapped": ("--n 100", "--n 400"),
    "ssor": ("--n 24 --iterations 50", "--n 64 --iterations 20"),
    "mg": ("--n 32 --cycles 40", "--n 128 --cycles 8"),
    "bucket": ("--log-keys 18 --iterations 40", "--log-keys 22 --log-max 20 --iterations 8"),
    "fft": ("--n 32 --steps 60", "--n 128 --steps 3"),
    "line": ("--n 24 --chunk 32", "--n 40 --chunk 200"),
    "sweep": ("--n 24 --iterations 60", "--n 64 --planes 16 --iterations 20"),
    "bossworker": ("--cells 16 --width 1e-2", "--cells 16"),
}


def environment() -> dict[str, str]:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**os.environ, **root}


def build(library: str, folder: Path) -> None:
    subprocess.run(
        [
            *("make", "-s", "-j2", "-C", str(ROOT / "apps"), f"MPICC=mpicc.{library}"),
            *(f"MPIFC=mpifort.{library}", f"BUILD={folder}"),
        ],
        check=True,
    )
