"""What the benchmarks of the runtime share: building it, and running a program with and without."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build_runtime(
    mpicc: str, folder: Path, checkout: Path = ROOT, production: bool = False
) -> Path:
    """The object to preload, built with `mpicc` below `folder` from the sources of `checkout`.

    `production`: libimbrex-progress.so too, beside it.
    """
    tree = folder / "runtime"
    configure = ["cmake", "-S", str(checkout / "runtime"), "-B", str(tree)]
    quick = ["-DIMBREX_STATIC=OFF", f"-DIMBREX_PRODUCTION={'ON' if production else 'OFF'}"]
    for step in (
        [*configure, f"-DMPI_C_COMPILER={mpicc}", *quick],
        ["cmake", "--build", str(tree)],
    ):
        subprocess.run(step, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return tree / "libimbrex.so"


def time_calls(
    program: Path, runtime: Path | None, settings: Mapping[str, str] | None = None
) -> list[float]:
    """ns per call: of the exchange, of Iprobe, and what else the program prints. One rank, started
    without a launcher."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1"}
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        if runtime is not None:
            # With transfer times, as in any calibrated run: else their look-up is not measured.
            table = Path(folder) / "times.table"
            table.write_text("imbrex-table 1\npath self\npoint 1 1 400 200 200\nend\n")
            environment |= {"LD_PRELOAD": str(runtime), "IMBREX_DIR": folder}
            environment["IMBREX_TABLE"] = str(table)
            environment |= settings or {}
        output = subprocess.run(
            [str(program)], env=environment, check=True, capture_output=True, text=True
        ).stdout
        if runtime is not None and not (Path(folder) / "measures.npy").exists():
            raise SystemExit("the preloaded run was not measured")
    return [float(figure) for figure in output.split()]
