"""`imbrex probe --report`: the answer as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from imbrex import __version__
from imbrex.network.columns import Measurement
from imbrex.network.exchanges import Exchange, read_exchanges, read_steps
from imbrex.probe import plots
from imbrex.probe.answer import Answer
from imbrex.probe.curves import delay_curves, heat_cells, work_curves
from imbrex.probe.in_short import headline, in_short
from imbrex.probe.knobs import Tried
from imbrex.probe.point_to_point import Operation
from imbrex.probe.ranges import Range
from imbrex.probe.terminal import collective_shares, memory_of
from imbrex.whole_file import write_whole

_SYNCHRONIZES = {True: ("yes", "yes"), False: ("no", "no"), None: ("open", "cannot tell")}
_DRAWN_SIZES = (32768, 1 << 20)
"""Nearest to Shet's 10 KB and 1 MB in the grid of sizes."""
_CHANGES_PERCENT = 10.0
"""What a figure shows must change by so much to say more than a sentence."""


def write_page(found: Answer, m: Measurement, tried: Sequence[Tried], file: Path) -> None:
    """Write the page; ImbrexError where the file cannot be written (never half of it)."""
    write_whole(file, render(found, m, tried))


def render(found: Answer, m: Measurement, tried: Sequence[Tried]) -> str:
    """The page as text."""
    environment = Environment(
        loader=PackageLoader("imbrex.probe"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    rows = read_exchanges(m.other.get("exchange", []))
    names = [name for name in found.profile.paths if any(x.path == name for x in rows)]
    profile = found.profile
    return environment.get_template("probe.html.j2").render(
        library=f"{profile.library_name} {profile.library_version}",
        ranks=profile.ranks,
        hosts=", ".join(profile.hosts),
        quick=profile.quick,
        created=profile.created,
        settings=profile.settings,
        notes=found.notes,
        missing=found.missing_text,
        because=found.missing_because,
        headline=headline(found),
        next_command=_next(found, tried),
        in_short=in_short(found),
        advertised=[f"{k} {v:,}" for k, v in found.advertised.items() if v > 0],
        several=len({o.path for o in (*found.operations, *found.further_operations)}) > 1,
        verdicts=[
            _verdict(o, r, first=i == 0)
            for o in (*found.operations, *found.further_operations)
            for i, r in enumerate(o.ranges)
        ],
        collectives=collective_shares(found.collectives, "\u2192"),
        krylov=found.krylov.sentence if found.krylov else "",
        paths=[_path(name, rows, m, found) for name in names],
        knobs=_knobs(tried),
        knobs_plot=_knobs_plot(tried, found),
        version=__version__,
    )


def _path(name: str, rows: Sequence[Exchange], m: Measurement, found: Answer) -> dict[str, object]:
    profile = found.profile
    steps = read_steps(m.other.get("step", []))
    delay = delay_curves(rows, steps, profile, name)
    grid = sorted({x.size_bytes for x in rows if x.label.startswith("grid-") and x.path == name})
    drawn = sorted({min(grid, key=lambda s: abs(s - size)) for size in _DRAWN_SIZES if grid})
    work = work_curves(found.overlap, profile, name, drawn)
    heat = heat_cells(rows, name)
    # A figure in which nothing changes is a sentence.
    said = []
    if delay and all(curve.step_bytes is None for curve in delay):
        said.append("Synchronization overlap ends at none of the sizes that were measured.")
        delay = []
    still = [curve for curve in work if _range(curve.hidden) < _CHANGES_PERCENT]
    work = [curve for curve in work if _range(curve.hidden) >= _CHANGES_PERCENT]
    said += [
        f"{curve.title}: {max(curve.hidden):.0f} % hidden, however much work there is."
        for curve in still
        if curve.hidden
    ]
    cells = [cell.hidden for of in heat.values() for cell in of if cell.work_per_transfer > 0]
    if cells and _range(cells) < _CHANGES_PERCENT / 100:
        said.append(f"At all sizes and amounts of work {100 * max(cells):.0f} % are hidden.")
        heat = {}
    return {
        "name": name,
        "said": said,
        "delay": Markup(plots.delay_plot(delay, f"delay {name}")) if delay else "",
        "work": Markup(plots.work_plot(work, f"work {name}")) if work else "",
        "heat": Markup(plots.heat_map(heat, f"heat {name}")) if heat else "",
    }


def _range(values: Sequence[float]) -> float:
    return max(values) - min(values) if values else 0.0


def _next(found: Answer, tried: Sequence[Tried]) -> str:
    """The command that comes next: settings, where they may help and were not tried."""
    moves = [o.ranges[-1].transfer_class for o in found.operations if o.ranges]
    if tried or not moves or all(name == "third-party" for name in moves):
        return ""
    return f"imbrex probe --try-settings -- mpirun -n {found.profile.ranks}"


def _verdict(o: Operation, r: Range, first: bool) -> dict[str, object]:
    """A line of the table; the operation is named on its first."""
    kind, text = _SYNCHRONIZES[r.synchronization]
    if r.synchronization is None and o.operation.endswith("fence"):
        text = "-"  # a fence waits for all
    moved = (r.moved.sender_computing, r.moved.receiver_computing, r.moved.both_computing)
    return {
        "operation": o.operation if first else "",
        "path": o.path if first else "",
        "bytes": f"{r.from_bytes:,}" + (f" to {r.to_bytes:,}" if r.to_bytes else " and above"),
        "kind": kind,
        "synchronization": text,
        "name": r.transfer_class,
        "shares": [_percent(s) for s in (*moved, r.confidence)],
    }


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def _knobs_plot(tried: Sequence[Tried], found: Answer) -> Markup:
    if not tried:
        return Markup("")
    largest = max(p.points[-1].size_bytes for p in found.profile.paths.values())
    return Markup(plots.knobs_plot(tried, largest, "settings"))


def _knobs(tried: Sequence[Tried]) -> list[dict[str, object]]:
    """Per setting what it does and costs, and a row per operation and path."""
    by_export: dict[str, list[Tried]] = {}
    for t in tried:
        by_export.setdefault(t.knob.export, []).append(t)
    return [
        {
            "export": export,
            "effect": of[0].knob.effect[0].upper() + of[0].knob.effect[1:],
            "cost": of[0].knob.cost,
            "memory": memory_of(of[0]),
            "rows": [_tried(t) for t in of],
        }
        for export, of in by_export.items()
    ]


def _tried(t: Tried) -> dict[str, str]:
    def pair(before: float | None, after: float | None) -> str:
        return _change(*("?" if s is None else f"{s * 1e6:,.2f}" for s in (before, after)))

    return {
        "operation": t.operation,
        "path": t.path,
        "size": _change(
            _up_to(t.before_bytes, t.before_unclear), _up_to(t.after_bytes, t.after_unclear)
        ),
        "name": _change(t.before_class, t.after_class),
        "latency": pair(t.latency_before_s, t.latency_after_s),
        "mebibyte": pair(t.mebibyte_before_s, t.mebibyte_after_s),
    }


def _up_to(size: int | None, unclear: bool) -> str:
    if size is None:
        return "all sizes"
    if unclear:
        return f"{size:,} (beyond: cannot tell)" if size else "cannot tell"
    return f"{size:,}" if size else "none"


def _change(before: str, after: str) -> str:
    return before if before == after else f"{before} \u2192 {after}"
