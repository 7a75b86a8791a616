"""The pages hold together: links lead somewhere, lines fit, commands are as `--help` says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
_LINK = re.compile(r"\]\(([^)#\s]+)?(#[^)\s]+)?\)")


def _prose(page: Path) -> list[str]:
    """The lines that are no code and no table."""
    lines, code = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith(("|", "    ")):
            lines.append(line)
    return lines


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as renderers make them."""
    found = set()
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            text = re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower())
            found.add("#" + text.strip().replace(" ", "-"))
    return found


def _broken(page: Path, text: str) -> list[str]:
    """The links of a page's text that lead nowhere."""
    bad = []
    for target, anchor in _LINK.findall(text):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in _anchors(file)):
            bad.append(target + anchor)
    return bad


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert _broken(page, re.sub(r"`[^`]*`", "", text)) == []


def test_the_check_sees_a_broken_link() -> None:
    page = DOCS / "README.md"
    assert _broken(page, "[a](nowhere.md) [b](guide/run.md#no-such-heading)") != []
    assert _broken(page, "[c](guide/run.md)") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_lines_have_at_most_100_characters(page: Path) -> None:
    # a word that cannot be broken may stand out: a link, a span of code
    wide = [line for line in _prose(page) if len(line) > 100 and " " in line[:100].strip()]
    assert wide == []


def test_pages_that_sources_name_are_there() -> None:
    """Comments, messages and the benchmarks that insert tables name pages by their path."""
    folders = ("src", "runtime", "probes", "benchmarks", "tests")
    suffixes = {".py", ".c", ".h", ".f90", ".j2"}
    named = {
        page
        for folder in folders
        for file in (ROOT / folder).rglob("*")
        if file.suffix in suffixes
        for page in re.findall(
            r"docs/(?:guide|reference|theory)/[\w-]+\.md",
            file.read_text(encoding="utf-8", errors="replace"),
        )
    }
    assert len(named) > 10
    assert [page for page in sorted(named) if not (ROOT / page).exists()] == []


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    pages = [p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md") if p.name != "README.md"]
    assert [page for page in pages if f"({page})" not in index] == []


def test_commands_are_as_help_says() -> None:
    """In an interpreter of its own: click keeps the help option of a command's first context."""
    text = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    script = "import sys; from imbrex.cli.pages import commands_page as page; sys.stdout.write({})"
    words = [sys.executable, "-c", script.format("page()")]
    page = subprocess.run(words, check=True, capture_output=True, encoding="utf-8").stdout
    assert text == page, "run python docs/generate.py"
