"""How good a machine profile is: how far its bounds lie apart, which a noisy machine widens, and
whether the calibration came to its end, which a busy machine prevents."""

from __future__ import annotations

import math

from imbrex import mpi_facts
from imbrex.network.profile import MachineProfile

BANDWIDTH_BYTES = 1024
"""Smaller messages take no longer than the clock and the calls do: their X_lo is next to 0."""
NOISY = 10.0
"""Upper bounds that many times the lower ones say nothing about most programs."""
NOISIER = 1.5
"""A profile is worse than another if its bounds lie so many times further apart."""
BUSY_SHARE = 0.1
"""Ranks that wait so long for a core may have been held up in each of their transfers."""
PROTOCOL_BYTES = 65536
"""What sends wait for is measured at least up to here, however slow the network is."""

CALIBRATED = frozenset(
    name
    for name in mpi_facts.of_kind("collective", form="blocking")
    if mpi_facts.facts(name).fields.get("calibration") == name
    and mpi_facts.dependence(name) != "neighbours"
    and mpi_facts.buffers(name)
)
"""Collectives that a calibration measures; others take after one of them."""


def spread(profile: MachineProfile) -> float | None:
    """Mean ratio (geometric) of X_hi to X_lo of messages between two ranks; None without any."""
    ratios = [
        math.log(point.x_hi_s / point.x_lo_s)
        for name, path in profile.paths.items()
        for point in path.points
        if name != "self" and point.size_bytes >= BANDWIDTH_BYTES and point.x_lo_s > 0
    ]
    return math.exp(sum(ratios) / len(ratios)) if ratios else None


def cut_short(profile: MachineProfile) -> str | None:
    """One line that says so where the time was up before the protocols of messages were known, or
    before each collective was measured once.

    Larger messages are left out where a network is too slow for them; smaller ones, and collectives
    of a few bytes, only where the ranks hardly got to run.
    """
    unknown = [
        point.size_bytes
        for name, path in profile.paths.items()
        for point in path.points
        if name != "self"
        and point.size_bytes <= PROTOCOL_BYTES
        and point.send_returns_before_match is None
    ]
    measured = {found.operation for found in profile.collectives}
    lacking = profile.ranks > 1 and CALIBRATED - measured
    if unknown:
        came = f"messages below {min(unknown)} B"
    elif lacking:
        came = f"{len(measured)} of {len(CALIBRATED)} collectives"
    else:
        return None
    return (
        f"this machine was too busy: the calibration came only to {came} within its time; "
        "`imbrex calibrate` when nothing else runs gives narrower numbers"
    )


def too_noisy(profile: MachineProfile) -> str | None:
    """One line that says so where the machine was too noisy for this profile to tell much, or so
    busy that its lower bounds may be none."""
    if was_busy(profile):
        waited = 100 * (profile.core_wait_share or 0.0)
        return (
            "this machine was busy when it was calibrated: a rank had no core for "
            f"{waited:.0f} % of the time, so that even the shortest transfers may have been held "
            "up; `imbrex calibrate` again when nothing else runs"
        )
    found = spread(profile)
    if found is None or found < NOISY:
        return None
    return (
        f"this machine was too noisy when it was calibrated: transfers took {found:.0f} times the "
        "shortest time; `imbrex calibrate` when nothing else runs gives narrower numbers"
    )


def was_busy(profile: MachineProfile) -> bool:
    """Whether a rank waited so long for a core that all of its transfers may have been held up."""
    return (profile.core_wait_share or 0.0) > BUSY_SHARE


def is_better(kept: MachineProfile, new: MachineProfile) -> bool:
    """Whether `new` must not take the place of `kept`, made under the same circumstances.

    It must not if it was cut short, or the machine busy; if its bounds lie much further apart; and
    a quick one not in place of a full one, unless its bounds lie much nearer.
    """
    if bool(cut_short(kept)) != bool(cut_short(new)):
        return cut_short(new) is not None
    if was_busy(kept) != was_busy(new):
        return was_busy(new)
    old_spread, new_spread = spread(kept), spread(new)
    if old_spread is None or new_spread is None:
        return old_spread is not None
    if new.quick and not kept.quick:
        return NOISIER * new_spread > old_spread
    return new_spread > NOISIER * old_spread
