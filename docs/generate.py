#!/usr/bin/env python3
"""Write the tables of fields into the pages of the formats, from the code that reads the files.

    python docs/generate.py

A page holds `<!-- fields: NAME -->` and `<!-- end of fields -->`; what lies between them is ours.
The page of the commands is ours as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from imbrex.cli.pages import commands_page
from imbrex.export import sites_table
from imbrex.formats.page import columns_page, fields_page, keys_page
from imbrex.launch import installed
from imbrex.model import keys
from imbrex.network import interconnect, profile_format
from imbrex.profile import (
    awaited,
    call_paths,
    causes,
    evidence,
    format,
    guard_format,
    job,
    recording_format,
    site_map,
    sites,
    standing,
)
from imbrex.profile.timeline import format as timeline_format
from imbrex.profile.timeline import overview
from imbrex.transform.rewrites import catalogue
from imbrex.tune import trials_file

TABLES: dict[str, Callable[[], str]] = {
    "measures.npy": lambda: columns_page(format.MEASURES),
    "ranks.npy": lambda: columns_page(format.RANKS),
    "evidence.npy": lambda: columns_page(evidence.EVIDENCE_TABLE),
    "causes.npy": lambda: columns_page(causes.CAUSES_TABLE),
    "waits.npy": lambda: columns_page(causes.WAITS_TABLE),
    "partners.npy": lambda: columns_page(causes.PARTNERS_TABLE),
    "standing.npy": lambda: columns_page(standing.STANDING_TABLE),
    "awaited.npy": lambda: columns_page(awaited.AWAITED_TABLE),
    "call_paths.npy": lambda: columns_page(call_paths.CALL_PATHS_TABLE),
    "timeline.npy": lambda: columns_page(timeline_format.TIMELINE),
    "overview.npy": lambda: columns_page(overview.OVERVIEW),
    "sites.csv": lambda: columns_page(sites_table.SITES_TABLE),
    "run.json": lambda: fields_page(job.JOB.content),
    "sites.json": lambda: fields_page(sites.SITES.content),
    "guard.json": lambda: fields_page(guard_format.GUARD.content),
    "predict.toml": lambda: keys_page(keys.FILE),
    "[[application]]": lambda: keys_page(keys.APPLICATION),
    "[[application.message]]": lambda: keys_page(keys.MESSAGE),
    "[[application.message.inside]]": lambda: keys_page(keys.INSIDE),
    "[[application.collective]]": lambda: keys_page(keys.COLLECTIVE),
    "[[application.printed]]": lambda: keys_page(keys.PRINTED),
    "[[network]]": lambda: keys_page(interconnect.NETWORK),
    "[latency_table]": lambda: keys_page(keys.LATENCY_TABLE),
    "[element_figure]": lambda: keys_page(keys.ELEMENT_FIGURE),
    "messages.json": lambda: fields_page(recording_format.MESSAGES.content),
    "elements.npy": lambda: columns_page(recording_format.ELEMENTS),
    "trace.npy": lambda: columns_page(recording_format.TRACE),
    "rewrites": catalogue.page,
    "imbrex-sites.json": lambda: fields_page(site_map.SITE_MAP.content),
    "trials.json": lambda: fields_page(trials_file.TRIALS_FORMAT.content),
    "runtime.json": lambda: fields_page(installed.RUNTIME.content),
    "machine.json": lambda: fields_page(profile_format.PROFILE.content),
}
_BLOCK = re.compile(
    r"(<!-- fields: (?P<name>\S+) -->\n).*?(?P<end><!-- end of fields -->)", re.DOTALL
)


def generated(text: str) -> str:
    """A page with its tables of fields as the code has them."""
    return _BLOCK.sub(lambda m: f"{m[1]}\n{TABLES[m['name']]()}\n{m['end']}", text)


def names_in(text: str) -> list[str]:
    """The formats whose fields a page lists."""
    return [m["name"] for m in _BLOCK.finditer(text)]


def main() -> None:
    for page in sorted(Path(__file__).parent.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (new := generated(text)) != text:
            page.write_text(new, encoding="utf-8")
            print(page)
    commands = Path(__file__).parent / "reference" / "commands.md"
    commands.write_text(commands_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
