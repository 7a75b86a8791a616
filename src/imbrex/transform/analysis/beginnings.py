"""Pointers of C that hold nothing but the beginnings of objects, wherever they are used.

From those no index is below 0: what they point to has no elements in front of them.
"""

from __future__ import annotations

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.model.program import Program

_ALLOCATED = frozenset({"return:realloc"})


def find_beginnings(program: Program, aliases: Aliases) -> frozenset[str]:
    """Pointer variables, fields and parameters that are given beginnings of objects alone."""
    if program.unread_code or not program.is_whole:
        return frozenset()
    given: dict[str, list[tuple[str, str]]] = {}
    for target, form, source in program.pointer_facts:
        given.setdefault(target, []).append((form, source))
    wrong = set(program.inner_addresses)
    for target, facts in given.items():
        for form, source in facts:
            if form == "addr" and source == "external":
                wrong.add(target)
            elif form == "addr":
                wrong.add(source)  # where it is a pointer, others may set it
    for target in [name for name in wrong | given.keys() if name.startswith("*")]:
        wrong |= aliases.pointees(target.lstrip("*"))
    known = given.keys() | _ALLOCATED
    spreading = True
    while spreading:
        more = {
            target
            for target, facts in given.items()
            if target not in wrong
            and any(form == "copy" and (s in wrong or s not in known) for form, s in facts)
        }
        wrong |= more
        spreading = bool(more)
    return frozenset(
        key
        for key, variable in program.variables.items()
        if variable.pointer and key in given and key not in wrong
    )
