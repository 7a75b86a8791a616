"""What a rewrite of one call could save at most."""

from __future__ import annotations

from imbrex import mpi_facts
from imbrex.diagnosis.division import Division
from imbrex.profile.summary import Sums


def most_saved_s(operation: str, sums: Sums, division: Division | None) -> float:
    """The most that overlap could save at a call, in s over ranks.

    Of a wait it is the time in the call: work that is put before it also hides that a partner is
    late. Of other calls it is the time in which data moved, where the run knows the causes
    (`division`); else what of the transfers begun there may be exposed.
    """
    if mpi_facts.is_wait(operation):
        return sums.call_s
    if division is not None and mpi_facts.is_blocking(operation):
        return min(division.gainable.high, sums.call_s)
    return sums.exposed_max_s
