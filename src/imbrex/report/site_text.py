"""`imbrex show --site`: one call site opened, as the page opens it, for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from imbrex.diagnosis import wording
from imbrex.diagnosis.account import Account, RowAccount
from imbrex.diagnosis.diagnosis import Diagnosis
from imbrex.diagnosis.words import short
from imbrex.errors import ImbrexError
from imbrex.report.paragraph import print_paragraph
from imbrex.report.site_cards import Card, Cards
from imbrex.report.site_words import why
from imbrex.report.verdict import WIDEST

_MOST_NAMES = 8


def rows_of(account: Account, name: str) -> list[RowAccount]:
    """The rows of a call site by its name, those of several functions; ImbrexError if none is."""
    known = [row for row in account.sites if row.row.site is not None and row.row.site.id]
    found = [row for row in known if name in (row.name, row.row.site.label if row.row.site else "")]
    if not found:
        names = list(dict.fromkeys(row.name for row in known))
        told = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
        raise ImbrexError(f"--site {name}: no such site in this run; it has {told or 'none'}")
    return found


def print_site(diagnosis: Diagnosis, name: str, console: Console) -> None:
    """Print what is known of a call site: its time and why, who calls it, its source."""
    account = diagnosis.account
    width = min(console.width, WIDEST)
    cards = Cards(account, diagnosis.findings, None, None)
    sites: set[int] = set()
    for row in rows_of(account, name):
        card = cards.card(row)
        if card is None or row.row.site is None:
            continue
        if sites:
            console.print()
        share = wording.percent(row.division.call_s / account.busy_s) if account.busy_s else "0 %"
        title = f"{row.place} ({short(row.operation)}): {share} of the run"
        print_paragraph(console, title, width, style="bold")
        if told := why(account, row):
            print_paragraph(console, told, width, mark=" ")
        for fact, text in card.facts:
            print_paragraph(console, f"{fact}: {text}", width, mark=" ")
        for text, command in card.advice:
            print_paragraph(console, text, width, mark="-")
            if not (command.startswith("imbrex show ") and " --site " in command):  # is this one
                console.print(Text(f"  $ {command}", style="cyan"), soft_wrap=True)
        if row.row.site.id not in sites:
            _print_place(card, console, width)
        sites.add(row.row.site.id)


def _print_place(card: Card, console: Console, width: int) -> None:
    if card.callers is not None:
        console.print()
        print_paragraph(console, card.callers.title + ":", width)
        for share, path in card.callers.paths:
            print_paragraph(console, f"{share}: {path}" if share else path, width, mark=" ")
    if card.source:
        console.print()
        print_paragraph(console, card.where, width)
        digits = len(str(card.source[-1].number))
        for line in card.source:
            mark = ">" if line.here else " "
            text = f"{mark} {line.number:>{digits}}  {line.text}".expandtabs(4)
            console.print(
                Text(text[:width].rstrip(), style="bold" if line.here else "dim"), soft_wrap=True
            )
