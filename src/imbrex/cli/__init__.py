"""The `imbrex` command: dispatch, and errors as one line."""

from __future__ import annotations

import importlib
import os
import sys

import click

from imbrex import __version__
from imbrex.cli.commands import COMMANDS
from imbrex.errors import ImbrexError

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"]}


class LazyGroup(click.Group):
    """A group that imports a subcommand's module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module_name, attribute = target.split(":")
        command = getattr(importlib.import_module(module_name), attribute)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings=CONTEXT_SETTINGS)
@click.version_option(__version__, prog_name="imbrex")
def cli() -> None:
    """Communication-computation overlap in MPI programs: measure it, predict it, obtain it."""


def main() -> None:
    """Run the command line; an ImbrexError becomes one line on stderr and exit code 2."""
    try:
        cli.main(standalone_mode=True)
    except ImbrexError as error:
        click.echo(f"imbrex: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output has gone (head, less): nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
