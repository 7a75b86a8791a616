"""Manual pages in roff, made from the commands: what `--help` says, as `man` wants it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

import click

from imbrex import __version__
from imbrex.cli.commands import GROUPS


def pages(group: click.Group) -> dict[str, str]:
    """The text of each manual page by its file name: imbrex.1, imbrex-run.1, ..."""
    root = click.Context(group, info_name="imbrex")
    summaries = {name: c.summary for commands in GROUPS.values() for name, c in commands.items()}
    found = {"imbrex.1": _overview(group, root)}
    for name in group.list_commands(root):
        command = group.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root)
        found[f"imbrex-{name}.1"] = _page(command, context, summaries)
    return found


def _page(command: click.Command, context: click.Context, summaries: Mapping[str, str]) -> str:
    name = context.info_name or ""
    title = context.command_path.replace(" ", "-")
    lines = [*_head(title, summaries[name]), ".SH SYNOPSIS", f".B {escape(context.command_path)}"]
    lines.append(escape(" ".join(command.collect_usage_pieces(context))))
    lines += [".SH DESCRIPTION", *_paragraphs(command.help or "")]
    if options := list(_options(command, context)):
        lines += [".SH OPTIONS", *options]
    if command.epilog:
        lines += [".SH EXAMPLE", *_paragraphs(command.epilog.removeprefix("Example: "))]
    lines += _exit_status()
    lines += [".SH SEE ALSO", escape("imbrex(1)")]
    return "\n".join(lines) + "\n"


def _overview(group: click.Group, root: click.Context) -> str:
    lines = [
        *_head("imbrex", "communication-computation overlap in MPI programs"),
        ".SH SYNOPSIS",
        ".B imbrex",
        escape("COMMAND [OPTIONS] [ARGUMENTS]"),
        ".SH DESCRIPTION",
        *_paragraphs(group.help or ""),
    ]
    for title, commands in GROUPS.items():
        lines.append(f".SH {title.upper()}")
        for name, command in commands.items():
            lines += [".TP", rf"\fBimbrex\-{escape(name)}\fR(1)", escape(command.summary)]
    lines += [".SH OPTIONS", *_options(group, root), *_exit_status()]
    return "\n".join(lines) + "\n"


def _head(title: str, summary: str) -> list[str]:
    return [
        f'.TH "{escape(title.upper())}" "1" "" "Imbrex {escape(__version__)}" "Imbrex"',
        ".ad l",
        ".nh",
        ".SH NAME",
        rf"{escape(title)} \- {escape(summary.rstrip('.'))}",
    ]


def _exit_status() -> list[str]:
    return [
        ".SH EXIT STATUS",
        escape(
            "0: done. 1: the answer falls short, where a command judges. 2: bad usage or input, "
            "in one line. Once a program was started, imbrex run exits as it did."
        ),
    ]


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            yield ".TP"
            yield rf"\fB{escape(record[0])}\fR"
            yield escape(record[1])


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help text; those behind \\b keep their lines."""
    for number, block in enumerate(re.split(r"\n\s*\n", inspect.cleandoc(text))):
        if number:
            yield ".PP"
        if block.startswith("\b"):
            yield from (".nf", *map(escape, block.split("\n")[1:]), ".fi")
        else:
            yield escape(" ".join(block.split()))


def escape(text: str) -> str:
    """A text as roff prints it as it is: a hyphen is one, and no line begins a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    text = re.sub(r",(?=\S)", r",\\:", text)  # where a list of names may be broken
    text = re.sub(r"[^\x00-\x7f]", lambda m: rf"\[u{ord(m[0]):04X}]", text)
    return re.sub(r"(?m)^\.", r"\\&.", text)
