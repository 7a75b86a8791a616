"""CSV and Parquet of sites and causes: read back, each sum is that of the run directory."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex import cli
from imbrex.export.registry import FORMATS
from imbrex.export.sites_table import SITES_TABLE
from imbrex.profile.causes import CAUSES, CAUSES_DTYPE, GAINS
from imbrex.profile.format import QUANTITIES
from imbrex.profile.run import load_run

MakeRun = Callable[..., Path]


def nothing(share: float) -> None:
    assert 0 <= share <= 1


def caused(make_run: MakeRun) -> Path:
    """A run with a row of causes for each of its Recv, and one that measures.npy does not have."""
    folder = make_run("run")
    table = np.zeros(3, CAUSES_DTYPE)
    table["rank"] = [0, 1, 1]
    table["site"], table["operation"], table["section"] = [2, 2, 7], 1, 1
    table["logged"] = table["count"] = [4, 4, 1]
    table["call_ns"] = [60_000_000, 60_000_000, 1]
    table["late_sender_min_ns"] = [50_000_000, 30_000_000, 0]
    table["late_sender_max_ns"] = [60_000_000, 40_000_000, 1]
    table["transfer_min_ns"] = [1, 2, 3]
    table["gainable_max_ns"] = [10, 20, 30]
    np.save(folder / "causes.npy", table)
    return folder


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_columns_have_names_of_their_own() -> None:
    names = [column.name for column in SITES_TABLE.columns]
    assert len(names) == len(set(names))
    assert {f"cause_{cause}_min_s" for cause in CAUSES} < set(names)


def test_csv_has_every_sum_of_the_run(make_run: MakeRun, tmp_path: Path) -> None:
    run = load_run(caused(make_run))
    FORMATS["csv"].write(run, tmp_path / "sites.csv", nothing)
    rows = read_csv(tmp_path / "sites.csv")
    assert list(rows[0]) == [column.name for column in SITES_TABLE.columns]
    for name in QUANTITIES:
        called, unit = (f"{name[:-3]}_s", 1e-9) if name.endswith("_ns") else (name, 1)
        total = sum(float(row[called]) for row in rows)
        assert total == pytest.approx(unit * int(run.measures[name].sum())), name
    assert run.causes is not None
    for name in (*CAUSES, *GAINS):
        called = f"cause_{name}" if name in CAUSES else name
        for end in ("min", "max"):
            total = sum(float(row[f"{called}_{end}_s"]) for row in rows)
            assert total == pytest.approx(1e-9 * int(run.causes[f"{name}_{end}_ns"].sum()))
    found = [(r["rank"], r["site"], r["operation"], r["file"], r["line"], r["host"]) for r in rows]
    assert found[1] == ("0", "2", "MPI_Recv", "/x/app.c", "20", "node1")
    assert ("1", "7", "MPI_Recv", "", "0", "node1") in found
    assert rows[1]["function"] == "<solve> & co"
    assert float(rows[1]["cause_late_sender_min_s"]) == 0.05
    assert (rows[0]["overlap_min_s"], rows[0]["cause_transfer_min_s"]) == ("0.02", "0.0")


def test_causes_that_are_not_known_are_empty(make_run: MakeRun, tmp_path: Path) -> None:
    FORMATS["csv"].write(load_run(make_run()), tmp_path / "sites.csv", nothing)
    rows = read_csv(tmp_path / "sites.csv")
    assert len(rows) == 6
    assert {row["cause_stalled_max_s"] for row in rows} == {""}
    assert {row["logged"] for row in rows} == {""}


def test_names_of_the_program_stay_in_their_cell(make_run: MakeRun, tmp_path: Path) -> None:
    sites = [
        {"id": 0, "offset": "0x0"},
        {"id": 1, "offset": "0x1", "file": 'a,"b"\n\x1b[31m.c', "line": 3, "function": "f;\r\n"},
    ]
    run = load_run(make_run("run", sites=sites, sections=["", "a\nb"]))
    FORMATS["csv"].write(run, tmp_path / "sites.csv", nothing)
    rows = read_csv(tmp_path / "sites.csv")
    assert rows[0]["file"] == 'a,"b"\\n\\x1b[31m.c'
    assert rows[0]["function"] == "f;\\r\\n"
    assert len((tmp_path / "sites.csv").read_text().splitlines()) == 7


def test_parquet_is_the_same_table(make_run: MakeRun, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, folder in (("with", caused(make_run)), ("without", make_run("plain"))):
        run = load_run(folder)
        FORMATS["csv"].write(run, tmp_path / "sites.csv", nothing)
        FORMATS["parquet"].write(run, tmp_path / f"{name}.parquet", nothing)
        table = parquet.read_table(tmp_path / f"{name}.parquet")
        assert table.column_names == [column.name for column in SITES_TABLE.columns]
        rows = read_csv(tmp_path / "sites.csv")
        for mine, theirs in zip(table.to_pylist(), rows, strict=True):
            assert {k: "" if v is None else str(v) for k, v in mine.items()} == theirs


def test_an_empty_run_has_a_header(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run("run")
    np.save(folder / "measures.npy", np.load(folder / "measures.npy")[:0])
    for name in ("csv", "parquet"):
        if name == "parquet":
            pytest.importorskip("pyarrow")
        FORMATS[name].write(load_run(folder), tmp_path / f"x.{name}", nothing)
    assert len(read_csv(tmp_path / "x.csv")) == 0


def export(monkeypatch: pytest.MonkeyPatch, *words: Any) -> int:
    monkeypatch.setattr(sys, "argv", ["imbrex", "export", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_a_package_that_is_missing_is_one_line(
    make_run: MakeRun,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = make_run("run")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert export(monkeypatch, folder, "--format", "parquet") == 2
    error = capsys.readouterr().err
    assert error == (
        "imbrex: Parquet needs the Python package pyarrow: pip install 'imbrex[export]'\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_file_is_named_after_the_run(
    make_run: MakeRun,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = make_run("before")
    monkeypatch.chdir(tmp_path)
    assert export(monkeypatch, folder, "--format", "csv") == 0
    assert capsys.readouterr().out == "before.csv\n"
    assert export(monkeypatch, folder, "-q", "-o", "other.csv") == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "other.csv").read_bytes() == (tmp_path / "before.csv").read_bytes()
