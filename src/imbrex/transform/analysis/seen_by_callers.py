"""What a routine, or a part of it, does as its callers see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from imbrex.transform.analysis.own_variables import is_of_another
from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Access
from imbrex.transform.model.routine import Routine

if TYPE_CHECKING:
    from imbrex.transform.analysis.footprint import Footprints


class _Seen(NamedTuple):
    """An access that is there when the routine has returned."""

    access: Access
    parameter: int | None  # the number of the parameter whose memory it is of
    plain: bool  # to what both know, and no more is said of it


class SeenByCallers:
    """Puts what routines do in the terms of calls; what is the same for each is found once."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        self._whole: dict[int, tuple[list[Access], list[_Seen]]] = {}

    def of(self, call: Call, routine: Routine, summary: list[Access]) -> list[Access]:
        """These accesses of a routine, of which `summary` is all or a part, as one call makes them.

        What declarations read a call reads, whatever part of the routine it runs.
        """
        binding = self.footprints.binding(call, routine)
        line, known, given = call.line, call.known, len(call.arguments)
        found: list[Access] = []
        for access, parameter, plain in self._seen(routine, summary):
            if plain:
                variable, through, write, *_, member, placed = access
                mine = (variable, through, write, line, None, (), "", (), (), known, None)
                found.append(Access(*mine, member, placed))
                continue
            if parameter is None:
                bound = binding.shared(access)
            elif parameter < given:
                bound = binding.access(access, parameter)
            else:
                continue
            found.append(bound.where(known))
        return found

    def _seen(self, routine: Routine, summary: list[Access]) -> list[_Seen]:
        known = self._whole.get(id(summary))
        if known is not None and known[0] is summary:
            return known[1]
        found = list(self._find(routine, summary))
        if summary is self.footprints.of_routine(routine).accesses:
            self._whole[id(summary)] = summary, found
        return found

    def _find(self, routine: Routine, summary: list[Access]) -> Iterator[_Seen]:
        footprints = self.footprints
        variables = footprints.program.variables
        numbers = {key: number for number, key in enumerate(routine.parameters)}
        whole = footprints.of_routine(routine)
        written = whole.written()
        declared = [Access(key, False, False, routine.line) for key in routine.declared_by]
        for access in footprints.by_pointers(routine, [*summary, *declared]):
            variable = variables.get(access.variable)
            own = variable is not None and variable.kind in ("local", "parameter")
            if (
                own
                and not access.through
                and not is_of_another(footprints.program, routine, access.variable)
            ):
                continue  # gone when the call returns
            number, kept = numbers.get(access.variable), access
            if number is not None and access.variable in written:
                kept = access.anywhere()
                walks = access.through and footprints.aliases.only_walks(access.variable)
                number = number if walks else None
            yield _Seen(kept, number, number is None and kept.is_plain() and not kept.owner)
