"""What a site installs for production: one object to preload, and the module that does it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.untimed

TCP = {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "tcp,self"}


@pytest.fixture
def preloaded(mpi, production, compiled, tmp_path):
    """Start programs/helped.c with what the module file says, in an empty folder."""
    module = (production / "share" / "modulefiles" / "imbrex-progress").read_text()
    assert module.startswith("#%Module")
    found = re.findall(r"^prepend-path LD_PRELOAD (\S+)$", module, re.MULTILINE)
    assert len(found) == 1 and Path(found[0]).is_file()

    def run(scenario: str, **variables: str) -> subprocess.CompletedProcess[str]:
        binding = ["--bind-to", "none"] if mpi.name == "openmpi" else []
        done = subprocess.run(
            [mpi.mpirun, *binding, "-n", "2", str(compiled("helped")), scenario],
            cwd=tmp_path,
            env={**os.environ, **TCP, "LD_PRELOAD": found[0], **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert list(tmp_path.iterdir()) == []
        return done

    return run


def test_data_moves_and_nothing_is_measured(preloaded):
    done = preloaded("message")
    assert done.stdout.split("\n")[:2] == ["moved", "right"], done.stderr
    assert done.returncode == 0


def test_an_interval_can_be_said(preloaded):
    done = preloaded("message", IMBREX_PROGRESS="1000", IMBREX_PROGRESS_TELL="1")
    assert done.stdout.split("\n")[:2] == ["moved", "right"], done.stderr
    assert done.stderr.count("interval 1000 us") == 2


@pytest.mark.parametrize("variable", ["IMBREX_PROGRESS", "IMBREX_DISABLE"])
def test_one_program_can_be_started_without(preloaded, variable):
    value = {"IMBREX_PROGRESS": "off", "IMBREX_DISABLE": "1"}[variable]
    done = preloaded("message", HELPED_WAIT_S="0.3", IMBREX_PROGRESS_TELL="1", **{variable: value})
    assert done.stdout.split("\n")[:2] == ["not moved", "right"], done.stderr
    assert "progress thread" not in done.stderr


def test_programs_without_mpi_do_nothing_with_it(production):
    library = production / "lib" / "libimbrex-progress.so"
    done = subprocess.run(
        ["sh", "-c", "echo well"],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("well\n", "", 0)
