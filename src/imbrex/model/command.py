"""What `imbrex predict MODEL.toml` does: read the file, choose networks, answer one question."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.model.assess import assess, assessment_text
from imbrex.model.model_file import Model, load_model
from imbrex.model.sweep import parse_grid, sweep, write_sweep
from imbrex.model.tables import latency_json, latency_rows, latency_text
from imbrex.model.tolerate import tolerance_json, tolerance_text, tolerated_networks
from imbrex.network.interconnect import Interconnect, collection, load_interconnects


@dataclass(frozen=True)
class Request:
    """What is asked of a parameter file. At most one of `table`, `figure`, `sweep` and `tolerate`.

    `output` gets a figure, or the arrays of a sweep; everything else is returned as text.
    """

    model: Path
    networks: tuple[str, ...] = ()
    mode: str | None = None
    process: str | None = None
    cpu_speed: float = 1.0
    table: str | None = None
    figure: int | None = None
    sweep: str | None = None
    tolerate: str | None = None
    slow_down: str | None = None
    as_json: bool = False
    output: Path | None = None


@dataclass(frozen=True)
class Answer:
    """What to print or write (None where it is in the file already); `holds` is False where no
    network is tolerated."""

    text: str | None
    holds: bool = True


def answer(request: Request) -> Answer:
    """Answer what is asked of a parameter file; ImbrexError where it or an option is wrong."""
    if not 1e-6 <= request.cpu_speed <= 1e6:
        raise ImbrexError(f"--cpu-speed must be from 1e-06 to 1e+06, not {request.cpu_speed:g}")
    model = load_model(request.model, request.process)
    mode, cpu_speed = request.mode, request.cpu_speed
    if request.figure is not None:
        return _figure(model, request)
    if request.table is not None:
        rows = latency_rows(model, mode, cpu_speed)
        return _result(latency_json(model, rows), latency_text(model, rows), request)
    if request.sweep is not None:
        return _sweep(model, request.sweep, request)
    if request.tolerate is not None:
        return _tolerate(model, request.tolerate, request)
    within = parse_slow_down("--slow-down", request.slow_down or "5%")
    results = [
        assess(program, network, mode, cpu_speed, within)
        for program in model.programs
        for network in _networks(model, request.networks, False)
    ]
    document = {"schema_version": 1, "title": model.title, "assessments": results}
    return _result(document, "\n\n".join(map(assessment_text, results)), request)


def parse_slow_down(option: str, text: str) -> float:
    """`5%` or `0.05`, as a fraction; `option` is what the error names."""
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1e6:
        raise ImbrexError(f"{option}: '{text}' is no slow-down; write 5% or 0.05")
    return value


def _networks(model: Model, names: tuple[str, ...], everything: bool) -> list[Interconnect]:
    """The networks asked for; else the model's own, or with `everything` also the collection."""
    if names:
        return [network for name in names for network in load_interconnects(name)]
    if everything:
        return [*model.networks, *collection()]
    return list(model.networks) or load_interconnects("InfiniBand HDR")


def _message_gap(model: Model, names: tuple[str, ...]) -> float:
    """The g that a sweep holds fixed: that of the one network asked for, else the table's."""
    if not names:
        return model.latency_table.message_gap_s
    return _networks(model, names, False)[0].message_gap_s


def _result(document: dict[str, Any], text: str, request: Request, holds: bool = True) -> Answer:
    if request.as_json:
        text = json.dumps(document, indent=2, allow_nan=False)
    return Answer(text + "\n", holds)


def _figure(model: Model, request: Request) -> Answer:
    if request.output is None or request.figure is None:
        raise ImbrexError("--figure needs -o FILE (.png, .svg or .pdf)")
    # Matplotlib takes a second to import: only who draws pays for it.
    from imbrex.model.figures import draw

    draw(model, request.figure, request.output, request.mode, request.cpu_speed)
    return Answer(None)


def _sweep(model: Model, text: str, request: Request) -> Answer:
    grid = parse_grid(text)
    message_gap_s = _message_gap(model, request.networks)
    result = sweep(model.programs, grid, message_gap_s, request.cpu_speed)
    if request.as_json:
        document = {
            "schema_version": 1,
            "latencies_s": grid.latencies_s.tolist(),
            "bandwidths_bytes_per_s": grid.bandwidths_bytes_per_s.tolist(),
            "message_gap_s": message_gap_s,
            "normalized_time": {
                name: {key: values.tolist() for key, values in modes.items()}
                for name, modes in result.items()
            },
        }
        return Answer(json.dumps(document, allow_nan=False) + "\n")
    try:
        return Answer(write_sweep(result, grid, request.output))
    except OSError as error:
        raise ImbrexError(f"{request.output}: cannot be written: {error.strerror}") from error


def _tolerate(model: Model, text: str, request: Request) -> Answer:
    slow_down = parse_slow_down("--tolerate", text)
    networks = _networks(model, request.networks, True)
    documents, texts, all_find_one = [], [], True
    for program in model.programs:
        rows = tolerated_networks(program, networks, slow_down, request.mode, request.cpu_speed)
        documents.append(tolerance_json(program, rows, slow_down))
        texts.append(tolerance_text(program, rows, slow_down))
        all_find_one = all_find_one and any(row.within_overlap for row in rows)
    document = {"schema_version": 1, "applications": documents}
    return _result(document, "\n\n".join(texts), request, all_find_one)
