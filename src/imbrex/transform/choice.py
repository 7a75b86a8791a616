"""What goes with the call sites that a user, or a measured run, chose."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from imbrex.transform.model.program import Program
from imbrex.transform.rewrites.proposals import Proposal


def goes_with_chosen(proposal: Proposal, program: Program, only: Set[tuple[str, int]]) -> bool:
    """Whether a call of MPI of the routines that would be divided is chosen: they go together.

    `only` has the file and the line of each chosen call; it is empty where all are.
    """
    if not only:
        return True
    names = list(proposal.also or (proposal.routine.name,))
    if proposal.all_chosen:
        names.append(proposal.routine.name)
        return all(_is_chosen([name], program, only) for name in names)
    return _is_chosen(names, program, only)


def _is_chosen(names: list[str], program: Program, only: Set[tuple[str, int]]) -> bool:
    """Whether a call of MPI of some routines, or of those that they call, is chosen."""
    seen = set[str]()
    while names:
        name = names.pop()
        routine = program.routines.get(name)
        if routine is None or name in seen:
            continue
        seen.add(name)
        for statement in routine.statements():
            for call in statement.calls:
                if call.name.startswith("MPI_") and (routine.file, call.line) in only:
                    return True
                names.append(call.name)
    return False


def are_chosen(posts: Set[tuple[str, int]], program: Program, only: Set[tuple[str, int]]) -> bool:
    """Whether all receives that would be posted ahead, by routine and line, are chosen."""
    if not only:
        return True
    files = {routine.name: routine.file for routine in program.routines.values()}
    return all((files.get(name, ""), line) in only for name, line in posts)


def of_chosen(proposal: Proposal, only: Set[tuple[str, int]]) -> Proposal:
    """The proposal without what its edits alone gain, where that is for calls not chosen."""
    if not only or not proposal.opened or proposal.opened & only:
        return proposal
    return replace(proposal, worth=0, opened=frozenset())
