"""`imbrex report`: a run as one HTML file that needs nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from imbrex import __version__
from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.diagnosis.finding import WORTH
from imbrex.diagnosis.segments import segments
from imbrex.diagnosis.weaknesses import nothing_moved
from imbrex.diagnosis.words import CAUSE_MEANINGS, CAUSE_WORDS
from imbrex.errors import ImbrexError
from imbrex.profile.run import Run
from imbrex.profile.summary import GROUPINGS, By
from imbrex.report.bar import WORTH_A_LETTER
from imbrex.report.bounds import sources, transfer_parts
from imbrex.report.columns import Column, columns, every_rank
from imbrex.report.plots import parts_plot
from imbrex.report.site_words import why
from imbrex.report.verdict import MOST_FINDINGS, head

MOST_ROWS = 500
MOST_SITES_DRAWN = 12
SPARED = 6
"""Columns that a terminal leaves out this early are not in the page."""
DRAWN = 0.1
"""The share of the transfer time that must be known as hidden or exposed for a plot to say more."""


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
    diagnosis = diagnose(run)
    account = diagnosis.account
    return environment.get_template("report.html.j2").render(
        diagnosis=diagnosis,
        account=account,
        run=run,
        head=head(account).removeprefix("Imbrex: "),
        segments=[part for part in segments(account) if part.share >= WORTH_A_LETTER],
        meanings={name: f"{words}: {CAUSE_MEANINGS[name]}" for name, words in CAUSE_WORDS.items()},
        findings=diagnosis.findings[:MOST_FINDINGS],
        transfer_parts=transfer_parts(account),
        sources=sources(account),
        wording=wording,
        nothing_moved=nothing_moved(run),
        sections=[_section(account, by) for by in GROUPINGS],
        chapters=chapters,
        version=__version__,
    )


def _code(line: str) -> Markup:
    """A line of text with what stands between backquotes as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(line))))


def _section(account: Account, by: By) -> Section:
    found = every_rank(account, by)
    # what does not fit beside the rest, and of sites what `why` says already
    cells = [c for c in columns(account, by, found) if c.spare < SPARED]
    if by == "site":
        cells = [c for c in cells if c.name not in ("late", "transfer", "stalled")]
        cells[2:2] = [_why(account)]
        if wording.any_line([row.row for row in found]):
            cells[2:2] = [_function()]
    return Section(
        name=by,
        columns=tuple(column.name for column in cells),
        rows=tuple(
            tuple(
                Cell(column.text(row), _order(column.order(row)), column.number) for column in cells
            )
            for row in found[:MOST_ROWS]
        ),
        left_out=max(0, len(found) - MOST_ROWS),
        plot=_plot(account, found, by),
    )


def _why(account: Account) -> Column:
    text: Callable[[RowAccount], str] = lambda row: why(account, row)  # noqa: E731
    return Column("why (of the run)", text, text, number=False)


def _function() -> Column:
    text: Callable[[RowAccount], str] = (  # noqa: E731
        lambda row: (row.row.site.function or "") if row.row.site else ""
    )
    return Column("function", text, text, number=False)


def _order(value: float | str) -> str:
    return value if isinstance(value, str) else repr(value)


def _plot(account: Account, found: Sequence[RowAccount], by: By) -> Markup | None:
    """The parts of the transfer time, where that is worth looking at."""
    drawn = [row.row for row in found if row.row.sums.transfer_max_s > 0]
    sums = account.sums
    known_s = sums.overlap_min_s + sums.exposed_min_s
    worth = sums.transfer_max_s >= WORTH * account.busy_s and known_s >= DRAWN * sums.transfer_max_s
    if by not in ("site", "size", "rank") or len(drawn) < 2 or not worth:
        return None
    if by == "site":
        drawn = sorted(drawn, key=lambda row: row.sums.transfer_max_s, reverse=True)
        drawn = drawn[:MOST_SITES_DRAWN]
    # The SVG comes from matplotlib, which escapes the labels.
    return Markup(parts_plot(drawn, f"Transfer time by {by}"))
