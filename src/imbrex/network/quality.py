"""How good a machine profile is: how far its bounds lie apart, which a noisy machine widens, and
whether the calibration came to its end, which a busy machine prevents."""

from __future__ import annotations

import math

from imbrex.network.profile import MachineProfile

BANDWIDTH_BYTES = 1024
"""Smaller messages take no longer than the clock and the calls do: their X_lo is next to 0."""
NOISY = 10.0
"""Upper bounds that many times the lower ones say nothing about most programs."""
NOISIER = 1.5
"""A profile is worse than another if its bounds lie so many times further apart."""
PROTOCOL_BYTES = 65536
"""What sends wait for is measured at least up to here, however slow the network is."""


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
    """One line that says so where the time was up before the protocols of messages were known.

    Larger messages are left out where a network is too slow for them; smaller ones only where the
    ranks hardly got to run.
    """
    unknown = [
        point.size_bytes
        for name, path in profile.paths.items()
        for point in path.points
        if name != "self"
        and point.size_bytes <= PROTOCOL_BYTES
        and point.send_returns_before_match is None
    ]
    if not unknown:
        return None
    return (
        f"this machine was too busy: the calibration came only to messages below {min(unknown)} B "
        "within its time; `imbrex calibrate` when nothing else runs gives narrower numbers"
    )


def too_noisy(profile: MachineProfile) -> str | None:
    """One line that says so where the machine was too noisy for this profile to tell much."""
    found = spread(profile)
    if found is None or found < NOISY:
        return None
    return (
        f"this machine was too noisy when it was calibrated: transfers took {found:.0f} times the "
        "shortest time; `imbrex calibrate` when nothing else runs gives narrower numbers"
    )


def is_better(kept: MachineProfile, new: MachineProfile) -> bool:
    """Whether `new` must not take the place of `kept`, made under the same circumstances.

    It must not if it was cut short; if its bounds lie much further apart; and a quick one not in
    place of a full one, unless its bounds lie much nearer.
    """
    if bool(cut_short(kept)) != bool(cut_short(new)):
        return cut_short(new) is not None
    old_spread, new_spread = spread(kept), spread(new)
    if old_spread is None or new_spread is None:
        return old_spread is not None
    if new.quick and not kept.quick:
        return NOISIER * new_spread > old_spread
    return new_spread > NOISIER * old_spread
