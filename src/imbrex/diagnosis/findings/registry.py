"""All rules, in the order in which equal ones are told."""

from __future__ import annotations

from dataclasses import replace

from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding, Rule
from imbrex.diagnosis.findings import (
    blocking_calls,
    blocking_collectives,
    early_wait,
    late_ranks,
    late_ranks_unseen,
    log_missing,
    own_data,
    paused,
    polling,
    profile_missing,
    profile_quick,
    shared_cores,
    shared_link,
    undriven,
)

OF_THE_RUN: tuple[Rule, ...] = (
    shared_cores.find,
    paused.find,
    profile_missing.find,
    log_missing.find,
)
"""What holds however long anything took."""
RULES: tuple[Rule, ...] = (
    *OF_THE_RUN,
    late_ranks.find,
    late_ranks_unseen.find,
    undriven.find,
    blocking_calls.find,
    blocking_collectives.find,
    early_wait.find,
    shared_link.find,
    polling.find,
    own_data.find,
    profile_quick.find,
)


def find_all(account: Account) -> tuple[Finding, ...]:
    """What the rules find, what is most at stake first.

    Where ranks share cores, what others find in the times is a consequence of that.
    """
    rules = OF_THE_RUN if shared_cores.told(account) else RULES
    found = [
        replace(finding, text=finding.text[:1].upper() + finding.text[1:])
        for rule in rules
        for finding in rule(account)
    ]
    return tuple(sorted(found, key=lambda finding: finding.at_stake.middle, reverse=True))
