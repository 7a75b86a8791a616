"""The object of `show --json`: totals and rows, with causes, evidence and findings."""

from __future__ import annotations

from typing import Any

from imbrex.diagnosis.account import Account, accounts
from imbrex.diagnosis.diagnosis import Diagnosis
from imbrex.diagnosis.division import Division
from imbrex.diagnosis.hidden import Hidden
from imbrex.profile import summary
from imbrex.profile.run import Run
from imbrex.profile.summary import By, row_json, show_json


def diagnosis_json(diagnosis: Diagnosis, by: By) -> dict[str, Any]:
    """The documented object: `totals`, `sites`, and a list named after another grouping."""
    run = diagnosis.run
    content = show_json(run, by)
    content["totals"] = {
        **totals_json(diagnosis.account),
        "sentence": diagnosis.sentence,
        "ending": diagnosis.ending.to_json() if diagnosis.ending else None,
        "findings": [finding.to_json() for finding in diagnosis.findings],
    }
    content["sites"] = _rows_json(run, "site")
    if by != "site":
        content["sizes" if by == "size" else by + "s"] = _rows_json(run, by)
    return content


def totals_json(account: Account) -> dict[str, Any]:
    """The object `totals`, but for what follows from it."""
    log = account.run.job.log
    return {
        **summary.totals_json(account.run),
        **_division_json(account.whole),
        **_hidden_json(account.hidden),
        "logged_share": log.logged_share if log is not None else 0.0,
        "efficiency": account.efficiency.to_json() if account.efficiency else None,
    }


def _rows_json(run: Run, by: By) -> list[dict[str, Any]]:
    found = []
    for account in accounts(run, by):
        entry = row_json(run, account.row, by)
        if account.division.causes:
            entry |= _division_json(account.division)
        found.append(entry | _hidden_json(account.hidden))
    return found


def _division_json(division: Division) -> dict[str, Any]:
    return {
        "causes": division.causes_json(),
        "gainable_s": division.gainable.to_json(),
        "lost_overlap_s": division.lost_overlap.to_json(),
        "undriven_s": division.undriven.to_json(),
    }


def _hidden_json(hidden: Hidden) -> dict[str, Any]:
    low, high = hidden.share or (None, None)
    return {
        "evidence": dict(hidden.decides),
        "hidden_share_min": low,
        "hidden_share_max": high,
        "hidden_share_by": {kind: list(share) for kind, share in hidden.by.items()},
        "hidden_share_evidence": hidden.kind,
    }
