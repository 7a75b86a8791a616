"""`imbrex report`: a run as one HTML file that needs nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from imbrex import __version__
from imbrex.errors import ImbrexError
from imbrex.profile.format import Ended
from imbrex.profile.run import Run
from imbrex.profile.summary import GROUPINGS, By, Row, rows
from imbrex.report import wording
from imbrex.report.findings import nothing_moved
from imbrex.report.plots import parts_plot
from imbrex.report.verdict import judge

MOST_ROWS = 500
MOST_SITES_DRAWN = 12


@dataclass(frozen=True)
class Cell:
    """A table cell: what is shown, and the value by which it sorts."""

    text: str
    order: str
    number: bool = True


@dataclass(frozen=True)
class Section:
    """One table of the report, with its plot where it has one."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int
    plot: Markup | None


@dataclass(frozen=True)
class Chapter:
    """A further part of the page: text as a terminal shows it, and plots (title, SVG text)."""

    title: str
    text: str
    plots: tuple[tuple[str, str], ...] = ()

    @property
    def drawings(self) -> list[tuple[str, Markup]]:
        """The plots, their SVG as it is: matplotlib escapes the labels."""
        return [(title, Markup(drawing)) for title, drawing in self.plots]


def write_report(run: Run, file: Path, chapters: Sequence[Chapter] = ()) -> None:
    """Write the report; ImbrexError where the file cannot be written (never half of it)."""
    text = render(run, chapters)
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        # the command may hold bytes that are no text
        scratch.write_text(text, encoding="utf-8", errors="backslashreplace")
        scratch.replace(file)
    except OSError as error:
        raise ImbrexError(f"{file}: cannot be written ({error.strerror})") from error
    finally:
        if scratch.exists():
            scratch.unlink()


def render(run: Run, chapters: Sequence[Chapter] = ()) -> str:
    """The page as text."""
    environment = Environment(
        loader=PackageLoader("imbrex.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _code
    return environment.get_template("report.html.j2").render(
        verdict=judge(run),
        run=run,
        wording=wording,
        nothing_moved=nothing_moved(run),
        sections=[_section(run, by) for by in GROUPINGS],
        chapters=chapters,
        version=__version__,
    )


def _code(line: str) -> Markup:
    """A line of text with what stands between backquotes as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(line))))


def _section(run: Run, by: By) -> Section:
    found = rows(run, by)
    function = by == "site" and wording.any_line(found)
    names = {
        "site": ("site", "operation", *(["function"] if function else [])),
        "rank": ("rank", "host", "ended"),
    }
    numbers = (
        "calls",
        "bytes",
        "transfer",
        "hidden",
        "exposed",
        "hidden share",
        "undetermined",
        "in MPI",
        "waiting",
    )
    return Section(
        name=by,
        columns=(*names.get(by, (by,)), *numbers),
        rows=tuple(_cells(run, row, by, function) for row in found[:MOST_ROWS]),
        left_out=max(0, len(found) - MOST_ROWS),
        plot=_plot(found, by),
    )


def _plot(found: list[Row], by: By) -> Markup | None:
    drawn = [row for row in found if row.sums.transfer_max_s > 0]
    if by not in ("site", "size", "rank") or not drawn:
        return None
    if by == "site":
        drawn = sorted(drawn, key=lambda row: row.sums.transfer_max_s, reverse=True)
        drawn = drawn[:MOST_SITES_DRAWN]
    # The SVG comes from matplotlib, which escapes the labels.
    return Markup(parts_plot(drawn, f"Transfer time by {by}"))


def _cells(run: Run, row: Row, by: By, function: bool) -> tuple[Cell, ...]:
    sums = row.sums
    cells = [Cell(row.key, str(row.number) if by in ("size", "rank") else row.key, by == "size")]
    if row.site is not None:
        cells.append(_text(row.operation or ""))
    if function:
        cells.append(_text((row.site.function or "") if row.site else ""))
    if by == "rank":
        entry = run.ranks[run.ranks["rank"] == row.number]
        host = bytes(entry[0]["host"]).decode("utf-8", "replace") if len(entry) else ""
        ended = Ended(min(int(entry[0]["ended"]), Ended.MISSING)).name.lower() if len(entry) else ""
        cells += [_text(host), _text(ended)]
    cells += [
        Cell(f"{sums.count:,}", str(sums.count)),
        Cell(wording.amount(sums.bytes), str(sums.bytes)),
        _interval(sums.transfer_min_s, sums.transfer_max_s),
        _interval(sums.overlap_min_s, sums.overlap_max_s),
        _interval(sums.exposed_min_s, sums.exposed_max_s),
        Cell(wording.shares(sums.hidden_share), repr((sums.hidden_share or (0.0, 0.0))[1])),
        Cell(wording.seconds(sums.undetermined_s), repr(sums.undetermined_s)),
        Cell(wording.seconds(sums.call_s), repr(sums.call_s)),
        _interval(sums.wait_min_s, sums.wait_max_s),
    ]
    return tuple(cells)


def _text(text: str) -> Cell:
    return Cell(text, text, number=False)


def _interval(low: float, high: float) -> Cell:
    return Cell(wording.interval(low, high), repr(high))
