"""The drawing of a typical iteration: jobs that are written down call by call."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.unit.analysis.jobs import ALL, COMPLETION, RECV, SEND, Rank
from tests.unit.logs import write_logged_run

from imbrex import cli
from imbrex.cli import cli as commands

MS = 1_000_000
STEPS = 5


def late_sender() -> list[Rank]:
    """Each 100 ms: rank 1 computes for 70 ms and sends; rank 0 computes for 20 ms and waits."""
    a, b = Rank(), Rank()
    for step in range(STEPS):
        t = 100 * step * MS
        a.add(t, t + MS // 100, "MPI_Irecv", RECV, 4096, 1, site=3, end=2 * step + 1)
        a.add(t + 20 * MS, t + 80 * MS, "MPI_Wait", COMPLETION, site=4)
        b.add(t + 70 * MS, t + 75 * MS, "MPI_Send", SEND, 4096, 0, site=5)
    return [a, b]


def drawn(folder: Path, *words: str, columns: int = 60) -> list[str]:
    done = CliRunner().invoke(
        commands, ["show", str(folder), "--timeline", *words], env={"COLUMNS": str(columns)}
    )
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def test_a_late_sender_is_drawn_as_such(tmp_path: Path) -> None:
    lines = drawn(write_logged_run(tmp_path / "run", late_sender()), columns=80)
    assert lines[0] == "A typical iteration around wave.c:40 (Wait): 110 ms of 480 ms."
    # From 175 ms to 285 ms in 72 columns: the wait from 220 to 280 ms is in columns 29.5 to 68.7,
    # its sender came at 270 ms; the wait before it ended at 180 ms.
    assert lines[2].split() == ["0.175", "s", "a", "column", "is", "1.53", "ms", "0.285", "s"]
    assert lines[3] == "rank 0  " + "-" * 3 + "=" * 26 + "s" * 33 + "-" * 7 + "=" * 3
    assert lines[4] == " " * 8 + " " * 67 + ">1"
    assert lines[5] == "rank 1  " + "=" * 62 + "-" * 3 + "=" * 7
    assert lines[6] == " " * 8 + " " * 62 + "1>"
    text = " ".join(" ".join(lines).split())
    assert "= compute s late sender" in text
    assert "1. rank 1 to 0, 4.0 KiB. Late sender: rank 0 waited in MPI_Wait at wave.c" in text
    assert "entered MPI_Send at wave.c:50 only 50 ms later" in text


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 300])
def test_it_fits_the_width_without_escapes(tmp_path: Path, columns: int) -> None:
    lines = drawn(write_logged_run(tmp_path / "run", late_sender()), columns=columns)
    assert max(map(len, lines)) <= min(columns, 100)
    assert not any("\x1b" in line or line != line.rstrip() for line in lines)


def test_a_site_that_is_asked_for(tmp_path: Path) -> None:
    folder = write_logged_run(tmp_path / "run", late_sender())
    assert drawn(folder, "--site", "wave.c:50")[0].startswith(
        "A typical iteration around wave.c:50 (Send)"
    )


def test_many_ranks_leave_out_what_has_nothing_to_do_with_it(tmp_path: Path) -> None:
    ranks = late_sender()
    for _ in range(98):
        ranks.append(Rank())
        ranks[-1].add(10 * MS, 11 * MS, "MPI_Barrier", ALL, site=9, sequence=1)
    lines = drawn(write_logged_run(tmp_path / "run", ranks))
    assert "16 of 100 ranks." in " ".join(lines[:2])
    rows = [line.split()[1] for line in lines if line.startswith("rank ")]
    assert rows == [str(rank) for rank in range(16)]


def test_one_call_alone(tmp_path: Path) -> None:
    rank = Rank()
    rank.add(10 * MS, 20 * MS, "MPI_Barrier", ALL, site=7)
    lines = drawn(write_logged_run(tmp_path / "run", [rank]))
    assert lines[0].startswith("Around the one call at wave.c:70 (Barrier)")


def test_it_goes_to_a_file(tmp_path: Path) -> None:
    folder = write_logged_run(tmp_path / "run", late_sender())
    assert drawn(folder, "-o", str(tmp_path / "x.txt")) == []
    assert "rank 0  " in (tmp_path / "x.txt").read_text()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--timeline", "--site", "x.c:3"],
            "--site x.c:3: no such site in the time line; it",
        ),
        (["--site", "x.c:3"], "--site x.c:3: no such site in this run; it has wave.c:40, "),
        (["--site", "wave.c:50", "--by", "rank"], "--site opens one call site: leave out --by"),
        (["--timeline", "--json"], "--timeline is a drawing: leave out --by, --bounds and --json"),
        (["--timeline", "--by", "rank"], "--timeline is a drawing"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    line: str,
) -> None:
    folder = write_logged_run(tmp_path / "run", late_sender())
    monkeypatch.setattr(sys, "argv", ["imbrex", "show", str(folder), *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    error = capsys.readouterr().err
    assert (ended.value.code, error.count("\n")) == (2, 1)
    assert error.startswith(f"imbrex: {line}")


def test_a_run_without_single_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_logged_run(tmp_path / "run", late_sender(), logs=False)
    monkeypatch.setattr(sys, "argv", ["imbrex", "show", str(folder), "--timeline"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "has no single calls to draw" in capsys.readouterr().err
