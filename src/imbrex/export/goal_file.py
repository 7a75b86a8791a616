"""GOAL: the run's schedule of computation and messages, for LogGOPSim and LLAMP."""

from __future__ import annotations

from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.export.format import Format, written_whole
from imbrex.profile.run import Run
from imbrex.replay.from_log import schedule_from_log
from imbrex.replay.goal_file import SUFFIX
from imbrex.replay.goal_writer import Lacking, goal_lines
from imbrex.replay.run_log import has_log, read_run_log
from imbrex.replay.whole import RunSites
from imbrex.steps import Tell


def write_goal(run: Run, path: Path, tell: Tell) -> str | None:
    """Write the schedule that `imbrex predict RUN` replays."""
    if not has_log(run.directory):
        raise ImbrexError(
            f"{run.directory}: has no log of its calls; measure with imbrex run --keep-log"
        )
    made = schedule_from_log(read_run_log(run))
    sites, lacking = RunSites(run), Lacking()

    def named(site: int) -> str:
        return f"{sites.label(site)} {sites.operation(site)}"

    with written_whole(path) as partial, partial.open("w", encoding="utf-8") as file:
        for lines in goal_lines(made.schedule, named, lacking, tell):
            file.write(lines)
    timed = sum(sum(calls.values()) for calls in made.not_replayed.values())
    counts = (
        (lacking.one_sided, "one-sided transfers or sends that nobody takes"),
        (lacking.probes, "waits of probes and one-sided epochs"),
        (lacking.neighbours, "neighbourhood collectives but for one message each"),
        (timed, "calls but for the time they took"),
    )
    told = [f"{count} {lacked}" for count, lacked in counts if count]
    return f"lacks {', '.join(told)}" if told else None


FORMAT = Format(
    "goal", SUFFIX, "computation and messages, for LogGOPSim and imbrex predict", write_goal
)
