"""What stays as it is while values are named in a program, found once for all its footprints."""

from __future__ import annotations

from functools import cached_property

from imbrex.transform.analysis.library import Libraries
from imbrex.transform.analysis.success import always_success
from imbrex.transform.analysis.whole_program import unseen_code
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.program import Program


class FoundOnce:
    """Found when it is first asked for."""

    def __init__(self, program: Program, libraries: Libraries) -> None:
        self.program = program
        self.libraries = libraries

    @cached_property
    def unseen(self) -> Reason | None:
        """Why code may run that is not seen; None where all of the program is."""
        return unseen_code(self.program, self.libraries)

    @cached_property
    def success(self) -> frozenset[str]:
        """Variables that hold nothing but MPI_SUCCESS."""
        return always_success(self.program, self.addressed, self.unseen)

    @cached_property
    def addressed(self) -> frozenset[str]:
        """Variables whose address is taken somewhere."""
        return frozenset(s for _, form, s in self.program.pointer_facts if form == "addr")
