"""Braces around the one statement that is a body in C, so that others may join it."""

from __future__ import annotations

import re

from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import after_line, indent_at

_HEADER_ENDS = re.compile(
    rb"(?:\)|\belse)[ \t]*\r?\n[ \t]*\Z"
)  # nothing but the statement on its line


def can_be_braced(source: SourceFile, block: Block) -> bool:
    """Whether a body without braces stands on lines of its own, behind the header's."""
    if source.language is not Language.C or block.owner is None:
        return False
    between = source.data[block.owner.code_start : block.start]
    behind = source.data[block.end : after_line(source.data, block.end)]
    return _HEADER_ENDS.search(between) is not None and not behind.strip()


def opening(source: SourceFile, block: Block) -> Edit:
    head = len(source.data[: block.start].rstrip())
    return Edit(head, head, " {")


def closing(source: SourceFile, block: Block) -> Edit:
    assert block.owner is not None
    end = after_line(source.data, block.end)
    return Edit(end, end, f"\n{indent_at(source.data, block.owner.start)}}}")
