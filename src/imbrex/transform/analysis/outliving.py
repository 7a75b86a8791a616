"""Waits of a routine for requests that are not its own variables, where all starts are seen.

What such a wait completes may have been started by an earlier call or elsewhere: then the memory of
all those messages counts as in use up to it, wherever that memory is named. It does not where one
MPI_Waitall of the routine, always made, is about the whole array, and all starts stand ahead of it.
"""

from __future__ import annotations

from imbrex.transform.analysis.all_completed import completes_all
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.persistent import persistent_of
from imbrex.transform.analysis.request_arguments import request_argument, request_section
from imbrex.transform.analysis.request_states import Started, states_of
from imbrex.transform.analysis.requests import constant
from imbrex.transform.model.affine import Range
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.memory import Access
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language
from imbrex.transform.model.statements import Kind, Statement


class Outliving:
    """The waits of one routine for such requests."""

    def __init__(self, footprints: Footprints, routine: Routine) -> None:
        self.footprints = footprints
        self.program = footprints.program
        self.routine = routine
        self.states = states_of(footprints)
        self.persistent = persistent_of(footprints)

    def released(self, statement: Statement, call: Call) -> list[Access] | None:
        """What is in use until the wait besides what the routine itself starts; None: unknown."""
        lasting = self.persistent.completed_by(self.routine, call)
        if not isinstance(lasting, Reason) and lasting:
            return self._of_persistent(lasting)
        source = self.program.files.get(self.routine.file)
        if source is None:
            return None
        starts = self.states.completed_by(self.routine, call)
        if isinstance(starts, Reason) or not starts:
            return None
        if source.language is not Language.C:
            # Compilers must expect that messages of other routines use what these name.
            alone = completes_all(self.footprints, self.routine, statement, call, starts)
            return [] if alone else None
        if self._is_all(statement, call, starts) or self._is_made_here(call, starts):
            return []
        return self.states.released(starts, self.routine)

    def _of_persistent(self, starts: list[Started]) -> list[Access] | None:
        """The memory of persistent requests; in Fortran compilers must expect others to use it."""
        accesses = self.persistent.released(starts, self.routine)
        if self.program.in_c(self.routine.file):
            return accesses
        variables = [self.program.variables.get(access.variable) for access in accesses]
        shared = all(known is not None and known.kind == "global" for known in variables)
        return accesses if shared else None

    def _is_made_here(self, call: Call, starts: list[Started]) -> bool:
        """Whether the requests lie in memory that the routine allocates anew in each call."""
        argument = request_argument(call)
        variable = self.program.variables.get(argument.base or "")
        if variable is None or variable.kind != "local" or not argument.through:
            return False
        body, prefix = self.routine.body, f"heap:{self.routine.file}:"
        facts = [fact for fact in self.program.pointer_facts if fact[0] == variable.key]
        places = [source.removeprefix(prefix) for _, form, source in facts if form == "addr"]
        inside = all(place.isdigit() and body.start <= int(place) < body.end for place in places)
        alone = 0 < len(places) == len(facts) and inside
        return alone and all(start.routine is self.routine for start in starts)

    def _is_all(self, statement: Statement, call: Call, starts: list[Started]) -> bool:
        """Whether no request of the array can be under way when the routine is called."""
        argument = request_argument(call)
        variable = self.program.variables.get(argument.base or "")
        if variable is None or argument.through or variable.kind not in ("global", "static"):
            return False
        if call.name != "MPI_Waitall" or statement.kind is not Kind.SIMPLE or variable.pointer:
            return False
        body = self.routine.body.statements
        if statement not in body or len(variable.bounds) != 1:
            return False
        (low, high), section = variable.bounds[0], constant(request_section(call, self.program))
        if low is None or high is None or low.terms or high.terms:
            return False
        if section != (Range(low, high),):
            return False
        ahead = {id(inner) for outer in body[: body.index(statement)] for inner in outer.walk()}
        return all(
            start.routine is self.routine
            and id(start.statement) in ahead
            and request_argument(start.transfer.call).base == argument.base
            and not request_argument(start.transfer.call).through
            for start in starts
        )
