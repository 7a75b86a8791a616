"""What the verdict of a run with a progress thread says of MPI_THREAD_MULTIPLE."""

from __future__ import annotations

from typing import Any

import pytest

from imbrex.diagnosis.account import take_account
from imbrex.report.progress_words import progress_words

SEEN = {"ranks": 2, "looks": 500, "moving_looks": 100, "looking_s": 0.02, "moving_s": 0.1}
PRICE = "MPI_THREAD_MULTIPLE, which it needs, takes 1 to 2 % of the run (10 to 20 ns of each of "


def machine(price: dict[str, float] | None) -> dict[str, Any]:
    points = [{"size_bytes": 1, "x_lo_s": 1e-9, "x_hi_s": 1e-6}]
    return {
        **{"format": "imbrex-machine-profile", "schema_version": 1, "created": "x"},
        **{"imbrex_version": "0", "quick": True, "hosts": [], "ranks": 2, "settings": {}},
        **{"library": {"name": "MPICH", "version": "4.0.2"}, "collectives": []},
        **{"paths": {"intra-node": {"points": points, "gap_s_per_byte": 1e-10}}},
        **{"thread_multiple": price},
    }


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ("MPI_Recv", "takes 1 to 5 % of the run (10 to 50 ns of each of "),
        ("MPI_Waitall", "takes 1 to 2 % of the run (10 to 20 ns of each of "),
    ],
)
def test_a_blocking_call_has_a_price_of_its_own(
    make_caused: Any, call: Any, operation: str, words: str
) -> None:
    prices = {"lowest_s": 10e-9, "highest_s": 20e-9, "sendrecv_s": 50e-9}
    run = make_caused(
        call(operation, 4, 300, late_sender=300, count=1_000_000),
        profile=machine(prices),
        progress=SEEN,
    )
    assert words + "2,000,000 calls)" in progress_words(take_account(run))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("looks", [500, 0])
def test_the_price_in_the_verdict(make_caused: Any, call: Any, looks: int, known: bool) -> None:
    """Two ranks of 1 s make a million calls each."""
    run = make_caused(
        call("MPI_Recv", 4, 300, late_sender=300, count=1_000_000),
        profile=machine({"lowest_s": 10e-9, "highest_s": 20e-9} if known else None),
        progress={**SEEN, "looks": looks},
    )
    told = progress_words(take_account(run))
    assert ("looked 500 times" in told) == (looks > 0)
    assert (PRICE + "2,000,000 calls)" in told) == known
    assert told.endswith(": leave it out.") == (known and not looks)
