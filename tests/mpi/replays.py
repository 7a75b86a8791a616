"""Replays of what programs of the tests did: from a run's folder to the times of its ranks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from imbrex.profile.run import load_run
from imbrex.replay.arrays import ArraySchedule, Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.from_log import LogSchedule, schedule_from_log
from imbrex.replay.run_log import read_run_log


def schedule_of(folder: Path) -> LogSchedule:
    """From the kept log of a run that the runtime alone has measured."""
    (folder / "run.json").write_text((folder / "job.json").read_text())
    return schedule_from_log(read_run_log(load_run(folder, resolve=False)))


def without_computation(schedule: ArraySchedule) -> ArraySchedule:
    """Ranks on a node each that begin together and do nothing but communicate."""
    operations = schedule.operations.copy()
    operations["calc_ns"] = 0
    operations["bytes"][operations["kind"] == Kind.CALC] = 0
    return replace(
        schedule,
        operations=operations,
        start_ns=np.zeros(schedule.streams),
        node=np.arange(schedule.streams, dtype=np.uint32),
    )


def ends_ns(schedule: ArraySchedule, route: Route) -> list[float]:
    """When each rank ends with this route between all, messages one after the other."""
    return list(Replayer(schedule).run(Network(route, route), shared=False).end_ns)
