"""The runtime's table: a profile as plain lines, in nanoseconds (docs/machine-profile.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.network.interpolation import transfer_time
from imbrex.network.profile import MachineProfile, Point

FAR_BYTES = 1 << 40
# What the runtime takes for a time: up to 2^50 ns, 13 days.
_MOST_S = (1 << 50) * 1e-9


def format_table(profile: MachineProfile) -> str:
    """The lines of the table. Lower bounds are rounded down, everything else up."""
    lines = ["imbrex-table 1"]
    for name, path in profile.paths.items():
        lines.append(f"path {name}")
        lines += [
            f"point {p.size_bytes} {_down(p.x_lo_s)} {_up(p.x_hi_s)} "
            f"{_up(p.tail_s)} {_up(p.head_s)}"
            for p in (*path.points, *_far(path.points, path.gap_s_per_byte))
        ]
    for c in profile.collectives:
        lines.append(f"collective {c.operation} {c.ranks} {c.role} {c.path}")
        points = [Point(p.size_bytes, p.x_lo_s, p.x_hi_s) for p in c.points]
        lines += [
            f"point {p.size_bytes} {_down(p.x_lo_s)} {_up(p.x_hi_s)} -1 -1"
            for p in (*points, *_far(points, 0.0))
        ]
    for o in profile.one_sided:  # two processes, looked up by the operation like a collective
        lines.append(f"collective {o.operation} 2 any {o.path}")
        lines += [
            f"point {p.size_bytes} {_down(p.x_lo_s)} {_up(p.x_hi_s)} {_up(p.tail_s)} -1"
            for p in (*o.points, *_far(o.points, o.gap_s_per_byte))
        ]
    lines.append("end")
    return "\n".join(lines) + "\n"


def _far(points: Sequence[Point], gap_s_per_byte: float) -> list[Point]:
    """A point that no message reaches: the runtime then interpolates beyond the last measured one.

    What it would do by itself, let X_lo grow in proportion, holds only for sizes at which the last
    X_lo is nothing but its bytes.
    """
    size = FAR_BYTES
    while points and size > points[-1].size_bytes:
        t = transfer_time(points, size, gap_s_per_byte)
        if t.x_hi_s <= _MOST_S:
            return [Point(size, t.x_lo_s, t.x_hi_s, t.tail_s, t.head_s)]
        size //= 2  # cut to what the runtime takes, the time would grow too slowly
    return []


def write_table(profile: MachineProfile, file: Path) -> None:
    """Write the table to `file`."""
    try:
        file.write_text(format_table(profile), encoding="ascii")
    except OSError as error:
        raise ImbrexError(f"cannot write the table {file}: {error.strerror}") from None


# Seconds that were nanoseconds once must not gain one by the division and multiplication.
_HAIR = 1e-6


def _down(seconds: float) -> int:
    return math.floor(min(seconds, _MOST_S) * 1e9 + _HAIR)


def _up(seconds: float | None) -> int:
    return -1 if seconds is None else math.ceil(min(seconds, _MOST_S) * 1e9 - _HAIR)
