"""`imbrex predict` as a user calls it."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from imbrex.cli import main

pytestmark = pytest.mark.slow


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> object:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["imbrex", "predict", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_latency_table(run, sancho_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run(sancho_path, "--table", "latency")
    assert code == 0
    assert "38 of 40 cells agree" in out
    assert "11.17 [11.07]*" in out
    assert "1.40 [1.39]*" in out
    assert out.count("\n* ") == 2


def test_latency_table_as_json(run, sancho_path: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    target = tmp_path / "table.json"
    code, out, _ = run(sancho_path, "--table", "latency", "--json", "-o", target)
    assert (code, out) == (0, "")
    document = json.loads(target.read_text())
    assert document["schema_version"] == 1
    assert len(document["rows"]) == 20
    for row in document["rows"]:
        assert set(row) == {"application", "latency_us", "nonoverlap", "overlap"}
    pop = next(r for r in document["rows"] if r["application"] == "POP" and r["latency_us"] == 1)
    assert pop["nonoverlap"] == pytest.approx(1 + 43.1264 / 31.46)
    assert pop["overlap"] == pytest.approx(1 + 40 / 31.46)
    assert [d["application"] for d in document["differences"]] == ["POP", "Sweep3D"]


def test_assessment(run, sancho_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run(sancho_path, "--json")
    assert code == 0
    results = json.loads(out)["assessments"]
    assert len(results) == 10
    hycom = results[0]
    assert hycom["network"]["name"] == "testbed"
    assert hycom["potential_s"]["independent"] == pytest.approx((229.3 + 833 + 331.5) * 1e-6)
    assert hycom["normalized_overlap"] == pytest.approx(2.3259, abs=1e-4)
    sweep = results[8]
    assert sweep["not_covered"] == ["phijb"]
    assert "starves" in sweep["messages"][1]["limit"]
    code, out, _ = run(sancho_path)
    assert "overlap hides its messages for processors up to 2.33 x as fast" in out


def test_tolerated_latency_at_another_slow_down(run, sancho_path: Path) -> None:  # type: ignore[no-untyped-def]
    _, out, _ = run(sancho_path, "-n", "infiniband sdr 4x", "--slow-down", "20%", "--json")
    hycom = json.loads(out)["assessments"][0]
    # 3 (EEL + 89856 / 950) = 0.2 * 2588 us
    expected = 0.2 * 2588e-6 / 3 - 89856 / 950e6
    assert hycom["tolerated_latency_s"]["none"] == pytest.approx(expected, rel=1e-9)


def test_a_program_of_collectives_alone(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "reductions.toml"
    path.write_text(
        '[[application]]\nname = "r"\ncomputation_us = 100\n'
        "[[application.collective]]\nprocesses = 16\n"
    )
    code, out, _ = run(path, "-n", "infiniband sdr 4x")
    assert code == 0
    assert "none 1.320, independent 1.320" in out  # 2 * 4 * 4 us
    assert "bandwidth makes no difference" in out
    _, out, _ = run(path, "-n", "infiniband sdr 4x", "--json")
    (result,) = json.loads(out)["assessments"]
    assert result["equivalent_bandwidth_bytes_per_s"] == 0
    assert result["tolerated_latency_s"]["none"] == pytest.approx(5e-6 / 8)
    assert result["sufficient_cpu_speed"] is None
    code, _, err = run(path, "--figure", "7", "-o", tmp_path / "x.png")
    assert code == 2
    assert "no elements to draw" in err


def test_processor_speed(run, sancho_path: Path) -> None:  # type: ignore[no-untyped-def]
    # POP's Q has 2.78 times what it needs: twice the speed is fine, three times is not.
    for speed, hidden in ((2, True), (3, False)):
        _, out, _ = run(
            sancho_path, "--network", "infiniband sdr 4x", "--cpu-speed", speed, "--json"
        )
        (pop,) = (r for r in json.loads(out)["assessments"] if r["application"] == "POP")
        exposed = {m["message"]: m["exposed_s"]["independent"] for m in pop["messages"]}
        assert (exposed["Q"] == 0) is hidden
        assert pop["computation_s"] == pytest.approx(31.46e-6 / speed)


def test_tolerate(run, tmp_path: Path, sancho_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = run(sancho_path, "--tolerate", "5%", "--json")
    assert code == 1  # no network keeps POP within 5 %
    first = json.loads(out)["applications"][0]
    within = [n["name"] for n in first["networks"] if n["within_overlap"]]
    assert within[0] == "InfiniPath HTX"
    assert "GigE" not in within
    code, out, _ = run(sancho_path, "--tolerate", "4000%", "-n", "all")
    assert code == 0
    code, out, _ = run(sancho_path, "--tolerate", "5%", "-n", "gige")
    assert code == 1
    assert "none does; GigE comes closest" in out


def test_sweep(run, sancho_path: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    grid = "latency=1:8:4,bandwidth=100:5000:3"
    code, out, _ = run(sancho_path, "--sweep", grid)
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 5 * 4 * 3
    (cell,) = (
        row
        for row in rows
        if row["application"] == "POP"
        and row["latency_us"] == "1"
        and row["bandwidth_mb_per_s"] == "5000"
    )
    assert float(cell["none"]) == pytest.approx(1 + 43.1264 / 31.46)
    target = tmp_path / "grid.npz"
    assert run(sancho_path, "--sweep", grid, "-o", target)[0] == 0
    with np.load(target) as arrays:
        assert arrays["POP/none"].shape == (4, 3)
        assert arrays["POP/none"][0, 2] == pytest.approx(float(cell["none"]))
    _, out, _ = run(sancho_path, "--sweep", grid, "--json")
    assert json.loads(out)["normalized_time"]["POP"]["none"][0][2] == pytest.approx(
        float(cell["none"])
    )


@pytest.mark.parametrize("number", [6, 7, 8, 9, 10])
def test_figures(run, sancho_path: Path, tmp_path: Path, number: int) -> None:  # type: ignore[no-untyped-def]
    target = tmp_path / "figure.svg"
    assert run(sancho_path, "--figure", number, "-o", target)[0] == 0
    first = target.read_bytes()
    assert first.startswith(b"<?xml")
    assert run(sancho_path, "--figure", number, "-o", target)[0] == 0
    assert target.read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--figure", "6"], "--figure needs -o"),
        (["--figure", "6", "-o", "x.txt"], ".png"),
        (["--tolerate", "many"], "no slow-down"),
        (["--tolerate", "-1%"], "no slow-down"),
        (["--slow-down", "slow"], "--slow-down: 'slow' is no slow-down"),
        (["--cpu-speed", "0"], "must be from 1e-06 to 1e+06"),
        (["--sweep", "latency=1:2:3"], "needs both ranges"),
        (["--sweep", "latency=2:1:3,bandwidth=1:2:3"], "LOW <= HIGH"),
        (["--sweep", "latency=1:2,bandwidth=1:2:3"], "is not latency=LOW:HIGH:COUNT"),
        (["--table", "latency", "--tolerate", "5%"], "exclude each other"),
        (["--network", "nowhere"], "no network 'nowhere'"),
        (["--table", "latency", "-o", "/nonexistent/x"], "cannot be written"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(run, sancho_path, arguments, words) -> None:  # type: ignore[no-untyped-def]
    code, out, err = run(sancho_path, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("imbrex: ")
    assert err.count("\n") == 1
    assert words in err


def test_a_directory_is_no_parameter_file(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, _, err = run(tmp_path)
    assert code == 2
    assert "not an Imbrex run directory" in err


def test_a_run_names_the_file_that_takes_the_other_options(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    for options in (["--slow-down", "3%"], ["--tolerate", "5%"], ["--mode", "consumer"]):
        code, _, err = run(tmp_path, *options)
        assert code == 2 and "a run takes --network, --progress" in err
    file = tmp_path / "recording" / "model.toml"
    file.parent.mkdir()
    file.touch()
    code, _, err = run(tmp_path, "--slow-down", "3%")
    assert code == 2 and f"for the rest: imbrex predict {file}" in err
