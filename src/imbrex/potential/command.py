"""`imbrex predict`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import Interconnect, collection, load_interconnects
from imbrex.potential.assess import assess, assessment_text
from imbrex.potential.message import MODES
from imbrex.potential.model_file import Model, load_model
from imbrex.potential.run_command import predict_directory
from imbrex.potential.sweep import parse_grid, sweep, write_sweep
from imbrex.potential.tables import latency_json, latency_rows, latency_text
from imbrex.potential.tolerate import tolerance_json, tolerance_text, tolerated_networks


def parse_slow_down(option: str, text: str) -> float:
    """`5%` or `0.05`, as a fraction; `option` is what the error names."""
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ImbrexError(f"{option}: '{text}' is no slow-down; write 5% or 0.05")
    return value


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise ImbrexError(f"{output}: cannot be written: {error.strerror}") from error


def _write_result(document: dict[str, Any], text: str, as_json: bool, output: Path | None) -> None:
    _write(json.dumps(document, indent=2, allow_nan=False) if as_json else text, output)


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


def _rest(folder: Path) -> str:
    """Where a run's parameter file is, which takes all options; it needs messages to describe."""
    for file in (folder / "recording" / "model.toml", folder / "model.toml"):
        if file.exists():
            return f"; for the rest: imbrex predict {file}"
    return ""


@click.command()
@click.argument("model_path", metavar="MODEL.toml|RUN", type=click.Path(path_type=Path))
@click.option(
    "--network",
    "-n",
    "network_names",
    multiple=True,
    metavar="NAME|FILE",
    help="A network of the collection, 'all', a TOML file, or a machine profile. Repeatable.",
)
@click.option("--mode", type=click.Choice(MODES[1:]), help="Which work may hide messages.")
@click.option(
    "--process",
    type=click.Choice(["worst", "mean"]),
    help="Where the file gives numbers per process: the worst or the mean.",
)
@click.option("--cpu-speed", default=1.0, show_default=True, help="Processor speed, x today's.")
@click.option("--table", type=click.Choice(["latency"]), help="Run time over latency, as a table.")
@click.option(
    "--figure",
    type=click.Choice(["1", "6", "7", "8", "9", "10"]),
    help="Draw a figure into the file of -o: 1 (of a run) produced and consumed over time, "
    "6 normalized overlap, 7 elements, 8 run time over bandwidth, 9 equivalent bandwidth, "
    "10 shares.",
)
@click.option(
    "--sweep",
    "sweep_text",
    metavar="latency=LO:HI:N,bandwidth=LO:HI:N",
    help="Run times on a grid of networks (us, MB/s), as CSV, or .npz with -o.",
)
@click.option(
    "--tolerate",
    metavar="5%",
    help="List the networks that keep run time within this slow-down (exit 1 if none does).",
)
@click.option(
    "--slow-down",
    show_default="5%",
    help="The slow-down at which an assessment says what latency is tolerated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (seconds and bytes).")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False))
def predict(
    model_path: Path,
    network_names: tuple[str, ...],
    mode: str | None,
    process: str | None,
    cpu_speed: float,
    table: str | None,
    figure: str | None,
    sweep_text: str | None,
    tolerate: str | None,
    slow_down: str | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Say how much a program could overlap, and what that is worth on a network.

    MODEL.toml describes the program (docs/predict.md). Without a further option every program is
    assessed on the networks of --network, or on those that the file describes.

    RUN is the directory of `imbrex run --record`: its run time on the measured network and others,
    with today's overlap and with all that it could have, and what each call site would save.
    """
    asked = [table is not None, figure is not None, sweep_text is not None, tolerate is not None]
    if sum(asked) > 1:
        raise ImbrexError("--table, --figure, --sweep and --tolerate exclude each other")
    if not 0 < cpu_speed < float("inf"):
        raise ImbrexError(f"--cpu-speed must be greater than 0, not {cpu_speed:g}")
    if model_path.is_dir():
        if any([table, sweep_text, tolerate, mode, process, slow_down]) or cpu_speed != 1:
            raise ImbrexError(f"a run takes --network, --figure and --json only{_rest(model_path)}")
        predict_directory(model_path, network_names, figure, as_json, output)
        return
    if figure == "1":
        raise ImbrexError("figure 1 is of a recorded run: give its directory, not a parameter file")
    model = load_model(model_path, process)
    if figure is not None:
        _figure(model, int(figure), output, mode, cpu_speed)
    elif table is not None:
        rows = latency_rows(model, mode, cpu_speed)
        _write_result(latency_json(model, rows), latency_text(model, rows), as_json, output)
    elif sweep_text is not None:
        _sweep(model, sweep_text, _message_gap(model, network_names), cpu_speed, as_json, output)
    elif tolerate is not None:
        _tolerate(model, network_names, tolerate, mode, cpu_speed, as_json, output)
    else:
        networks = _networks(model, network_names, False)
        within = parse_slow_down("--slow-down", slow_down or "5%")
        results = [
            assess(program, network, mode, cpu_speed, within)
            for program in model.programs
            for network in networks
        ]
        document = {"schema_version": 1, "title": model.title, "assessments": results}
        text = "\n\n".join(assessment_text(result) for result in results)
        _write_result(document, text, as_json, output)


def _figure(
    model: Model, number: int, output: Path | None, mode: str | None, cpu_speed: float
) -> None:
    if output is None:
        raise ImbrexError("--figure needs -o FILE (.png, .svg or .pdf)")
    # Matplotlib takes a second to import: only who draws pays for it.
    from imbrex.potential.figures import draw

    draw(model, number, output, mode, cpu_speed)


def _sweep(
    model: Model,
    text: str,
    message_gap_s: float,
    cpu_speed: float,
    as_json: bool,
    output: Path | None,
) -> None:
    grid = parse_grid(text)
    result = sweep(model.programs, grid, message_gap_s, cpu_speed)
    if as_json:
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
        _write(json.dumps(document, allow_nan=False), output)
        return
    try:
        written = write_sweep(result, grid, output)
    except OSError as error:
        raise ImbrexError(f"{output}: cannot be written: {error.strerror}") from error
    if written is not None:
        click.echo(written, nl=False)


def _tolerate(
    model: Model,
    names: tuple[str, ...],
    text: str,
    mode: str | None,
    cpu_speed: float,
    as_json: bool,
    output: Path | None,
) -> None:
    slow_down = parse_slow_down("--tolerate", text)
    networks = _networks(model, names, True)
    documents, texts, all_find_one = [], [], True
    for program in model.programs:
        rows = tolerated_networks(program, networks, slow_down, mode, cpu_speed)
        documents.append(tolerance_json(program, rows, slow_down))
        texts.append(tolerance_text(program, rows, slow_down))
        all_find_one = all_find_one and any(row.within_overlap for row in rows)
    document = {"schema_version": 1, "applications": documents}
    _write_result(document, "\n\n".join(texts), as_json, output)
    if not all_find_one:
        sys.exit(1)
