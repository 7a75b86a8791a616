"""Procedures of a type, or of a generic name, whose callers call their halves by now."""

from __future__ import annotations

from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine


def left_over(program: Program) -> set[str]:
    """The keys of such routines, which nothing calls: the type or the name alone needs them."""
    called = {call.name for call in program.calls()}
    called |= {source.removeprefix("function:") for _, _, source in program.pointer_facts}
    return {
        routine.key
        for routine in program.routines.values()
        if routine.stays and routine.name not in called and _is_halved(program, routine)
    }


def _is_halved(program: Program, routine: Routine) -> bool:
    names = [routine.beside(f"{routine.stem}_{end}") for end in ("start", "finish")]
    halves = [program.routines.get(name) for name in names]
    return all(half is not None and half.host == routine.host for half in halves)
