"""Collectives in routines that are taken apart: all that may match one another, or none.

`dot(r, r, n, &rr)` adds numbers of its own and then those of all ranks. In its start the collective
becomes a nonblocking one, which never matches a blocking one (MPI 4.0, section 6.12). So calls
elsewhere that may match it become nonblocking where they stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.left_over import left_over
from imbrex.transform.analysis.transfer import Transfer
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.rewrites.base import Refusal, Site
from imbrex.transform.rewrites.blocking import BlockingToNonblocking
from imbrex.transform.rewrites.calls import sites_in, sites_of
from imbrex.transform.rewrites.collectives import CollectivesToNonblocking
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.emit import Emitter, number_requests
from imbrex.transform.text.languages import text_of


@dataclass(slots=True)
class Wrapped:
    """What the collectives of a routine become, or why they stay."""

    transfers: dict[int, list[Transfer]] = field(default_factory=dict)  # by the call's identity
    matching: list[Site] = field(default_factory=list)  # calls elsewhere
    problem: Reason | None = None


class WrappedCollectives:
    """Finds which collectives of a routine may become nonblocking, and rewrites those elsewhere."""

    def __init__(self, program: Program, footprints: Footprints) -> None:
        self.program = program
        self.footprints = footprints
        self._known: dict[str, Wrapped] = {}  # by routine

    @cached_property
    def _rewrite(self) -> CollectivesToNonblocking:
        messages = BlockingToNonblocking(self.program, self.footprints, self.footprints.facts)
        return CollectivesToNonblocking(
            messages, self.footprints.libraries, self.program.reassociation
        )

    @cached_property
    def _groups(self) -> dict[int, list[Site]]:
        """By the identity of each call, the sites that may match it."""
        uncalled = left_over(self.program)
        every = [
            site
            for site in sites_of(self.program)
            if site.call.name in mpi_calls.BLOCKING_COLLECTIVES and site.routine.key not in uncalled
        ]
        return {id(s.call): group for group in self._rewrite.groups(every) for s in group}

    def matching(self, routines: Iterable[Routine]) -> list[Site]:
        """The calls elsewhere that may match those of routines which have been looked at."""
        found = {id(s.call): s for r in routines for s in self._known[r.key].matching}
        return [*found.values()]

    def of(self, routine: Routine, messages: BlockingToNonblocking) -> Wrapped:
        """What the collectives of a routine become. `messages`: notes the types of buffers."""
        found = self._known[routine.key] = self._find(routine, messages)
        return found

    def _find(self, routine: Routine, messages: BlockingToNonblocking) -> Wrapped:
        found = Wrapped()
        rewrite = self._rewrite
        rewrite.datatypes = messages.datatypes
        sites = [site for site in sites_in(routine) if id(site.call) in self._groups]
        try:
            for site in sites:
                self._check(site)
                found.transfers[id(site.call)] = rewrite.conditions(site)
                group = [s for s in self._groups[id(site.call)] if s.routine is not routine]
                new = [s for s in group if s not in found.matching]
                for other in new:
                    rewrite.conditions(other)
                found.matching += new
        except Refusal as refusal:
            cause, place = refusal.reason.cause, refusal.reason.location
            if place not in [site.location for site in sites]:
                cause = ReasonKind.MATCHING_STAYS(cause=cause)
            return Wrapped(problem=Reason(cause, place))
        for site in sites:
            barred = rewrite.not_permitted([site])
            if barred is not None:
                return Wrapped(problem=barred)
        return found

    def _check(self, site: Site) -> None:
        """Refuse where a call that is not seen may match one of the routine."""
        rewrite = self._rewrite
        if rewrite.elsewhere is not None:
            raise Refusal(rewrite.name, rewrite.elsewhere)
        rewrite.check_hidden(site.call.name)

    def edits(self, sites: Iterable[Site]) -> dict[str, list[Edit]]:
        """The edits by which calls become nonblocking where they stand, by file."""
        found: dict[str, list[Edit]] = {}
        of_routine: dict[str, list[Site]] = {}
        for site in sites:
            of_routine.setdefault(site.routine.key, []).append(site)
        for every in of_routine.values():
            routine = every[0].routine
            source = self.program.files[routine.file]
            lowered = [(site, self._rewrite.conditions(site)) for site in every]
            for site, transfers in lowered:
                self._rewrite.lower(site, transfers)
            ordered = number_requests(routine)
            text = text_of(self.program, source, routine, len(ordered))
            edits = [*text.declarations(ordered, []), *Emitter(source, text).emit(routine.body)]
            found.setdefault(routine.file, []).extend(edits)
            for site, transfers in lowered:
                self._rewrite.undo(site, transfers)
        return found
