"""What makes procedures of a module known to routines that call another one of it by a type.

`call g%exchange()` needs no name of the module but that of the type. What is called by its own name
beside it must be given out by the module, and be brought in where it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from imbrex.transform.model.name_lists import listed_in
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.layout import indent_at, line_start
from imbrex.transform.text.wrapping import wrapped


def made_known(
    program: Program, routine: Routine, users: Iterable[Routine], names: tuple[str, ...]
) -> dict[str, list[Edit]] | None:
    """Edits by file that let users call procedures of these names, which stand beside a routine.

    None where they cannot be made known to one.
    """
    module = routine.access.module
    outside = [user for user in users if module not in user.access.hosts]
    edits: dict[str, list[Edit]] = {}
    if not outside:
        return edits if module else None
    if not module or (routine.access.withheld and routine.access.withheld_at < 0):
        return None
    if any(module not in user.access.used for user in outside):
        return None
    taken = re.compile(rb"(?i)\b(?:" + "|".join(names).encode() + rb")\b") if names else None
    texts = [source.data for source in program.files.values()] + program.included
    if taken is not None and any(taken.search(text) for text in texts):
        return None  # it may be another one's where the module is used
    source = program.files[routine.file]
    places = program.places_listed(routine, routine.file)
    listed = listed_in(source.data, routine.plain_name, places)
    if "private" in listed:
        return None  # what stands beside it is listed there too
    if routine.access.withheld and "public" not in listed:
        edit = _line(source, routine.access.withheld_at, "public ", names)
        edits.setdefault(routine.file, []).append(edit)
    for user in {user.key: user for user in outside}.values():
        if module in user.access.whole:
            continue
        if user.access.behind_head < 0:
            return None
        edit = imported(program.files[user.file], user, module, names)
        edits.setdefault(user.file, []).append(edit)
    return edits


def imported(source: SourceFile, user: Routine, module: str, names: tuple[str, ...]) -> Edit:
    """What brings names of a module into a routine, which must begin on lines of its own."""
    return _line(source, user.access.behind_head, f"use {module}, only: ", names)


def _line(source: SourceFile, behind: int, head: str, names: tuple[str, ...]) -> Edit:
    """A statement on lines of its own behind another one."""
    data = source.data
    indent = indent_at(data, line_start(data, behind - 1))
    if head.startswith("use "):
        indent += "  "
    if source.language is Language.FORTRAN_FIXED and len(indent) < 6:
        indent = " " * 6
    place = data.find(b"\n", behind - 1)
    place = len(data) if place < 0 else place
    colons = ":: " if head == "public " else ""
    text = wrapped(source.language, head + colons + ", ".join(names), len(indent), indent)
    return Edit(place, place, f"\n{indent}{text}")
