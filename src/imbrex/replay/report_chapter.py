"""The prediction of a run as parts of its report: words and plots."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import collection
from imbrex.profile.run import Run
from imbrex.replay import whole_figures
from imbrex.replay.figures import RUN_FIGURES, svg
from imbrex.replay.prediction import RunPrediction
from imbrex.replay.run_command import predicted
from imbrex.replay.run_log import LOGS, has_log
from imbrex.replay.text import run_text
from imbrex.replay.whole import Settings, predict_whole
from imbrex.replay.whole_text import whole_text

MOST_LOG_BYTES = 64 << 20
"""Logs of all ranks together up to which a report replays them: about ten seconds."""
_WIDTH = 100
_GAP = " " * 3


def chapter_text(folder: Path) -> tuple[str, RunPrediction]:
    """What `imbrex predict` prints of a recorded run, and the prediction."""
    prediction = predicted(folder)
    return _wrapped(run_text(prediction.document)), prediction


def drawings(prediction: RunPrediction) -> Iterator[tuple[str, str]]:
    """Every figure that this run has: its title, and SVG text."""
    for number, title in RUN_FIGURES.items():
        try:
            yield title[0].upper() + title[1:], svg(prediction, number)
        except ImbrexError:
            # Such as run time, where the recording could not be replayed: the text says so.
            continue


def elsewhere(run: Run) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """What `imbrex predict` prints of a run that kept its log of calls, and the curves of its run
    time (title, SVG text). None without such logs.

    ImbrexError where the logs cannot be replayed.
    """
    if not has_log(run.directory):
        return None
    size = sum(log.stat().st_size for log in (run.directory / LOGS).glob("rank-*.log"))
    if size > MOST_LOG_BYTES:
        text = f"The logs of its calls are long ({size >> 20} MiB). To replay them:"
        return f"{text}\n$ imbrex predict {run.directory}", ()
    whole = predict_whole(run, collection(), Settings())
    drawing = whole_figures.curves_svg(whole)
    plots = ((whole_figures.TITLE, drawing),) if drawing is not None else ()
    return _wrapped(whole_text(run, whole.document)), plots


def _wrapped(text: str) -> str:
    """As a terminal of 100 columns shows it; rows of tables stay whole."""
    return "\n".join(
        line if _GAP in line else textwrap.fill(line, _WIDTH, break_on_hyphens=False)
        for line in text.splitlines()
    )
