"""Where CONTRIBUTING says "one file and one line": each line has its file, each file its line, and
what a registry names is told everywhere without another word."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli import cli
from imbrex.diagnosis.account import Account
from imbrex.diagnosis.finding import Finding
from imbrex.diagnosis.findings import registry
from imbrex.diagnosis.interval import Interval
from imbrex.launch.event_sources import event_sources
from imbrex.network.columns import read_columns
from imbrex.network.experiments import all_experiments, calibration
from imbrex.transform import rewrites
from imbrex.transform.rewrites.base import Rewrite
from imbrex.transform.rewrites.registry import ALL

ROOT = Path(__file__).parents[2]


def defined(pattern: str, folder: str) -> list[str]:
    """The names that the C files of a folder define."""
    files = sorted((ROOT / folder).rglob("*.c"))
    return sorted(name for f in files for name in re.findall(pattern, f.read_text(), re.MULTILINE))


def test_every_event_source_has_its_line_and_is_a_choice_of_events() -> None:
    listed = event_sources()
    assert listed[:2] == ("auto", "call")
    assert sorted(listed[2:]) == defined(r"^const ix_event_source ix_(\w+)_source\b", "runtime")
    shown = CliRunner().invoke(cli, ["run", "--help"]).output
    assert f"[{'|'.join(listed)}]" in shown


def test_every_observer_has_its_line() -> None:
    text = (ROOT / "runtime" / "job" / "observers.def").read_text()
    listed = re.findall(r"^OBSERVER\((\w+)\)$", text, re.MULTILINE)
    assert sorted(listed) == defined(r"^const ix_observer (\w+)\b", "runtime")


def test_every_experiment_has_its_line() -> None:
    assert sorted(all_experiments()) == defined(r"^void run_(\w+)\(engine \*", "probes/experiments")
    for shares in (all_experiments(), calibration()):
        assert sum(shares.values()) == pytest.approx(1.0)
        assert all(share > 0 for share in shares.values())
    assert set(calibration()) < set(all_experiments())


def test_rows_named_after_an_experiment_are_kept() -> None:
    name = next(iter(all_experiments()))
    read = read_columns(["# imbrex-probes 1\n", f"{name} 4 2\n", "what a program prints\n"])
    assert read.other == {name: [["4", "2"]]}


def test_every_rewrite_has_its_line_and_is_listed() -> None:
    folder = Path(rewrites.__file__).parent
    modules = [import_module(f"{rewrites.__name__}.{f.stem}") for f in sorted(folder.glob("*.py"))]
    written = {
        found
        for module in modules
        for found in vars(module).values()
        if inspect.isclass(found) and issubclass(found, Rewrite) and not inspect.isabstract(found)
    }
    assert written == set(ALL)
    shown = CliRunner().invoke(cli, ["transform", "--rewrites", "list"]).output
    for rewrite in ALL:
        assert f"{rewrite.name}\n" in shown


def toy(account: Account) -> Iterator[Finding]:
    """Found in every run."""
    yield Finding(
        kind="toy", at_stake=Interval(0.3, 0.3), evidence="call", text="a toy", command="true"
    )


def test_a_finding_in_the_registry_is_on_every_screen(
    make_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(registry, "RULES", (*registry.RULES, toy))
    run, page = str(make_run()), tmp_path / "page.html"
    imbrex = CliRunner()
    as_json = json.loads(imbrex.invoke(cli, ["show", run, "--json"]).output)
    assert "toy" in [finding["kind"] for finding in as_json["totals"]["findings"]]
    assert "A toy\n" in imbrex.invoke(cli, ["show", run]).output
    assert imbrex.invoke(cli, ["report", run, "-o", str(page)]).exit_code == 0
    assert "A toy" in page.read_text()
