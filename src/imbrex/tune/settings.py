"""Candidates that need no source: the settings known for this library and this network."""

from __future__ import annotations

import os

from imbrex.diagnosis.account import Account
from imbrex.probe.knobs import Knob, free_knobs, knobs_of
from imbrex.profile.summary import rows
from imbrex.tune.candidate import Candidate, Setup


def setting_candidates(account: Account, worth: float) -> tuple[list[Candidate], tuple[str, ...]]:
    """The settings that neither the line nor the user's environment makes and that can save
    `worth`, a share of the run time; the one that can save most first. And a line for each that is
    left as the user has set it."""
    profile, launcher = account.knowledge.profile, account.knowledge.launcher or ()
    if profile is None:
        why = "no machine profile tells what this MPI library does here (imbrex calibrate)"
        return [], (f"the settings: not tried: {why}",)
    found_knobs = knobs_of(profile)
    fitted = [knob.up_to(_largest_bytes(account, worth)) for knob in found_knobs]
    every = [*found_knobs, *(knob for knob in fitted if knob not in found_knobs)]
    known = [knob for knob in every if _most(account, knob) >= worth]
    free, notes = free_knobs(known, launcher, os.environ)
    found = [
        Candidate(
            kind="setting",
            label=knob.label,
            setup=Setup(knob.variables),
            effect=knob.effect,
            cost=knob.cost,
            most=_most(account, knob),
            progress=knob.progress,
            spins=knob.spins,
            eager_bytes=knob.memory_per_peer_bytes,
        )
        for knob in free
    ]
    return sorted(found, key=lambda c: -c.most), notes


def _largest_bytes(account: Account, worth: float) -> int:
    """The least power of two that holds each message of a size that could save `worth`."""
    return max(
        (
            2 << row.sizes[1]
            for row in rows(account.run, "size")
            if row.sizes is not None and row.sums.exposed_max_s >= worth * account.busy_s > 0
        ),
        default=0,
    )


def _most(account: Account, knob: Knob) -> float:
    """What a setting saves at most: a limit up to which messages leave at once changes nothing
    for those that are larger."""
    most = account.gainable.high
    if not knob.memory_per_peer_bytes:
        return most
    exposed_s = sum(
        row.sums.exposed_max_s
        for row in rows(account.run, "size")
        if row.sizes is not None and 1 << row.sizes[0] <= knob.memory_per_peer_bytes
    )
    # A message that waits for its partner's calls is exposed for longer than its transfer.
    if exposed_s > 0 and account.busy_s > 0:
        return most
    return 0.0
