"""Transfer times: the table and its interpolation in exact fractions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor

from .words import ANY, LONGEST, PATH_NAMES, ROLES


@dataclass(frozen=True)
class Time:
    lo: int = 0
    hi: int = 0
    tail: int = -1
    head: int = -1
    most: int = 0
    calibrated: bool = False


@dataclass
class Table:
    """Curves of (size, x_lo, x_hi, tail, head), by path and by (operation, ranks, role, path)."""

    paths: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)
    collectives: dict[tuple[int, int, int, int], list[tuple[int, ...]]] = field(
        default_factory=dict
    )

    def text(self, operations: list[str]) -> str:
        lines = ["imbrex-table 1"]
        names = {v: k for k, v in PATH_NAMES.items()}
        roles = {v: k for k, v in ROLES.items()}
        for path, points in self.paths.items():
            lines.append(f"path {names[path]}")
            lines += ["point " + " ".join(map(str, p)) for p in points]
        for (op, ranks, role, path), points in self.collectives.items():
            lines.append(f"collective {operations[op]} {ranks} {roles[role]} {names[path]}")
            lines += ["point " + " ".join(map(str, p)) for p in points]
        return "\n".join([*lines, "end"])

    def path_time(self, path: int, size: int) -> Time:
        if path == ANY:
            most = [t.most for p in self.paths if (t := self.path_time(p, size)).calibrated]
            return Time(most=max(most), calibrated=True) if most else Time()
        return interpolate(self.paths.get(path), size)

    def collective_time(self, op: int, ranks: int, role: int, path: int, size: int) -> Time:
        curve = self.collectives.get((op, ranks, role, path))
        if curve is None:
            curve = self.collectives.get((op, ranks, 0, path))
        time = interpolate(curve, size)
        if not time.calibrated:
            return time
        one = self.path_time(path, size)
        each = one.most if one.calibrated else time.hi
        apart = min(LONGEST, each * 2 * max(1, ranks - 1))
        return replace(time, most=max(time.hi, apart))


def interpolate(points: list[tuple[int, ...]] | None, size: int) -> Time:
    if not points:
        return Time()
    below = [p for p in points if p[0] <= size]
    above = [p for p in points if p[0] >= size]
    if below and above and below[-1] == above[0]:
        values: list[Fraction | None] = [None if v < 0 else Fraction(v) for v in below[-1][1:]]
    elif not below:
        first = points[0]
        values = [None if v < 0 else Fraction(v) for v in first[1:]]
        values[0] = Fraction(first[1] * size, first[0])
    elif not above:
        last = points[-1]
        values = [None if v < 0 else Fraction(v * size, last[0]) for v in last[1:]]
    else:
        p, q = below[-1], above[0]
        share = Fraction(size - p[0], q[0] - p[0])
        values = [
            None if a < 0 or b < 0 else a + (b - a) * share
            for a, b in zip(p[1:], q[1:], strict=True)
        ]
    lo = floor(values[0] or 0)
    hi, tail, head = (-1 if v is None else ceil(v) for v in values[1:])
    return Time(lo, hi, tail, head, max([hi] + [p[2] for p in below]), True)
