"""Bad input to any command is one line on stderr and exit code 2; nothing is printed or written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex import cli

MODEL = Path(__file__).parents[3] / "examples" / "sancho2006.toml"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("show nowhere", "nowhere: no such run directory"),
        ("show empty.c", "empty.c: no such run directory"),
        ("show folder", "not an Imbrex run directory (no run.json)"),
        ("show run -o nowhere/x", "nowhere/x: cannot be written"),
        ("show run -o x.html", "writes text"),
        ("report nowhere", "no such run directory"),
        ("report run -o nowhere/x.html", "cannot be written"),
        ("report run -o folder", "cannot be written"),
        ("report run -o x.csv", "writes HTML"),
        ("compare run nowhere", "no such run directory"),
        ("compare run run --map empty.json", "empty.json: a map of call sites is empty"),
        ("compare run run --map nowhere.json", "cannot be read: No such file"),
        ("export nowhere --format csv", "no such run directory"),
        ("export run", "say which format: --format otf2|chrome"),
        ("export run -o x.txt", "say which format: --format otf2|chrome"),
        ("export run --format csv -o nowhere/x.csv", "nowhere/x.csv: cannot be written"),
        ("export run --format csv -o folder", "folder: is there already"),
        ("compare run", "name two run directories"),
        ("compare run run run", "name two run directories"),
        ("compare run run --time-from x", "--time-from belongs to --repeat"),
        ("compare -- ls --- ls", "two launcher lines are compared with --repeat N"),
        ("compare --repeat 3 -- ls", "--repeat takes two launcher lines"),
        ("compare --repeat 3 -- ls ---", "line B has no command"),
        ("compare --repeat 2 -- ls --- ls", "invalid value for '--repeat'"),
        ("compare --repeat 3 --time-from x -- ls --- ls", "in one pair of parentheses"),
        ("compare --repeat 3 -- nosuch --- ls", "line A: nosuch: cannot be started"),
        ("compare --repeat 3 -- ls --- false", "line B ended with exit code 1"),
        ("tune", "no command"),
        ("tune -- nosuchprogram", "nosuchprogram: program not found"),
        ("tune --budget soon -- ls", "write a time as 90s, 10m, 2h"),
        ("tune --time-from x -- ls", "in one pair of parentheses"),
        ("tune -o empty.json -- ls", "empty.json"),
        ("collect folder", "not an Imbrex run directory"),
        ("run", "no command"),
        ("run -- nosuchprogram", "nosuchprogram: program not found"),
        ("run --progress=0.5 -- ls", "write --progress=MICROSECONDS from 1 to 10000000"),
        ("run --progress=often -- ls", "write --progress=MICROSECONDS from 1 to 10000000"),
        ("run --progress --progress-share=0 -- ls", "a share of a core in per cent, above 0"),
        ("run --progress --progress-share=101 -- ls", "a share of a core in per cent, above 0"),
        ("run --progress-share=5 -- ls", "--progress-share belongs to --progress"),
        ("run --plain x -- ls", "--plain belongs to --record"),
        ("run --sample 10% -- ls", "--sample belongs to --record"),
        ("run --times counted -- ls", "--times belongs to --record"),
        ("run --rounds 5 -- ls", "--rounds belongs to --times switched"),
        ("run --record --sample 0 -- ls", "0: write a share above 0 and up to 100 %, as 10%"),
        ("record --sample nan -- ls", "nan: write a share above 0"),
        ("record --sample 101% -- ls", "101%: write a share above 0"),
        ("run --record -- nosuchprogram", "program not found"),
        ("run --record --guard -- ls", "--guard watches"),
        ("predict nowhere", "nowhere: cannot be read"),
        ("predict empty.toml", "no [[application]] in this file"),
        ("predict folder", "not an Imbrex run directory"),
        ("predict run -n nowhere", "no network 'nowhere'"),
        ("predict run -n empty.json", "empty.json: a machine profile is empty"),
        ("predict run --figure 6", "has no recording"),
        ("predict MODEL --figure 6", "--figure needs -o FILE"),
        ("predict run --table latency", "a run takes --network"),
        ("predict MODEL --figure 6 -o x.txt", "writes a figure"),
        ("predict MODEL --sweep latency=1:2", "is not latency=LOW:HIGH:COUNT"),
        ("predict MODEL --sweep latency=1:2:99999999999,bandwidth=1:2:2", "more than 10000000"),
        ("predict MODEL --sweep latency=1:2:9999,bandwidth=1:2:9999", "more than 10000000"),
        ("predict MODEL --sweep latency=1:1e99:2,bandwidth=1:2:2", "LOW <= HIGH <= 1e+12"),
        ("predict MODEL --tolerate nan", "is no slow-down"),
        ("predict MODEL --slow-down 1e999", "is no slow-down"),
        ("predict MODEL --cpu-speed nan", "--cpu-speed must be from"),
        ("run --log 64K -- mpirun -n 2 x", "64K: write a size of 256K or more, as 512K"),
        ("run --log 1 -- mpirun -n 2 x", "1: write a size of 256K or more, as 512K"),
        ("calibrate -- nosuchlauncher -n 2", "no launcher that is known"),
        ("calibrate -o nowhere/x.json", "cannot write nowhere/x.json"),
        ("calibrate --time-limit nan", "nan is not a number of seconds"),
        ("calibrate --max-bytes 4M", "is not kept: name its file with -o"),
        ("calibrate --max-bytes 3", "write a size of 1K or more"),
        ("probe -o folder", "cannot write folder"),
        ("probe --max-bytes 3", "write a size of 1K or more"),
        ("probe --report nowhere/x.html", "cannot write nowhere/x.html"),
        ("transform nowhere.c", "nowhere.c: No such file"),
        ("transform empty.c --only x", "give it as FILE:LINE"),
        ("transform empty.c --rewrites nosuch", "nosuch is not among"),
        ("transform empty.c -o x.html", "writes text"),
        ("transform empty.c --machine empty.json", "a machine profile is empty"),
        ("transform empty.c -p nowhere", "not a readable compile database"),
        ("record -- nosuchprogram", "program not found"),
        ("cc --compiler=nosuch a.c", "nosuch: no such compiler"),
        ("man -o empty.c", "cannot be written"),
    ],
)
def test_bad_input_is_one_line(
    make_run: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    words: str,
) -> None:
    make_run("run")
    (tmp_path / "folder").mkdir()
    for name in ("empty.c", "empty.toml", "empty.json"):
        (tmp_path / name).touch()
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["imbrex", *line.replace("MODEL", str(MODEL)).split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("imbrex")
    assert words in err
    assert sorted(tmp_path.rglob("*")) == before
