"""Which networks keep a program's run time within a given slow-down, cheapest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from imbrex.diagnosis.wording import percent
from imbrex.model.program import Program
from imbrex.network.interconnect import Interconnect
from imbrex.network.points import points


@dataclass(frozen=True)
class Tolerance:
    """Normalized execution times of one program on one network, and whether they are within."""

    network: Interconnect
    nonoverlap: float
    overlap: float
    within_nonoverlap: bool
    within_overlap: bool


def tolerated_networks(
    program: Program,
    networks: list[Interconnect],
    slow_down: float,
    mode: str | None = None,
    cpu_speed: float = 1.0,
) -> list[Tolerance]:
    """Every network with what it gives: priced ones first, cheapest first, then the fastest.

    The limit is normalized execution time <= 1 + slow_down: against computation alone, which no
    network beats. Prices in different currencies are not compared: each keeps its own order.
    """
    result: list[Tolerance] = []
    for network in networks:
        at = points(network)
        without = float(program.normalized_time("none", at, cpu_speed))
        overlapped = float(program.normalized_time(mode or program.mode, at, cpu_speed))
        limit = (1.0 + slow_down) * (1 + 1e-12)
        result.append(
            Tolerance(network, without, overlapped, without <= limit, overlapped <= limit)
        )
    return sorted(
        result,
        key=lambda item: (
            item.network.price is None,
            item.network.currency,
            item.network.price or 0.0,
            item.overlap,
        ),
    )


def tolerance_json(program: Program, rows: list[Tolerance], slow_down: float) -> dict[str, Any]:
    """One application's part of the document of `--tolerate --json`."""
    return {
        "application": program.name,
        "slow_down": slow_down,
        "networks": [
            {
                **row.network.to_json(),
                "nonoverlap": row.nonoverlap,
                "overlap": row.overlap,
                "within_nonoverlap": row.within_nonoverlap,
                "within_overlap": row.within_overlap,
            }
            for row in rows
        ],
    }


def tolerance_text(program: Program, rows: list[Tolerance], slow_down: float) -> str:
    """The list for a reader."""
    lines = [
        f"{program.name}: networks that keep run time within {percent(slow_down)} of computation "
        "alone",
        f"  {'network':<22} {'latency':>9} {'bandwidth':>12} {'price':>12} "
        f"{'no overlap':>11} {'overlap':>11}",
    ]
    for row in rows:
        network = row.network
        price = "" if network.price is None else f"{network.price:,.0f} {network.currency}"
        lines.append(
            f"  {network.name:<22} {network.latency_s * 1e6:>6.4g} us "
            f"{network.bandwidth_bytes_per_s / 1e6:>7.5g} MB/s {price:>12} "
            f"{_cell(row.nonoverlap, row.within_nonoverlap):>11} "
            f"{_cell(row.overlap, row.within_overlap):>11}"
        )
    if not any(row.within_overlap for row in rows):
        best = min(rows, key=lambda item: item.overlap)
        lines.append(
            f"  none does; {best.network.name} comes closest ({best.overlap:.3f} with overlap)"
        )
    return "\n".join(lines)


def _cell(value: float, within: bool) -> str:
    return f"{value:.3f} {'yes' if within else 'no ':>3}"
