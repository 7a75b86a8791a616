"""The `imbrex` command: dispatch, and errors as one line."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import signal
import sys

import click
from click.shell_completion import CompletionItem

from imbrex import __version__
from imbrex.cli.commands import COMMANDS, GROUPS
from imbrex.cli.terminal import leave, open_streams
from imbrex.errors import ImbrexError

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"]}


class LazyGroup(click.Group):
    """A group that imports a subcommand's module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module_name, attribute = COMMANDS[cmd_name].target.split(":")
        command = getattr(importlib.import_module(module_name), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand, or the nearest ones to a name that there is not."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], COMMANDS, n=3, cutoff=0.6)
            if not near or args[0].startswith("-"):
                raise
            message = f"no such command '{args[0]}'; did you mean {' or '.join(near)}?"
            raise click.UsageError(message, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in their groups, without importing one."""
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name, command.summary) for name, command in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without importing one."""
        found = [
            CompletionItem(name, help=command.summary)
            for name, command in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand. A reader that has gone (head, less) is no fault of ours."""
        try:
            result: object = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            leave(sys.stdout)
            return None
        return result


@click.group(cls=LazyGroup, context_settings=CONTEXT_SETTINGS)
@click.version_option(__version__, prog_name="imbrex")
def cli() -> None:
    """Communication-computation overlap in MPI programs: measure it, predict it, obtain it."""


def main() -> None:
    """Run the command line; bad usage and bad input become one line on stderr and exit code 2."""
    open_streams()
    try:
        code = cli.main(prog_name="imbrex", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        code = 0
    except click.ClickException as error:
        _complain(_usage_line(error))
        code = 2
    except ImbrexError as error:
        _complain(f"imbrex: {error}")
        code = 2
    except OSError as error:  # of a file that no command looked after, or of our own output
        leave(sys.stdout)
        where = f"{error.filename}: " if error.filename else ""
        _complain(f"imbrex: {where}{error.strerror}")
        code = 2
    except click.Abort:  # Ctrl-C, before or beside the user's program
        code = 128 + signal.SIGINT
    sys.exit(code if isinstance(code, int) else 0)


def _complain(line: str) -> None:
    with contextlib.suppress(OSError):
        click.echo(" ".join(line.split()), err=True)


def _usage_line(error: click.ClickException) -> str:
    """What click says in several lines: `imbrex show: missing argument 'DIR' (see ...)`."""
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    if isinstance(context, click.Context):
        command = context.command_path
    else:
        command = " ".join(
            ["imbrex", *(argument for argument in sys.argv[1:2] if argument in COMMANDS)]
        )
    return f"{command}: {message[:1].lower()}{message[1:]} (see {command} --help)"
