"""`imbrex cc`, `imbrex cxx` and `imbrex fc`: MPI compilers, with every access recorded."""

from __future__ import annotations

import sys

import click

from imbrex.cli.parameters import LAUNCHER
from imbrex.recorder.compilers import compile_recorded

_HELP = """\
The MPI {purpose} compiler, with accesses to memory recorded.

Write it where the compiler's name stands, as in `make {variable}='imbrex {name}'`: every argument
goes to the compiler. What is built computes what it did before, and `imbrex run --record` and
`imbrex run --guard` can then tell when each element of a message is written and read. The program
runs slower; beside it stands PROGRAM.plain, built without recording, which is what is timed.

These options are Imbrex's own and stand first:

\b
{duplicate}  --compiler=COMPILER  the MPI compiler to call [{default}; or $IMBREX_{upper}]
  --mpicc=MPICC        the mpicc of the same MPI [the one beside it; or $IMBREX_MPICC]

`imbrex {name} --help` goes on with the help of the compiler itself.
"""


_DUPLICATE = """\
  --duplicate          plain code beside the recorded code, for run --times switched (gcc, gfortran)
"""


def _command(name: str, purpose: str, variable: str, default: str) -> click.Command:
    text = _HELP.format(
        duplicate="" if name == "cxx" else _DUPLICATE,
        purpose=purpose,
        variable=variable,
        name=name,
        default=default,
        upper=name.upper(),
    )

    @click.command(
        name=name,
        context_settings={"ignore_unknown_options": True, "help_option_names": []},
        add_help_option=False,
        options_metavar="",
        help=text,
    )
    @click.argument("arguments", nargs=-1, type=LAUNCHER)
    @click.pass_context
    def command(context: click.Context, arguments: tuple[str, ...]) -> None:
        if arguments == ("--help",):
            click.echo(context.get_help() + "\n")
        say = lambda line: click.echo(f"imbrex {name}: {line}", err=True)  # noqa: E731
        sys.exit(compile_recorded(name, arguments, say))

    return command


cc = _command("cc", "C", "CC", "mpicc")
cxx = _command("cxx", "C++", "CXX", "mpicxx")
fc = _command("fc", "Fortran", "FC", "mpifort")
