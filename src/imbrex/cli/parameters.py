"""Types of options and arguments that several commands have."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

FILE = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path)
COUNT = click.IntRange(min=0)
SMALLEST_LOG = 256 << 10
_SUFFIXES = {"": 0, "K": 10, "M": 20, "G": 30}


class _Words(click.types.UnprocessedParamType):
    """Words of another command line; a shell completes them as files."""

    name = "words"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


LAUNCHER = _Words()


_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smh]?)", re.IGNORECASE)
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class TimeLimit(click.FloatRange):
    """Seconds. `nan` is within every range as click compares."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value} is not a number of seconds", param, ctx)
        return seconds


def duration(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A time that a command may take, in s, as users write it: 90s, 10m, 2h. A callback of click.

    click.BadParameter where it is none, or less than a second.
    """
    if value is None:
        return None
    found = _DURATION.fullmatch(value)
    seconds = float(found[1]) * _SECONDS[found[2].lower()] if found else 0.0
    if not 1 <= seconds < 1e7:
        raise click.BadParameter(f"{value}: write a time as 90s, 10m, 2h", ctx, parameter)
    return seconds


if TYPE_CHECKING:
    _IntegerType = click.ParamType[int]
else:  # older releases of click do not say what a type converts to
    _IntegerType = click.ParamType


class Bytes(_IntegerType):
    """A number of bytes, with K, M or G for powers of 1,024."""

    name = "size"
    expected = "write a size of 1K or more, as 512K, 4M, 1G"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes, at least 1,024: below there is nothing to find out."""
        found = re.fullmatch(r"(\d{1,12})([KMG]?)(?:i?B)?", str(value), re.IGNORECASE)
        size = int(found[1]) << _SUFFIXES[found[2].upper()] if found else 0
        if size < 1024:
            self.fail(f"{value}: {self.expected}", param, ctx)
        return size


class LogSize(Bytes):
    """A number of bytes as above, of which the smallest log needs 256K, or off: 0."""

    expected = "write a size of 256K or more, as 512K, 4M, 1G, or off"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if str(value).lower() in {"off", "0"}:
            return 0
        size = super().convert(value, param, ctx)
        if size < SMALLEST_LOG:
            self.fail(f"{value}: {self.expected}", param, ctx)
        return size


LOG_SIZE = LogSize()


class Share(click.FloatRange):
    """A share in per cent, above 0 and at most 100, as a number from 0 to 1."""

    name = "percent"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            share = float(str(value).removesuffix("%")) / 100
        except ValueError:
            share = 0.0
        if not 0 < share <= 1:
            self.fail(f"{value}: write a share above 0 and up to 100 %, as 10%", param, ctx)
        return share


SHARE = Share(min=0, max=100, min_open=True)
