"""Candidates that need no source: the settings known for this library and this network."""

from __future__ import annotations

import os

from imbrex.diagnosis.account import Account
from imbrex.network import settings
from imbrex.probe.knobs import Knob, knobs_for
from imbrex.profile.summary import rows
from imbrex.tune.candidate import Candidate, Setup


def setting_candidates(account: Account, worth: float) -> list[Candidate]:
    """The settings that the line does not make itself and that can save `worth`, a share of the
    run time; the one that can save most first."""
    profile, launcher = account.knowledge.profile, account.knowledge.launcher or ()
    if profile is None:
        return []
    fixed = settings.from_launcher(launcher, os.environ)
    found = [
        Candidate(
            kind="setting",
            what=" ".join(f"{name}={value}" for name, value in knob.variables.items()),
            setup=Setup(knob.variables),
            effect=knob.effect,
            cost=knob.cost,
            most=_most(account, knob),
        )
        for knob in knobs_for(
            profile.library_name, profile.settings, profile.paths, profile.library_version
        )
        if not set(knob.variables) & set(fixed)
    ]
    return sorted((c for c in found if c.most >= worth), key=lambda c: -c.most)


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
