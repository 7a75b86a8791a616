"""The reference page of all commands, made from the commands themselves."""

from __future__ import annotations

from importlib import import_module

import click

from imbrex.cli.commands import GROUPS

_WIDTH = 98
_HELP = ["-h", "--help"]
"""What the group gives its commands; click keeps the first that it was asked for."""
_INTRODUCTION = """# Commands

Every command and option, as `--help` says them (`python docs/generate.py` writes this page). Exit
codes: 0 is success, 1 the answer "falls short" where a command judges, 2 bad usage or input before
anything was started. Once your program has started, `imbrex run` exits as the program did.
"""


def commands_page() -> str:
    """The Markdown of docs/reference/commands.md."""
    parts = [_INTRODUCTION]
    for group, commands in GROUPS.items():
        parts.append(f"## {group}\n")
        for name, entry in commands.items():
            module, _, attribute = entry.target.partition(":")
            command: click.Command = getattr(import_module(module), attribute)
            with click.Context(
                command,
                info_name=f"imbrex {name}",
                terminal_width=_WIDTH,
                max_content_width=_WIDTH,
                help_option_names=command.context_settings.get("help_option_names", _HELP),
            ) as context:
                text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
            parts.append(f"### imbrex {name}\n\n```\n{text}\n```\n")
    return "\n".join(parts)
