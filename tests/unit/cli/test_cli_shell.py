"""What shells and man are given: completion by click, and manual pages of all commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from imbrex.cli import cli
from imbrex.cli.commands import COMMANDS
from imbrex.cli.roff import escape, pages

pytestmark = pytest.mark.slow

SHELLS = {"bash": "--norc", "zsh": "-f", "fish": "--no-config"}


def complete(shell: str, line: str) -> list[str]:
    """What the last word of a line is completed to, as click tells the shell."""
    words = line.split(" ")
    last = words[-1] if shell == "fish" else str(len(words) - 1)
    env = os.environ | {"_IMBREX_COMPLETE": f"{shell}_complete", "COMP_WORDS": line}
    command = [sys.executable, "-c", "from imbrex.cli import main; main()"]
    done = subprocess.run(
        command, env=env | {"COMP_CWORD": last}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_and_choices_are_completed(shell: str) -> None:
    assert any("show" in found for found in complete(shell, "imbrex sh"))
    assert any("--bounds" in found for found in complete(shell, "imbrex show --"))
    assert any("operation" in found for found in complete(shell, "imbrex show x --by op"))
    assert not any(found == "run" for found in complete(shell, "imbrex sh"))


def test_words_of_another_command_line_are_files() -> None:
    assert complete("bash", "imbrex run -- mp") == ["file,mp"]
    assert complete("bash", "imbrex cc a") == ["file,a"]
    assert complete("bash", "imbrex show r") == ["file,r"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_takes_the_source(shell: str, tmp_path: Path) -> None:
    env = os.environ | {"_IMBREX_COMPLETE": f"{shell}_source"}
    command = [sys.executable, "-c", "from imbrex.cli import main; main()"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "_IMBREX_COMPLETE" in done.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "source"
    file.write_text(done.stdout)
    checked = subprocess.run(
        [shell, SHELLS[shell], "-n", str(file)], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_bash_completes_with_it(tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = """
eval "$(_IMBREX_COMPLETE=bash_source imbrex)"
COMP_WORDS=(imbrex comp) COMP_CWORD=1
_imbrex_completion imbrex comp imbrex
echo "${COMPREPLY[@]}"
"""
    command = tmp_path / "imbrex"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m imbrex.cli "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["compare"], done.stderr


def test_every_command_has_its_manual_page() -> None:
    found = pages(cli)
    assert set(found) == {"imbrex.1", *(f"imbrex-{name}.1" for name in COMMANDS)}
    for name in COMMANDS:
        assert escape(f"imbrex-{name}") in found["imbrex.1"]
    assert escape("--runtime") in found["imbrex-run.1"]
    assert all(text.isascii() for text in found.values())


def test_groff_finds_nothing_wrong(tmp_path: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    for name, text in pages(cli).items():
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww"],
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), name
        assert "OPTIONS" in done.stdout or name in ("imbrex-cc.1", "imbrex-cxx.1", "imbrex-fc.1")


def test_text_is_printed_as_it_is() -> None:
    text = '.br a-b `c\' \\n \u2013 "x"'
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8"],
        input=f".TH x 1\n.PP\n{escape(text)}\n",
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert text in done.stdout


def test_man_writes_the_pages(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "imbrex.cli", "man", "-o", str(tmp_path / "man1")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / "man1")
    assert (tmp_path / "man1" / "imbrex-show.1").read_text().startswith(".TH")
