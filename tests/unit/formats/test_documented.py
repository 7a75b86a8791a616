"""The pages of the formats list the fields that the readers check."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules import load

DOCS = Path(__file__).parents[3] / "docs"


GENERATE = load(DOCS / "generate.py", "generate_docs")
PAGES = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if GENERATE.names_in(text)])
def test_the_tables_of_a_page_are_those_of_the_readers(page: Path) -> None:
    assert GENERATE.generated(PAGES[page]) == PAGES[page], "run python docs/generate.py"


def test_every_format_has_its_page() -> None:
    listed = [name for text in PAGES.values() for name in GENERATE.names_in(text)]
    assert sorted(listed) == sorted(GENERATE.TABLES)
