"""Consoles of the commands: colours on a terminal only, and a fixed width in a pipe."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from imbrex.errors import ImbrexError
from imbrex.whole_file import write_whole

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 140


def console(*, stderr: bool = False) -> Console:
    """A console for our own words; without colours where the stream is not a terminal."""
    from imbrex.cli.pipe_console import PipeConsole  # half of what `imbrex cc` imports otherwise

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return PipeConsole(stderr=stderr, width=width, highlight=False, emoji=False, markup=False)


@contextlib.contextmanager
def output_console(file: Path | None) -> Iterator[Console]:
    """A console on stdout, or on a file that is written whole."""
    if file is None:
        yield console()
        return
    from rich.console import Console

    text = io.StringIO()
    yield Console(file=text, width=PIPE_WIDTH, highlight=False, emoji=False, markup=False)
    write_text(file, text.getvalue())


def write_text(file: Path, text: str) -> None:
    """Write a result file; ImbrexError where it cannot be written."""
    write_whole(file, text, errors="backslashreplace")


def json_text(content: dict[str, Any], indent: int | None = 1) -> str:
    """A JSON object as text; ImbrexError rather than NaN, which JSON does not have."""
    try:
        return json.dumps(content, indent=indent, allow_nan=False)
    except ValueError as error:
        raise ImbrexError(f"a number of the result is not finite ({error})") from error


def emit_json(content: dict[str, Any], file: Path | None = None) -> None:
    """Print a JSON object, or write it to a file."""
    text = json_text(content)
    if file is None:
        click.echo(text)
    else:
        write_text(file, text + "\n")


def warn(line: str) -> None:
    """One line on stderr, if anybody still listens there."""
    try:
        click.echo(f"imbrex: {line}", err=True)
    except OSError:
        leave(sys.stderr)


def open_streams() -> None:
    """Make the standard streams take whatever we write, also where the caller closed one (`>&-`).

    Names of files and sections are any bytes: what the encoding does not have is written `\\xff`.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def leave(stream: TextIO) -> None:
    """Write no more to a stream whose reader has gone: the rest of it goes nowhere."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
