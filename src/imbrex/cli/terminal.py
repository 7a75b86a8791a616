"""Consoles of the commands: colours on a terminal only, and a fixed width in a pipe."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from imbrex.errors import ImbrexError

PIPE_WIDTH = 140


def console(*, stderr: bool = False) -> Console:
    """A console for our own words; without colours where the stream is not a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, emoji=False, markup=False)


@contextlib.contextmanager
def output_console(file: Path | None) -> Iterator[Console]:
    """A console on stdout, or on a file that is written whole."""
    if file is None:
        yield console()
        return
    text = io.StringIO()
    yield Console(file=text, width=PIPE_WIDTH, highlight=False, emoji=False, markup=False)
    write_text(file, text.getvalue())


def write_text(file: Path, text: str) -> None:
    """Write a result file; ImbrexError where it cannot be written."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ImbrexError(f"{file}: cannot be written ({error.strerror})") from error


def emit_json(content: dict[str, Any], file: Path | None = None) -> None:
    """Print a JSON object, or write it to a file."""
    text = json.dumps(content, indent=1)
    if file is None:
        click.echo(text)
    else:
        write_text(file, text + "\n")


def warn(line: str) -> None:
    """One line on stderr."""
    click.echo(f"imbrex: {line}", err=True)
