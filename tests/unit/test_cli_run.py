"""The command line of `imbrex run`, before anything is looked for."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from imbrex.cli import cli
from imbrex.errors import ImbrexError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command: write it after --"),
        (["--"], "no command: write it after --"),
        (["--verbos", "--", "mpirun", "./app"], "no such option: --verbos"),
        (["-x", "mpirun", "./app"], "no such option: -x"),
    ],
)
def test_a_line_without_a_program_is_refused_as_what_it_is(words, message):
    with pytest.raises(ImbrexError, match=message):
        CliRunner().invoke(cli, ["run", *words], catch_exceptions=False)
