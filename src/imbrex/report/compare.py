"""`imbrex compare`: what changed between two runs, in seconds and percent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from imbrex.profile.format import SCHEMA_VERSION
from imbrex.profile.run import Run
from imbrex.profile.summary import Row, Sums, rows, totals_json
from imbrex.report import wording

_TOTALS = (
    ("wall time", "wall_s"),
    ("compute", "compute_s"),
    ("in MPI calls", "call_s"),
    ("waiting, at least", "wait_min_s"),
    ("waiting, at most", "wait_max_s"),
    ("transfer, at most", "transfer_max_s"),
    ("hidden for certain", "overlap_min_s"),
    ("hidden, at most", "overlap_max_s"),
    ("exposed for certain", "exposed_min_s"),
    ("exposed, at most", "exposed_max_s"),
    ("undetermined", "undetermined_s"),
)


@dataclass(frozen=True)
class SitePair:
    """One place in the source in both runs; None where it made no call in one of them."""

    name: str
    operation: str
    before: Sums | None
    after: Sums | None
    lines: tuple[int | None, int | None]

    def change(self, name: str) -> float:
        """After less before of one quantity; a run without the site counts as 0."""
        values = [getattr(sums, name) if sums else 0 for sums in (self.before, self.after)]
        return float(values[1] - values[0])


def pair_sites(before: Run, after: Run) -> list[SitePair]:
    """Match call sites: by file, line and operation; what is left by file, function and operation.

    The second pass finds sites that an edit above them has moved to other lines. Several calls of
    one operation in one function are then matched in the order of their lines.
    """
    left, right = _merged(before), _merged(after)
    pairs = []
    for row in list(left):
        other = next((r for r in right if _exact(r) == _exact(row)), None)
        if other is not None:
            pairs.append(_pair(row, other))
            left.remove(row)
            right.remove(other)
    by_line: Callable[[Row], int] = lambda row: (row.site.line if row.site else None) or 0  # noqa: E731
    for row in sorted(left, key=by_line):
        candidates = sorted((r for r in right if _loose(r) == _loose(row)), key=by_line)
        if candidates:
            pairs.append(_pair(row, candidates[0]))
            right.remove(candidates[0])
        else:
            pairs.append(_pair(row, None))
    pairs += [_pair(None, row) for row in right]
    pairs.sort(key=lambda pair: abs(pair.change("exposed_max_s")), reverse=True)
    return pairs


def _merged(run: Run) -> list[Row]:
    """The rows by site, with those of one source line and operation added up."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in rows(run, "site"):
        key = _exact(row)
        if key in found:
            old = found[key].sums
            added = Sums(
                **{f.name: getattr(old, f.name) + getattr(row.sums, f.name) for f in fields(Sums)}
            )
            found[key] = Row(row.key, added, row.site, row.operation, row.number, row.sizes)
        else:
            found[key] = row
    return list(found.values())


def _file(row: Row) -> str:
    """The file's name without its folders: the same program is often built in two places."""
    if row.site is None:
        return ""
    return Path(row.site.file or row.site.image or "").name


def _exact(row: Row) -> tuple[Any, ...]:
    site = row.site
    place: Any = None
    if site is not None:
        place = site.line if site.file else (site.function or site.offset)
    return _file(row), place, row.operation


def _loose(row: Row) -> tuple[Any, ...]:
    return _file(row), row.site.function if row.site else None, row.operation


def _pair(before: Row | None, after: Row | None) -> SitePair:
    row = after or before
    assert row is not None
    lines = tuple(r.site.line if r and r.site else None for r in (before, after))
    return SitePair(
        row.key,
        row.operation or "",
        before.sums if before else None,
        after.sums if after else None,
        (lines[0], lines[1]),
    )


def differences(before: Run, after: Run) -> list[str]:
    """In what the runs differ besides the program, so that their numbers do."""
    old, new = totals_json(before), totals_json(after)
    lines = []
    if old["ranks"] != new["ranks"]:
        lines.append(f"the runs differ in ranks ({old['ranks']} and {new['ranks']}): sums do too")
    for what, name in (("MPI library", wording.library), ("source of events", _sources)):
        if name(before) != name(after):
            lines.append(f"the runs differ in {what} ({name(before)} and {name(after)})")
    if before.job.machine.created != after.job.machine.created:
        same = wording.library(before) == wording.library(after)
        remedy = ": give both the same --machine FILE" if same else ""
        lines.append(
            "the transfer times of the runs come from different machine profiles, so that a change "
            f"of transfer, hidden or exposed time may be one of the calibration{remedy}"
        )
    return lines


def _sources(run: Run) -> str:
    found = run.job.events
    return "/".join(dict.fromkeys(found.values())) or "call"


def compare_json(before: Run, after: Run) -> dict[str, Any]:
    """The object of `compare --json`: totals and sites of both runs and their difference."""
    old, new = totals_json(before), totals_json(after)
    return {
        "schema_version": SCHEMA_VERSION,
        "before": old,
        "after": new,
        "change": {
            name: None if None in (new[name], old[name]) else new[name] - old[name] for name in new
        },
        "differences": differences(before, after),
        "sites": [
            {
                "site": pair.name,
                "operation": pair.operation,
                "line_before": pair.lines[0],
                "line_after": pair.lines[1],
                "before": pair.before.to_json() if pair.before else None,
                "after": pair.after.to_json() if pair.after else None,
            }
            for pair in pair_sites(before, after)
        ],
    }


def print_comparison(before: Run, after: Run, console: Console, limit: int = 10) -> None:
    """Print totals side by side, then the sites whose exposed time changed most."""
    old, new = totals_json(before), totals_json(after)
    for line in differences(before, after):
        console.print(Text(f"{line[0].upper()}{line[1:]}."))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("")
    for name in ("before", "after", "change", ""):
        table.add_column(name, justify="right")
    for title, name in _TOTALS:
        table.add_row(title, *_change(old[name], new[name]))
    console.print(table)
    changed = [p for p in pair_sites(before, after) if p.change("exposed_max_s") != 0]
    pairs = changed[:limit] if limit else changed
    if not pairs:
        return
    console.print()
    console.print(Text("Exposed time by call site (at most):", style="bold"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("site", overflow="fold")
    table.add_column("operation", overflow="fold")
    for name in ("before", "after", "change", ""):
        table.add_column(name, justify="right")
    for pair in pairs:
        table.add_row(
            pair.name,
            pair.operation,
            *_change(
                pair.before.exposed_max_s if pair.before else None,
                pair.after.exposed_max_s if pair.after else None,
            ),
        )
    console.print(table)
    if len(pairs) < len(changed):
        console.print(Text(f"{len(changed) - len(pairs)} more call sites: --limit 0 shows all"))


def _change(old: float | None, new: float | None) -> tuple[str, str, str, str]:
    change = (new or 0.0) - (old or 0.0)
    sign = "+" if change > 0 else ""
    percent = f"{sign}{100 * change / old:.1f} %" if old else "-"
    if percent in ("+0.0 %", "-0.0 %"):
        percent = "0.0 %"
    return (
        "-" if old is None else wording.seconds(old),
        "-" if new is None else wording.seconds(new),
        sign + wording.seconds(change),
        percent,
    )
