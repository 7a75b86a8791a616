"""The prediction of a run as a chapter of its report: words and plots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.replay.figures import RUN_FIGURES, svg
from imbrex.replay.prediction import RunPrediction
from imbrex.replay.run_command import predicted
from imbrex.replay.text import run_text


def chapter_text(folder: Path) -> tuple[str, RunPrediction]:
    """What `imbrex predict` prints of a recorded run, and the prediction."""
    prediction = predicted(folder)
    return run_text(prediction.document), prediction


def drawings(prediction: RunPrediction) -> Iterator[tuple[str, str]]:
    """Every figure that this run has: its title, and SVG text."""
    for number, title in RUN_FIGURES.items():
        try:
            yield title[0].upper() + title[1:], svg(prediction, number)
        except ImbrexError:
            # Such as run time, where the recording could not be replayed: the text says so.
            continue
