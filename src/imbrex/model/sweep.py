"""Sweeps over latency and bandwidth: every program in every mode on a grid of networks."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.model.program import Program
from imbrex.network.message import MODES
from imbrex.network.points import FloatArray, NetworkPoints

MOST_POINTS = 10_000_000
_LEAST, _MOST = 1e-6, 1e12
_RANGE = re.compile(r"(latency|bandwidth)=([0-9.eE+-]+):([0-9.eE+-]+):([0-9]+)")


@dataclass(frozen=True)
class Grid:
    """Latencies (s) and bandwidths (bytes/s), logarithmically spaced."""

    latencies_s: FloatArray
    bandwidths_bytes_per_s: FloatArray

    def points(self, message_gap_s: float, overhead_s: float = 0.0) -> NetworkPoints:
        """All pairs, shape (latencies, bandwidths)."""
        latency, gap = np.meshgrid(
            self.latencies_s, 1.0 / self.bandwidths_bytes_per_s, indexing="ij"
        )
        return NetworkPoints(latency, gap, message_gap_s, overhead_s)


def parse_grid(text: str) -> Grid:
    """`latency=LOW:HIGH:COUNT,bandwidth=LOW:HIGH:COUNT`, in us and MB/s."""
    values: dict[str, FloatArray] = {}
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        try:
            if match is None:
                raise ValueError
            low, high, count = float(match[2]), float(match[3]), int(match[4])
        except ValueError:
            raise ImbrexError(
                f"--sweep: '{part}' is not latency=LOW:HIGH:COUNT or bandwidth=LOW:HIGH:COUNT "
                "(us and MB/s)"
            ) from None
        if not (_LEAST <= low <= high <= _MOST) or count < 1 or match[1] in values:
            raise ImbrexError(
                f"--sweep: '{part}' needs {_LEAST:g} <= LOW <= HIGH <= {_MOST:g} and COUNT >= 1, "
                "and each range once"
            )
        if count > MOST_POINTS:
            raise ImbrexError(f"--sweep: '{part}' has more than {MOST_POINTS} points")
        values[match[1]] = np.geomspace(low, high, count)
    if set(values) != {"latency", "bandwidth"}:
        raise ImbrexError("--sweep needs both ranges: latency=... and bandwidth=...")
    if values["latency"].size * values["bandwidth"].size > MOST_POINTS:
        raise ImbrexError(f"--sweep: the grid has more than {MOST_POINTS} points")
    return Grid(values["latency"] * 1e-6, values["bandwidth"] * 1e6)


def sweep(
    programs: tuple[Program, ...], grid: Grid, message_gap_s: float = 0.0, cpu_speed: float = 1.0
) -> dict[str, dict[str, FloatArray]]:
    """Normalized execution times: result[program][mode], shape (latencies, bandwidths)."""
    network = grid.points(message_gap_s)
    return {
        program.name: {mode: program.normalized_time(mode, network, cpu_speed) for mode in MODES}
        for program in programs
    }


def write_sweep(
    result: dict[str, dict[str, FloatArray]], grid: Grid, output: Path | None
) -> str | None:
    """Write a sweep to an .npz file as arrays; else return it as CSV."""
    if output is not None and output.suffix == ".npz":
        arrays = {
            f"{name}/{mode}": v for name, modes in result.items() for mode, v in modes.items()
        }
        with output.open("wb") as file:
            np.savez(
                file,
                latency_s=grid.latencies_s,
                bandwidth_bytes_per_s=grid.bandwidths_bytes_per_s,
                **arrays,  # type: ignore[arg-type]
            )
        return None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["application", "latency_us", "bandwidth_mb_per_s", *MODES])
    for name, modes in result.items():
        for i, latency in enumerate(grid.latencies_s):
            for j, bandwidth in enumerate(grid.bandwidths_bytes_per_s):
                cells = [f"{modes[mode][i, j]:.9g}" for mode in MODES]
                writer.writerow([name, f"{latency * 1e6:.6g}", f"{bandwidth / 1e6:.6g}", *cells])
    return text.getvalue()
