"""What a rewrite of one call could save at most."""

from __future__ import annotations

import pytest

from imbrex.diagnosis.division import Division
from imbrex.diagnosis.interval import Interval
from imbrex.diagnosis.saving import most_saved_s
from imbrex.profile.summary import Sums

SUMS = Sums(call_s=10.0, exposed_max_s=4.0)
KNOWN = Division(call_s=10.0, gainable=Interval(1.0, 3.0))


@pytest.mark.parametrize(
    ("operation", "division", "saved_s"),
    [
        ("MPI_Wait", KNOWN, 10.0),  # work before it hides late partners too
        ("MPI_Recv", KNOWN, 3.0),
        ("MPI_Recv", None, 4.0),
        ("MPI_Alltoall", KNOWN, 3.0),
        ("MPI_Irecv", KNOWN, 4.0),  # its time is spent in the wait
    ],
)
def test_by_what_is_known(operation, division, saved_s):
    assert most_saved_s(operation, SUMS, division) == saved_s
