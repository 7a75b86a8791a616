"""The runtime's table: a profile as plain lines, in nanoseconds (docs/machine-profile.md)."""

from __future__ import annotations

import math
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.network.profile import MachineProfile


def format_table(profile: MachineProfile) -> str:
    """The lines of the table. Lower bounds are rounded down, everything else up."""
    lines = ["imbrex-table 1"]
    for name, path in profile.paths.items():
        lines.append(f"path {name}")
        lines += [
            f"point {p.size_bytes} {_down(p.x_lo_s)} {_up(p.x_hi_s)} "
            f"{_up(p.tail_s)} {_up(p.head_s)}"
            for p in path.points
        ]
    for c in profile.collectives:
        lines.append(f"collective {c.operation} {c.ranks} {c.role} {c.path}")
        lines += [f"point {p.size_bytes} {_down(p.x_lo_s)} {_up(p.x_hi_s)} -1 -1" for p in c.points]
    lines.append("end")
    return "\n".join(lines) + "\n"


def write_table(profile: MachineProfile, file: Path) -> None:
    """Write the table to `file`."""
    try:
        file.write_text(format_table(profile), encoding="ascii")
    except OSError as error:
        raise ImbrexError(f"cannot write the table {file}: {error.strerror}") from None


# Seconds that were nanoseconds once must not gain one by the division and multiplication.
_HAIR = 1e-6


def _down(seconds: float) -> int:
    return math.floor(seconds * 1e9 + _HAIR)


def _up(seconds: float | None) -> int:
    return -1 if seconds is None else math.ceil(seconds * 1e9 - _HAIR)
