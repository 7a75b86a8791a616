"""The latency table: run time with and without overlap, beside printed cells if there are any."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from imbrex.model.model_file import LatencyTable, Model
from imbrex.model.program import Printed, Program
from imbrex.network.points import NetworkPoints


@dataclass(frozen=True)
class LatencyRow:
    """Normalized execution times of one program at one latency; `printed` where somebody did."""

    application: str
    latency_s: float
    nonoverlap: float
    overlap: float
    printed: Printed | None


@dataclass(frozen=True)
class Difference:
    """A printed cell that the model does not give."""

    application: str
    latency_s: float
    column: str
    model: float
    printed: float
    reason: str


def shown(value: float, table: LatencyTable) -> float:
    """`value` with the digits of the table, rounded or cut off as the table says."""
    scale = 10.0**table.digits
    if not table.truncate:
        return round(value * scale) / scale
    # What is a whole number of last digits but for rounding must not be cut to the one below.
    return math.floor(value * scale + 1e-6) / scale


def latency_rows(model: Model, mode: str | None = None, cpu_speed: float = 1.0) -> list[LatencyRow]:
    """Table 5: one row per program and latency at the table's bandwidth (section 4.4).

    `mode` overrides which work "overlap" means for each program.
    """
    table = model.latency_table
    gap = 1.0 / table.bandwidth_bytes_per_s
    rows: list[LatencyRow] = []
    for program in model.programs:
        for latency_s in table.latencies_s:
            network = NetworkPoints(latency_s, gap, table.message_gap_s)
            rows.append(
                LatencyRow(
                    application=program.name,
                    latency_s=latency_s,
                    nonoverlap=float(program.normalized_time("none", network, cpu_speed)),
                    overlap=float(
                        program.normalized_time(mode or program.mode, network, cpu_speed)
                    ),
                    printed=_printed(program, latency_s),
                )
            )
    return rows


def _printed(program: Program, latency_s: float) -> Printed | None:
    for cell in program.printed:
        if math.isclose(cell.latency_s, latency_s, rel_tol=1e-9):
            return cell
    return None


def differences(rows: list[LatencyRow], table: LatencyTable) -> tuple[list[Difference], int]:
    """The printed cells that the model does not give, and how many cells were compared."""
    found: list[Difference] = []
    compared = 0
    for row in rows:
        if row.printed is None:
            continue
        for column, value, printed in (
            ("nonoverlap", row.nonoverlap, row.printed.nonoverlap),
            ("overlap", row.overlap, row.printed.overlap),
        ):
            if printed is None:
                continue
            compared += 1
            if not math.isclose(shown(value, table), printed, abs_tol=1e-9):
                found.append(
                    Difference(
                        row.application, row.latency_s, column, value, printed, row.printed.reason
                    )
                )
    return found, compared


def latency_json(model: Model, rows: list[LatencyRow]) -> dict[str, Any]:
    """The document of `--table latency --json`; rows carry values before any rounding."""
    table = model.latency_table
    different, compared = differences(rows, table)
    return {
        "schema_version": 1,
        "table": "latency",
        "bandwidth_bytes_per_s": table.bandwidth_bytes_per_s,
        "rows": [
            {
                "application": row.application,
                "latency_us": row.latency_s * 1e6,
                "nonoverlap": row.nonoverlap,
                "overlap": row.overlap,
            }
            for row in rows
        ],
        "printed_cells": compared,
        "differences": [
            {
                "application": item.application,
                "latency_us": item.latency_s * 1e6,
                "column": item.column,
                "model": item.model,
                "printed": item.printed,
                "reason": item.reason,
            }
            for item in different
        ],
    }


def latency_text(model: Model, rows: list[LatencyRow]) -> str:
    """The latency table for a reader, every printed cell that differs with its reason."""
    table = model.latency_table
    different, compared = differences(rows, table)
    marked = {(d.application, d.latency_s, d.column) for d in different}
    digits = table.digits

    def cell(row: LatencyRow, column: str, value: float, printed: float | None) -> str:
        text = f"{shown(value, table):.{digits}f}"
        if printed is None:
            return f"{text:>16}"
        mark = "*" if (row.application, row.latency_s, column) in marked else " "
        return f"{text:>8} [{printed:.{digits}f}]{mark}".rjust(16)

    width = max(11, *(len(row.application) for row in rows))
    bandwidth = table.bandwidth_bytes_per_s / 1e9
    lines = [
        f"{model.title}: normalized execution time at {bandwidth:g} GB/s",
        f"{'application':<{width}} {'latency':>8} {'no overlap':>16} {'overlap':>16}",
    ]
    for row in rows:
        printed = row.printed
        lines.append(
            f"{row.application:<{width}} {row.latency_s * 1e6:>5g} us "
            + cell(row, "nonoverlap", row.nonoverlap, printed.nonoverlap if printed else None)
            + " "
            + cell(row, "overlap", row.overlap, printed.overlap if printed else None)
        )
    if compared:
        kept = "cut off" if table.truncate else "rounded"
        lines += [
            "",
            f"[printed values]; digits {kept} after {digits} decimals: "
            f"{compared - len(different)} of {compared} cells agree.",
        ]
        for item in different:
            lines.append(
                f"* {item.application}, {item.latency_s * 1e6:g} us, {item.column}: "
                f"model {item.model:.4f}, printed {item.printed:.{digits}f}: {item.reason}"
            )
    return "\n".join(lines)
