"""The command line: bad usage of any command is one line and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from imbrex import cli
from imbrex.cli.commands import COMMANDS, GROUPS


def use(monkeypatch, capsys, *words):
    """Exit code, stdout and stderr of `imbrex WORDS`."""
    monkeypatch.setattr(sys, "argv", ["imbrex", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return (ended.value.code, *capsys.readouterr())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "no command: write it after --"),
        (["run", "--"], "no command: write it after --"),
        (["run", "--verbos", "--", "mpirun", "./app"], "no such option '--verbos'"),
        (["run", "-x", "mpirun", "./app"], "no such option '-x'"),
        (["run", "--machine"], "imbrex run: option '--machine' requires an argument"),
        (["run", "--events", "magic", "--", "true"], "'magic' is not one of"),
        (["show"], "imbrex show: missing argument 'DIR' (see imbrex show --help)"),
        (["show", "x", "--by", "colour"], "'colour' is not one of 'site', 'operation'"),
        (["show", "x", "--limit", "many"], "'many' is not a valid integer"),
        (["compare", "one"], "name two run directories"),
        (["compare", "one", "two", "three"], "name two run directories"),
        (["probe", "--quik", "--", "mpirun", "-n", "2"], "no such option '--quik'"),
        (["calibrate", "--quik"], "no such option '--quik'"),
        (["nothing"], "imbrex: no such command 'nothing' (see imbrex --help)"),
        (["--nothing"], "no such option '--nothing'"),
    ],
)
def test_bad_usage_is_one_line(monkeypatch, capsys, words, message):
    code, out, err = use(monkeypatch, capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert err.startswith("imbrex")


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in ("cc", "cxx", "fc")])
def test_every_command_refuses_an_unknown_option_in_one_line(monkeypatch, capsys, command):
    code, out, err = use(monkeypatch, capsys, command, "--no-such-option")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"imbrex {command}: no such option '--no-such-option'")


def test_help_is_no_error(monkeypatch, capsys):
    for words in ([], ["--help"], ["show", "-h"]):
        code, out, err = use(monkeypatch, capsys, *words)
        assert (code, err) == (0, "")
        assert out.startswith("Usage: imbrex")


def test_a_reader_that_has_gone_is_no_error(make_run):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "imbrex.cli", "show", str(make_run())]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_collecting_what_is_no_run_writes_nothing(monkeypatch, capsys, tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        code, out, err = use(monkeypatch, capsys, "collect", str(folder))
        assert (code, out, err.count("\n")) == (2, "", 1)
    assert list(tmp_path.iterdir()) == []


def test_names_that_the_encoding_of_the_output_does_not_have(make_run, tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    make_run(sections=["", "ü"]).rename(folder)
    for words in (["show", folder], ["show", folder, "--by", "section"], ["report", folder]):
        done = subprocess.run(
            [sys.executable, "-m", "imbrex.cli", *words],
            env=os.environ | {"PYTHONIOENCODING": "ascii:strict"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), words
        assert "\\xfc" in done.stdout or "--by" not in words


@pytest.mark.parametrize("command", ["calibrate", "probe"])
def test_a_time_limit_that_is_no_number_is_refused_in_one_line(monkeypatch, capsys, command):
    monkeypatch.setattr("sys.argv", ["imbrex", command, "--time-limit", "nan"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "nan is not a number of seconds" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("mistyped", "nearest"),
    [("shwo", "show"), ("calibrat", "calibrate"), ("transfrom", "transform"), ("rum", "run")],
)
def test_a_mistyped_command_is_answered_with_the_nearest(monkeypatch, capsys, mistyped, nearest):
    code, out, err = use(monkeypatch, capsys, mistyped, "x")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"no such command '{mistyped}'; did you mean {nearest}" in err


def test_a_mistyped_option_is_answered_with_the_nearest(monkeypatch, capsys):
    code, _, err = use(monkeypatch, capsys, "show", "x", "--jsn")
    assert (code, err.count("\n")) == (2, 1)
    assert "'--json'" in err


def test_the_commands_are_listed_in_groups(monkeypatch, capsys):
    _, out, _ = use(monkeypatch, capsys, "--help")
    places = [out.index(f"\n{group}:\n") for group in GROUPS]
    assert places == sorted(places)
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_listing_the_commands_imports_none():
    code = "import sys; from imbrex.cli import main; sys.argv[1:] = ['--help']; main()"
    watch = f"import atexit, sys; atexit.register(lambda: print('numpy' in sys.modules)); {code}"
    done = subprocess.run([sys.executable, "-c", watch], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("name", ["cc", "cxx", "fc"])
def test_the_compilers_say_first_what_imbrex_adds(name):
    words = [sys.executable, "-m", "imbrex.cli", name, "--help"]
    env = os.environ | {f"IMBREX_{name.upper()}": "gcc"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=env)
    ours, _, theirs = done.stdout.partition("\nUsage: gcc")
    assert "with accesses to memory recorded" in ours
    assert "--compiler=COMPILER" in ours
    assert "Options:" in theirs
