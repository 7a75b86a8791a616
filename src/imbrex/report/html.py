"""`imbrex report`: a run as one HTML file that needs nothing else."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from imbrex import __version__
from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.diagnosis.finding import WORTH
from imbrex.diagnosis.message_fates import FATE_WORDS, Fates, explain, fates
from imbrex.diagnosis.places import short_place
from imbrex.diagnosis.segments import segments
from imbrex.diagnosis.weaknesses import nothing_moved
from imbrex.diagnosis.words import CAUSE_MEANINGS, CAUSE_WORDS
from imbrex.errors import ImbrexError
from imbrex.profile.causes import CAUSES
from imbrex.profile.run import Run
from imbrex.profile.summary import GROUPINGS, By
from imbrex.profile.timeline.timeline import Timeline, load_timeline
from imbrex.report.bar import WORTH_A_LETTER
from imbrex.report.bounds import sources, transfer_parts
from imbrex.report.columns import Column, columns, every_rank
from imbrex.report.plots import parts_plot
from imbrex.report.rank_plots import most_waiting, rank_plots, rank_words
from imbrex.report.site_cards import MOST_CARDS, Card, Cards
from imbrex.report.site_words import why
from imbrex.report.timeline_data import Drawn, drawn_timeline
from imbrex.report.verdict import MOST_FINDINGS, head
from imbrex.whole_file import write_whole

MOST_ROWS = 500
MOST_SITES_DRAWN = 12
MOST_TOLD = 40
_NO_TIMES = (
    " It was read from the ranks' call logs, which know no transfer times: late is told, but not "
    "hidden from exposed."
)
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
class TableRow:
    """A row of a table, and what opens below it where there is something."""

    number: int
    cells: tuple[Cell, ...]
    card: Card | None = None


@dataclass(frozen=True)
class Section:
    """One table of the report, with its plot where it has one."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    left_out: int
    plot: Markup | None


@dataclass(frozen=True)
class Told:
    """A message in words."""

    sender: int
    receiver: int
    size: str
    words: str


@dataclass(frozen=True)
class Chapter:
    """A further part of the page: text as a terminal shows it, and plots (title, SVG text)."""

    title: str
    text: str
    plots: tuple[tuple[str, str], ...] = ()
    first: bool = False
    """Before what to do next; else behind the ranks."""

    @property
    def drawings(self) -> list[tuple[str, Markup]]:
        """The plots, their SVG as it is: matplotlib escapes the labels."""
        return [(title, Markup(drawing)) for title, drawing in self.plots]


def check_place(file: Path) -> None:
    """ImbrexError where the page could not be written, before the seconds that it takes."""
    folder = file.absolute().parent
    if file.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ImbrexError(f"{file}: cannot be written: name a file in a folder that is there")


def write_report(run: Run, file: Path, chapters: Sequence[Chapter] = ()) -> None:
    """Write the report; ImbrexError where the file cannot be written (never half of it)."""
    # the command may hold bytes that are no text
    write_whole(file, render(run, chapters), errors="backslashreplace")


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
    environment.globals["loop_id"] = lambda row: row.number
    diagnosis = diagnose(run)
    account = diagnosis.account
    timeline, lacks = _timeline(run)
    found = fates(timeline) if timeline is not None else None
    drawn = drawn_timeline(account, timeline) if timeline is not None else None
    cards = Cards(account, diagnosis.findings, timeline, found)
    tables = {by: every_rank(account, by) for by in GROUPINGS}
    # What has one row says no more than the whole run does.
    sections = [
        _section(account, by, rows, cards)
        for by, rows in tables.items()
        if by == "site" or len(rows) > 1
    ]
    plots = rank_plots(account)
    numbered = list(enumerate(chapters, 1))
    opening, remaining = (
        [(f"chapter-{n}", _lower(c.title)) for n, c in numbered if c.first is first]
        for first in (True, False)
    )
    return environment.get_template("report.html.j2").render(
        diagnosis=diagnosis,
        account=account,
        run=run,
        css=_asset("page.css"),
        page_js=_asset("page.js"),
        timeline_js=_asset("timeline.js"),
        head=head(account).removeprefix("Imbrex: ").partition("; efficiency")[0],
        efficiencies=_efficiencies(account),
        segments=[part for part in segments(account) if part.share >= WORTH_A_LETTER],
        meanings={name: f"{words}: {CAUSE_MEANINGS[name]}" for name, words in CAUSE_WORDS.items()},
        causes=[(name, CAUSE_WORDS[name]) for name in CAUSES],
        findings=diagnosis.findings[:MOST_FINDINGS],
        transfer_parts=transfer_parts(account),
        reasons=[r for r in diagnosis.reasons if r.seconds >= WORTH * account.sums.transfer_max_s],
        sources=sources(account),
        wording=wording,
        nothing_moved=nothing_moved(run),
        sections=sections,
        chapters=numbered,
        timeline=drawn,
        timeline_words=_opens_at(account, timeline, drawn),
        timeline_lacks=lacks or "No single call was kept.",
        timeline_json=_json(drawn.content) if drawn is not None else "",
        told=_told(account, timeline, found, drawn),
        fates=[(n, f"{_FATE_KIND[n]}-fate", words) for n, words in enumerate(FATE_WORDS)],
        rank_plots=plots,
        rank_words=rank_words(account),
        pairs=most_waiting(account),
        parts=[
            *opening,
            ("sites", "call sites"),
            ("timeline", "time line"),
            *([("ranks", "ranks")] if plots else []),
            *remaining,
            ("transfers", "transfer time"),
            *((f"by-{section.name}", f"by {section.name}") for section in sections[1:]),
        ],
        version=__version__,
    )


