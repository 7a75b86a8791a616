"""What MPI_THREAD_MULTIPLE adds to a call: the same calls at two levels of thread support."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.network.columns import Measurement
from imbrex.network.measure import run_probes
from imbrex.network.profile import CallPrice

KINDS = 3
"""Kinds of calls in a row of the probes: polls, exchanges and blocking ones."""

LIMIT_S = 20.0
"""Of the second start of the probes, which takes well under a second but for the launcher."""


def thread_price(
    measured: Measurement,
    with_program: Callable[[Sequence[str]], list[str]],
    binary: Path,
    environment: Mapping[str, str],
) -> CallPrice | None:
    """Start the probes once more, under MPI_THREAD_MULTIPLE, and compare with what was measured.

    None where the library grants no such level, or where either is not known.
    """
    if not measured.other.get("calls"):
        return None
    argv = [str(binary), "--multiple", "--experiments", "calls"]
    argv += ["--time-limit", f"{0.8 * LIMIT_S:.0f}"]
    try:
        again = run_probes(with_program(argv), environment, LIMIT_S, shares={"calls": 1.0})
    except ImbrexError:
        return None
    if again.interrupted:
        raise KeyboardInterrupt
    return price(measured.other["calls"], again.other.get("calls", []))


def price(plain: Sequence[Sequence[str]], multiple: Sequence[Sequence[str]]) -> CallPrice | None:
    """From rows `calls`: whether it was MPI_THREAD_MULTIPLE, then ns a call by kind of call.

    Each time is the least of many: noise makes it no smaller, and what is less than nothing is
    nothing.
    """
    if not plain or not multiple or plain[0][0] != "0" or multiple[0][0] != "1":
        return None
    try:
        pairs = zip(plain[0][1:], multiple[0][1:], strict=True)
        added = [max(0.0, float(after) - float(before)) * 1e-9 for before, after in pairs]
    except ValueError:
        raise ImbrexError(f"the probes printed a torn row: calls {' '.join(multiple[0])}") from None
    if len(added) < KINDS:
        return None
    polls, exchanges, sendrecvs = added[:KINDS]
    return CallPrice(min(polls, exchanges), max(polls, exchanges), sendrecvs)
