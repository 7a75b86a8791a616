"""`imbrex predict RUN`: a run directory, or the directory of a recording alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import Interconnect, collection, load_interconnects
from imbrex.profile.recording import load_recording
from imbrex.profile.run import RECORDING, Run, load_run
from imbrex.replay.prediction import RunPrediction, measured_networks, predict_run
from imbrex.replay.run_log import has_log
from imbrex.replay.text import run_text
from imbrex.replay.unrecorded import unrecorded_json, unrecorded_text
from imbrex.replay.verdict import next_command, recorded_verdict, whole_verdict
from imbrex.replay.whole import Settings, predict_whole
from imbrex.replay.whole_text import whole_text

_DOCUMENT = "messages.json"
_NOT_RECORDED = "not recorded"


def is_recording(folder: Path) -> bool:
    return (folder / _DOCUMENT).exists()


def open_run(folder: Path) -> tuple[Path | None, Run | None]:
    """The recording's directory and the measured run of what the user named; either may be None.

    ImbrexError for a directory that is neither.
    """
    if is_recording(folder):
        parent = folder.absolute().parent
        inside = folder.absolute().name == RECORDING and (parent / "run.json").exists()
        return folder, load_run(parent) if inside else None
    run = load_run(folder)
    inner = folder / RECORDING
    return (inner if is_recording(inner) else None), run


def networks_of(names: tuple[str, ...], folder: Path, run: Run | None) -> list[Interconnect]:
    """The measured network first, then those asked for, or the collection."""
    measured = measured_networks(folder, run)
    if names:
        return [network for name in names for network in load_interconnects(name)]
    return [*measured, *collection()]


def predicted(folder: Path, names: tuple[str, ...] = ()) -> RunPrediction:
    """The prediction of a recorded run; ImbrexError where there is no recording."""
    recording, run = open_run(folder)
    if recording is None:
        raise ImbrexError(no_recording(folder, run))
    home = folder if run is None else run.directory
    return predict_run(load_recording(recording), run, networks_of(names, home, run))


def no_recording(folder: Path, run: Run | None) -> str:
    """Why a run has no recording, as one line."""
    said = [line for line in (run.job.warnings if run else ()) if line.startswith(_NOT_RECORDED)]
    if said:
        return f"{folder}: {said[-1]}"
    return f"{folder}: has no recording; make one with imbrex run --record"


def answer(
    folder: Path, settings: Settings, figure: int | None, as_json: bool, output: Path | None
) -> str | None:
    """What a run's recording predicts, or its call log, or the run alone, as text or JSON.

    None where it was drawn into `output`.
    """
    recording, run = open_run(folder)
    names = settings.networks
    if recording is None:
        assert run is not None
        if figure is not None:
            raise ImbrexError(no_recording(folder, run))
        said = [line for line in run.job.warnings if line.startswith(_NOT_RECORDED)]
        if has_log(run.directory):
            whole = predict_whole(run, collection(), settings).document
            whole["conclusion"] = whole_verdict(whole)
            whole["next"] = next_command(run, whole)
            if said:
                whole["why_no_recording"] = no_recording(folder, run)
            return _text(whole, "\n".join([*said, whole_text(run, whole)]), as_json)
        _only_of_a_log(folder, settings)
        document = unrecorded_json(run, networks_of(names, folder, run))
        document["why_no_recording"] = no_recording(folder, run)
        text = "\n".join([unrecorded_text(document, str(folder)), *said])
        return _text(document, text, as_json)
    _only_of_a_log(folder, settings)
    prediction = predicted(folder, names)
    if prediction.document["replayed"] is True:
        prediction.document["conclusion"] = recorded_verdict(prediction.document)
    if figure is None:
        return _text(prediction.document, run_text(prediction.document), as_json)
    if output is None:
        raise ImbrexError("--figure needs -o FILE (.png, .svg or .pdf)")
    # Matplotlib takes a second to import: only who draws pays for it.
    from imbrex.replay.figures import draw_run

    draw_run(prediction, figure, output)
    return None


def _only_of_a_log(folder: Path, settings: Settings) -> None:
    if settings != Settings(networks=settings.networks):
        raise ImbrexError(
            f"{folder}: --progress, --ranks-per-node and --collectives are of a run with a call "
            "log and without a recording; make one with imbrex run --keep-log"
        )


def _text(document: dict[str, Any], text: str, as_json: bool) -> str:
    return (json.dumps(document, indent=2, allow_nan=False) if as_json else text) + "\n"
