"""What holds of a whole program: is its communication independent of timing, does it have threads.

A program whose only communication is deterministic (no wildcard, probe, test, one-sided access)
gives the same results in whatever order its processes run, as a network of processes that read
named channels does. Where that cannot be shown, no receive is moved over other communication.
"""

from __future__ import annotations

import re
from functools import cached_property

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.library import Libraries
from imbrex.transform.analysis.unread import never_read
from imbrex.transform.analysis.whole_program import incomplete, unseen_code
from imbrex.transform.model.calls import Call
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine

_THREADS = re.compile(
    rb"\b(pthread_create|thrd_create|std::j?thread|std::async|std::execution)\b", re.IGNORECASE
)
_MULTIPLE = re.compile(rb"\b(MPI_THREAD_MULTIPLE)\b", re.IGNORECASE)
_MAKES = re.compile(r"MPI_\w+_init(?:_c)?")  # persistent requests
# OpenMP and OpenACC, in both languages.
_PARALLEL = re.compile(rb"\bpragma\W+(?:omp|acc)\b|[!c*]\$(?:omp|acc)\b", re.IGNORECASE)


class ProgramFacts:
    """Facts found once for all files together."""

    def __init__(self, program: Program, libraries: Libraries) -> None:
        self.program = program
        self.libraries = libraries
        self.threads = self._find_threads()
        self.timing = self._find_timing()
        # What stands in the way where communication keeps its order, and passes computation alone.
        self.in_order = self._find_timing(mpi_calls.TIMING_DEPENDENT - mpi_calls.COMPLETIONS)

    def _find_threads(self) -> Reason | None:
        """Why other threads may act; None where there are none, or only one calls MPI."""
        found = self._named(_THREADS)
        if found is not None or self.program.single_thread:
            return found
        multiple = self._named(_MULTIPLE)
        if multiple is None or self._has_one_thread():
            return None
        return multiple

    def _named(self, pattern: re.Pattern[bytes]) -> Reason | None:
        for source in self.program.files.values():
            match = pattern.search(source.data)
            if match:
                place = Location(source.name, source.line_of(match.start()))
                return Reason(ReasonKind.THREADS(name=match[1].decode()), place)
        return None

    def _has_one_thread(self) -> bool:
        """Whether nothing in the whole program begins a thread."""
        if any(_PARALLEL.search(source.data) for source in self.program.files.values()):
            return False
        return unseen_code(self.program, self.libraries) is None

    def _find_timing(self, dependent: frozenset[str] = mpi_calls.TIMING_DEPENDENT) -> Reason | None:
        """Why the results of communication may depend on timing; None if they cannot.

        `dependent`: the calls that count. Where communication keeps its order and passes only
        computation, waits for some of several requests and wildcards choose as they could have.
        """
        every = dependent == mpi_calls.TIMING_DEPENDENT
        unknown = incomplete(self.program)
        if unknown is not None:
            return unknown
        plain = self.persistent_are_plain
        for routine in self.program.routines.values():
            for statement in routine.statements():
                for call in statement.calls:
                    place = Location(routine.file, call.line)
                    counts = call.name in dependent and not self._idle(routine, call)
                    if counts and not (plain and call.name in mpi_calls.PERSISTENT_STARTS):
                        return Reason(ReasonKind.PROGRAM_USES(name=call.name), place)
                    if self._idle(routine, call):
                        continue
                    for argument in call.arguments if every else []:
                        if argument.constant in mpi_calls.WILDCARDS:
                            return Reason(
                                ReasonKind.PROGRAM_USES(name=argument.text.strip()), place
                            )
        if self.program.stray_wildcards and every:
            return Reason(ReasonKind.STORED_WILDCARD(), self.program.stray_wildcards[0])
        return None

    @cached_property
    def persistent_are_plain(self) -> bool:
        """Whether the persistent requests of the program are of sends and receives alone.

        To start one is then what MPI_Isend or MPI_Irecv is; a ready send asks for its receive.
        """
        makers = {call.name for call in self.program.calls() if _MAKES.fullmatch(call.name)}
        return makers <= mpi_calls.INITS.keys()

    def _idle(self, routine: Routine, call: Call) -> bool:
        """Whether a call only drives the library: what it finds out is not looked at."""
        position = mpi_calls.FLAG_OF_PROGRESS.get(call.name)
        if position is None or len(call.arguments) < position + 2:
            return False
        flag, status = call.arguments[position], call.arguments[position + 1]
        if status.constant != "MPI_STATUS_IGNORE":
            return False
        return never_read(self.program, routine, flag.base or "") is None
