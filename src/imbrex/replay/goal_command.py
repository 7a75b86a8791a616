"""`imbrex predict FILE.goal`: run time of a GOAL schedule on networks, and what limits it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imbrex.diagnosis.lines import lines as wrapped
from imbrex.errors import ImbrexError
from imbrex.network.interconnect import collection
from imbrex.replay.evaluate import Replayer, Route
from imbrex.replay.goal_file import GoalFile, read_goal
from imbrex.replay.goal_schedule import goal_schedule
from imbrex.replay.situation import elsewhere
from imbrex.replay.verdict import whole_verdict
from imbrex.replay.whole import Settings, longest_s, on_network
from imbrex.replay.whole_text import body


@dataclass(frozen=True)
class GoalSites:
    """The call sites that comments of the file name."""

    goal: GoalFile

    def label(self, site: int) -> str:
        return self.goal.sites.get(site, (f"s{site}", ""))[0]

    def operation(self, site: int) -> str:
        return self.goal.sites.get(site, ("", ""))[1]


def predict_goal(file: Path, settings: Settings) -> dict[str, Any]:
    """The JSON of `imbrex predict FILE.goal`; ImbrexError where it is no such schedule, or where it
    cannot come to its end."""
    goal = read_goal(file)
    held = settings.progress == "none"
    library = Route(held_by_sender=held, held_by_receiver=held)
    found = elsewhere(
        goal.ranks,
        settings.networks,
        collection(),
        settings.progress,
        settings.ranks_per_node,
        library,
    )
    document: dict[str, Any] = {
        "schema_version": 1,
        "kind": "GOAL schedule",
        "file": str(file),
        "ranks": goal.ranks,
        "operations": len(goal.nodes),
        "progress": settings.progress,
        "networks": [],
    }
    for number, situation in enumerate(found):
        route = situation.on_one_path().network.between
        schedule = goal_schedule(goal, route)
        document.setdefault("computation_s", longest_s(schedule))
        replayer = Replayer(situation.place(schedule))
        told = number == 0 and bool(goal.sites)
        row = on_network(GoalSites(goal), replayer, situation, with_sites=told)
        document["networks"].append(row)
    return document


def answer(file: Path, settings: Settings, as_json: bool) -> str:
    """The prediction as text or JSON."""
    if settings.collectives is not None:
        raise ImbrexError(f"{file}: --collectives is of a run: in GOAL they are messages already")
    document = predict_goal(file, settings)
    document["conclusion"] = whole_verdict(document)
    if as_json:
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    head = f"{document['ranks']} ranks, {document['operations']:,} operations of {file.name}."
    return "\n".join([*wrapped(document["conclusion"]), "", head, *body(document)]) + "\n"