def _lower(title: str) -> str:
    return title[:1].lower() + title[1:]


_FATE_KIND = ("hidden", "exposed", "stalled", "late", "open")


def _asset(name: str) -> Markup:
    """A file of the page that goes in as it is."""
    return Markup((files("imbrex.report") / "templates" / name).read_text(encoding="utf-8"))


def _json(content: Mapping[str, object]) -> Markup:
    """JSON that no name in it can end."""
    text = json.dumps(content, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _timeline(run: Run) -> tuple[Timeline | None, str]:
    """The time line of a run, or why there is none."""
    try:
        found = load_timeline(run)
    except ImbrexError as error:
        return None, f"No time line: {error}"
    if found is not None:
        return found, ""
    if run.job.log is None or not run.job.log.budget_bytes:
        return None, "No time line: the run has no call log (measure again without --log off)."
    return None, (
        "No time line: single calls were not kept (the run was made by an older Imbrex, or ended "
        "before its ranks could tell each other of their calls). Measure again."
    )


def _opens_at(account: Account, timeline: Timeline | None, drawn: Drawn | None) -> str:
    if timeline is None or drawn is None:
        return ""
    call = timeline.calls[drawn.iteration.row]
    place = short_place(account.run.site(int(call["site"])))
    whole = ""
    if drawn.whole_s > drawn.kept_s:
        whole = (
            f"Zoomed out, what each rank did in the whole run ({wording.seconds(drawn.whole_s)}); "
            "where the bar above the ranks is, single calls: "
        )
    operation = account.run.operation(int(call["operation"]))
    return (
        f"{whole}{drawn.calls:,} calls and {drawn.messages:,} messages, "
        f"{wording.seconds(drawn.kept_s)} of the run. It opens at a typical iteration of "
        f"{operation} at {place} on rank {drawn.iteration.rank}."
        + ("" if timeline.x_known else _NO_TIMES)
    )


def _told(
    account: Account, timeline: Timeline | None, found: Fates | None, drawn: Drawn | None
) -> list[Told]:
    """The messages of the iteration, those that took longest first."""
    if timeline is None or found is None or drawn is None:
        return []
    calls, messages = timeline.calls, timeline.messages
    receive, send = calls[messages["receive"]], calls[messages["send"]]
    inside = (receive["end_exit_ns"] >= drawn.iteration.begin_ns) & (
        send["enter_ns"] <= drawn.iteration.end_ns
    )
    chosen = np.flatnonzero(inside)
    chosen = chosen[np.argsort(-(found.inside_ns + found.late_ns)[chosen], kind="stable")]
    chosen = chosen[:MOST_TOLD]
    run = account.run
    names: dict[int, str] = {}
    for table in (messages["send"][chosen], messages["receive"][chosen], found.wait[chosen]):
        for row in table.tolist():
            if row >= 0:
                call = calls[row]
                place = short_place(run.site(int(call["site"])))
                names[row] = f"{run.operation(int(call['operation']))} at {place}"
    return [
        Told(
            int(send["rank"][n]),
            int(receive["rank"][n]),
            wording.amount(int(receive["bytes"][n])),
            explain(timeline, found, int(n), names),
        )
        for n in chosen
    ]


def _efficiencies(account: Account) -> list[tuple[str, float, str]]:
    """POP's efficiencies with their meanings, of more than one rank."""
    found = account.efficiency
    if found is None or len(account.run.ranks) < 2:
        return []
    values = (
        ("parallel efficiency", found.parallel, "load balance times communication efficiency"),
        ("load balance", found.load_balance, "mean over largest compute time of the ranks"),
        ("communication", found.communication, "largest compute time over the run time"),
        ("serialization", found.serialization, "run time on an ideal network"),
        ("transfer", found.transfer, "run time on an ideal network over the run time"),
    )
    return [(name, value, meaning) for name, value, meaning in values if value is not None]


def _code(line: str) -> Markup:
    """A line of text with what stands between backquotes as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(line))))


def _section(account: Account, by: By, found: tuple[RowAccount, ...], cards: Cards) -> Section:
    # what does not fit beside the rest, and of sites what `why` says already
    cells = [c for c in columns(account, by, found) if c.spare < SPARED]
    if by == "site":
        cells = [c for c in cells if c.name not in ("late", "transfer", "stalled")]
        cells[2:2] = [_why(account)]
    return Section(
        name=by,
        columns=tuple(column.name for column in cells),
        rows=tuple(
            TableRow(
                number,
                tuple(Cell(c.text(row), _order(c.order(row)), c.number) for c in cells),
                cards.card(row) if by == "site" and number < MOST_CARDS else None,
            )
            for number, row in enumerate(found[:MOST_ROWS])
        ),
        left_out=max(0, len(found) - MOST_ROWS),
        plot=_plot(account, found, by),
    )


def _why(account: Account) -> Column:
    text: Callable[[RowAccount], str] = lambda row: why(account, row)  # noqa: E731
    return Column("why (of the run)", text, text, number=False)


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
