"""The answer of `imbrex predict` in one sentence, in per cent of the run, and what to do next."""

from __future__ import annotations

import shlex
from typing import Any

from imbrex.diagnosis.wording import percent
from imbrex.profile.run import Run
from imbrex.replay.modes import NONE
from imbrex.replay.prediction import BEST
from imbrex.replay.situation import AS_MEASURED

MATTERS = 0.005
"""Shares of run time below are not worth a word."""
_MOST = 0.05
_OFTEN = 0.05
"""For this part of their time ranks that have a core each may have none before it is told."""
_FAR = 0.1
"""So much of a run in neither computation nor network comes first in the answer."""
_BALANCE, _TURNS = "the ranks' unequal work", "ranks that wait for each other in turn"


def whole_verdict(document: dict[str, Any]) -> str:
    """Of a plain run or a GOAL schedule: what limits it, and what would help most."""
    rows = document["networks"]
    first = rows[0]
    base, efficiency = first["time_s"], first["efficiency"]
    name = first["network"]["name"]
    here = "" if name.startswith(AS_MEASURED) else f" on {name}"
    before = _unexplained(document, base)
    run = "" if before else " of the run"
    transfer = 1 - efficiency["transfer"]
    if transfer < MATTERS:
        said = f"{before}{'n' if before else 'N'}o network and no overlap saves even "
        said += f"{percent(MATTERS)}{run}{here}: "
        limit, share = _other_limit(first)
        library = document.get("library_share", 0.0)
        if not limit and library >= _MOST:
            return said + f"computation decides, and MPI itself ({percent(library)})."
        if not limit:
            return said + "computation alone decides."
        return said + f"{percent(share)} is lost to {limit}."
    told = [f"{before}{'t' if before else 'T'}ransfers take {percent(transfer)}{run}{here}"]
    site = best_site(document)
    if site is not None:
        most = percent(site["saves_at_most_s"] / base)
        told.append(f"hiding those of {site['site']} saves at most {most}")
    elif "sites" in first:
        told.append("hiding those of any one call site saves nothing")
    told += _of_progress(first, site)
    best = min(rows[1:], key=lambda row: float(row["time_s"]), default=None)
    if best is not None and best["time_s"] < base * (1 - MATTERS):
        saved = percent(1 - best["time_s"] / base)
        told.append(f"the network {best['network']['name']} saves {saved}")
    return "; ".join(told) + "."


def _of_progress(row: dict[str, Any], site: dict[str, Any] | None) -> list[str]:
    """What progress while the ranks compute saves: for the best site, or where much more, for all.

    Where a call waits for the messages of several sites, progress for one of them saves little.
    """
    base = row["time_s"]
    of_site = site.get("progress_saves_s", 0.0) / base if site is not None else 0.0
    of_all = 1 - row.get("ideal_progress_s", base) / base
    whose, share = ("all", of_all) if of_all >= of_site + MATTERS else ("it", of_site)
    if share < MATTERS:
        return []
    return [f"progress for {whose} while the ranks compute saves {percent(share)}"]


def is_unexplained(document: dict[str, Any]) -> bool:
    """Whether much of the measured run is neither its computation nor its network."""
    return bool(_unexplained(document, document["networks"][0]["time_s"]))


def _unexplained(document: dict[str, Any], explained_s: float) -> str:
    """How much of the run a replay does not explain, which is `explained_s` long; empty: little."""
    measured_s = document.get("measured_s")
    is_own = document["networks"][0]["network"]["name"].startswith(AS_MEASURED)
    if not (is_own and measured_s) or document.get("sampled") is not None:
        return ""
    share = 1 - explained_s / measured_s
    if share < _FAR:
        return ""
    reason = crowded(document) or document.get("load") or "stalls, or MPI itself"
    return (
        f"{percent(share)} of the run is neither its computation nor its network ({reason}). "
        "Of the rest "
    )


def crowded(document: dict[str, Any]) -> str:
    """That ranks wait for each other's core, and for how long; empty where each has one."""
    cores, ranks = document.get("cores"), document["ranks"]
    waited = document.get("core_wait_share")
    if cores is None or ranks <= cores:
        if waited is None or waited < _OFTEN:
            return ""
        return f"ranks were ready to run and had no core for {percent(waited)} of their time"
    told = f"{ranks} ranks share {cores} core{'s' * (cores != 1)}"
    return told if waited is None else f"{told} and had none for {percent(waited)} of their time"


def _other_limit(row: dict[str, Any]) -> tuple[str, float]:
    """What takes most where transfers take nothing; an empty name: nothing that matters."""
    limits = {
        _BALANCE: 1 - row["efficiency"]["load_balance"],
        _TURNS: 1 - row["efficiency"]["serialization"],
    }
    name, share = max(limits.items(), key=lambda item: item[1])
    return (name, share) if share >= _MOST else ("", 0.0)


def best_site(document: dict[str, Any]) -> dict[str, Any] | None:
    """The call site that saves most of the first network's run time, if that matters."""
    first = document["networks"][0]
    site: dict[str, Any] | None = max(
        first.get("sites", []), key=lambda s: float(s["saves_at_most_s"]), default=None
    )
    if site is None or site["saves_at_most_s"] < MATTERS * first["time_s"]:
        return None
    return site


def next_command(run: Run, document: dict[str, Any]) -> str | None:
    """A line to copy; None where nothing about communication is left to do."""
    first = document["networks"][0]
    if is_unexplained(document):
        return f"imbrex show {shlex.quote(str(run.directory))}"
    if best_site(document) is not None and run.job.command:
        return f"imbrex tune -- {shlex.join(run.job.command)}"
    if 1 - first["efficiency"]["transfer"] >= MATTERS:
        return f"imbrex show {shlex.quote(str(run.directory))} --by site"
    limit, _ = _other_limit(first)
    if not limit:
        return None
    by = "rank" if limit == _BALANCE else "site"
    return f"imbrex show {shlex.quote(str(run.directory))} --by {by}"


def recorded_verdict(document: dict[str, Any]) -> str:
    """Of a recorded run: what overlap saves on the first network, by the least that it takes."""
    row = document["networks"][0]
    times, today = row["time_s"], row["today_max_s"]
    name = row["network"]["name"]
    here = "" if name.startswith(AS_MEASURED) else f" on {name}"
    saves = {
        words: 1 - times[mode] / today
        for mode, words in (
            ("independent", "messages sent when written and awaited when read save"),
            ("fine-grained", "element by element"),
            (BEST, "with their elements first or last in the loops"),
        )
    }
    before = _unexplained(document, today)
    if max(saves.values()) < MATTERS:
        exposed = 1 - row["without_network_s"] / max(times[NONE], 1e-30)
        of_run = "" if before else " of the run"
        none = f"{before}{'n' if before else 'N'}o overlap saves even"
        return (
            f"{none} {percent(MATTERS)}{of_run}{here}: "
            f"without any, its network time is {percent(exposed)}."
        )
    told = ", ".join(f"{words} {percent(max(share, 0.0))}" for words, share in saves.items())
    return f"{before}{told}." if before else f"Of the run's time{here} {told}."
