"""`-o FILE` gets what its suffix says, or is refused before anything is done."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli import cli
from imbrex.cli.output import Kind, kind_of
from imbrex.errors import ImbrexError

COMMANDS = {
    "show": ["show", "RUN"],
    "compare": ["compare", "RUN", "RUN"],
    "predict": ["predict", "RUN"],
}


def use(words: list[str], run: Path, file: Path) -> None:
    line = [argument.replace("RUN", str(run)) for argument in words]
    CliRunner().invoke(cli, [*line, "-o", str(file)], catch_exceptions=False)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("suffix", [".html", ".csv", ".png", ".npz", ".toml", ".HTML"])
def test_a_suffix_of_something_else_is_refused(
    make_run: Callable[..., Path], tmp_path: Path, command: str, suffix: str
) -> None:
    file = tmp_path / f"x{suffix}"
    with pytest.raises(ImbrexError, match=rf"-o .*x\{suffix}: imbrex {command} writes text"):
        use(COMMANDS[command], make_run(), file)
    assert not file.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_json_by_suffix_and_text_otherwise(
    make_run: Callable[..., Path], tmp_path: Path, command: str
) -> None:
    run = make_run()
    use(COMMANDS[command], run, tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text())["schema_version"] == 1
    for name in ("x.txt", "x", "x.4ranks"):
        use(COMMANDS[command], run, tmp_path / name)
        assert not (tmp_path / name).read_text().startswith("{")
    use([*COMMANDS[command], "--json"], run, tmp_path / "y.txt")
    assert json.loads((tmp_path / "y.txt").read_text())["schema_version"] == 1


def test_a_report_is_html(make_run: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(ImbrexError, match="imbrex report writes HTML"):
        use(["report", "RUN"], make_run(), tmp_path / "x.txt")


@pytest.mark.parametrize("words", [["probe"], ["calibrate"]])
def test_what_is_measured_is_json(words: list[str], tmp_path: Path) -> None:
    with pytest.raises(ImbrexError, match="writes JSON"):
        use(words, tmp_path, tmp_path / "x.html")


def test_every_kind_knows_its_suffixes() -> None:
    for kind in Kind:
        for suffix in kind.suffixes:
            assert kind_of(Path(f"a/x{suffix}"), "c", (kind,)) is kind
            assert re.fullmatch(r"\.[a-z]+", suffix)
    assert kind_of(None, "c", (Kind.CSV, Kind.JSON)) is Kind.CSV
