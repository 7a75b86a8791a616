"""Results are written as a whole or not at all, and only plain files are replaced."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.report.synthetic import write_run

from imbrex.cli.report import report
from imbrex.errors import ImbrexError
from imbrex.whole_file import write_whole


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_text

    def full(file: Path, text: str, **more: str) -> int:
        write(file, text[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = tmp_path / "answer.json"
    for there in ([], ["answer.json"]):
        monkeypatch.setattr(Path, "write_text", full)
        with pytest.raises(ImbrexError, match=r"answer.json: cannot be written \(No space left"):
            write_whole(file, "a long answer")
        assert [path.name for path in tmp_path.iterdir()] == there
        monkeypatch.setattr(Path, "write_text", write)
        write_whole(file, "before")
    assert file.read_text() == "before"


def test_what_is_no_plain_file_stays_what_it_is(tmp_path: Path) -> None:
    """A link to /dev/null, as /dev/stdout is one, and a link to a file, which keeps its mode."""
    run = write_run(tmp_path / "run")
    away, link, file = tmp_path / "away", tmp_path / "link", tmp_path / "file"
    away.symlink_to("/dev/null")
    link.symlink_to(file)
    file.write_text("old")
    file.chmod(0o640)
    for output in (away, link):
        done = CliRunner().invoke(report, [str(run), "-o", str(output)])
        assert done.exit_code == 0, done.output
        assert output.is_symlink()
    assert Path("/dev/null").is_char_device()
    assert "<html" in file.read_text() and file.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["away", "file", "link", "run"]
