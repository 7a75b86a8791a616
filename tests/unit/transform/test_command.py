"""The command: applying, refusing dirty and unreadable files, JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.errors import ImbrexError
from imbrex.transform.command import command

HALO = Path(__file__).parent / "cases" / "halo.c"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(HALO, "halo.c")
    return Path("halo.c")


def test_apply_then_nothing_is_left(source: Path) -> None:
    assert CliRunner().invoke(command, ["--apply", "halo.c"]).exit_code == 0
    assert "MPI_Irecv" in source.read_text()
    assert CliRunner().invoke(command, ["--diff", "halo.c"]).output == ""


def test_only_and_json(source: Path) -> None:
    answer = CliRunner().invoke(command, ["--json", "--only", "halo.c:25", "halo.c"])
    sites = json.loads(answer.output)["sites"]
    assert [(site["line"], site["decision"]) for site in sites] == [(25, "rewritten")]


def test_a_dirty_file_is_refused(source: Path) -> None:
    for words in (["init", "-q"], ["add", "halo.c"]):
        subprocess.run(["git", *words], check=True)
    before = source.read_bytes()
    answer = CliRunner().invoke(command, ["--apply", "halo.c"])
    assert isinstance(answer.exception, ImbrexError)
    assert "not committed" in str(answer.exception)
    assert source.read_bytes() == before


def test_one_unreadable_file_stops_all_edits(source: Path) -> None:
    Path("bad.c").write_text("int main( {\n")
    before = source.read_bytes()
    answer = CliRunner().invoke(command, ["--apply", "halo.c", "bad.c"])
    assert isinstance(answer.exception, ImbrexError)
    assert "bad.c:1" in str(answer.exception)
    assert source.read_bytes() == before
