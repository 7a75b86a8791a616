"""Arrays of pointers that are owners: each element is only ever set to an allocation of its own.

`send[0]` and `send[1]` then never name the same memory, whichever statement allocates it: each time
that `send[face] = malloc(...)` runs, it gives memory that no other element holds.
"""

from __future__ import annotations

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.distinct import handed_out
from imbrex.transform.model.program import Program


def find_slotted(program: Program, aliases: Aliases) -> set[str]:
    """The arrays of pointers whose elements each hold memory of their own, where valid at all.

    Not those that are copied, as a whole or within a structure, or whose elements can be set
    otherwise than by an assignment that names the array.
    """
    if program.unread_code or not program.is_whole:
        return set()
    facts: dict[str, list[tuple[str, str]]] = {}
    addressed: set[str] = set()
    for target, form, source in program.pointer_facts:
        facts.setdefault(target, []).append((form, source))
        if form == "addr":
            addressed.add(source)
    passed = {
        argument.base
        for call in program.calls()
        for argument in call.arguments
        if argument.pointer and not argument.through
    }
    found: set[str] = set()
    for key, variable in program.variables.items():
        if not variable.bounds or key not in facts or key in addressed or key in passed:
            continue
        if variable.kind not in ("field", "local", "static", "global"):
            continue
        if key in program.overlays or aliases.pointees(key) & {"external", "?"}:
            continue
        if variable.kind == "field":
            record = variable.record
            if record in program.copied_records or handed_out(program, record):
                continue
        if all(form == "addr" and source.startswith("heap:") for form, source in facts[key]):
            found.add(key)
    return found
