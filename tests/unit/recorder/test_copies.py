"""Copies one level, in the shadow of memory alone: no MPI, the program calls the table itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.recorder.hook_library import ACCESS, build_hook_library

from imbrex.recorder import assembler
from imbrex.recorder.linking import wrapped_intrinsics

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
BACKWARDS = " 7 6 5 4 3 2 1 0"


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def lines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the program prints, with hooks in place of their calls."""
    folder = tmp_path_factory.mktemp("copies")
    flags = ["-std=c11", "-D_GNU_SOURCE", f"-I{ACCESS.parent}"]
    build_hook_library(folder)
    (folder / "as").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "{assembler.__file__}" as "$@"\n'
    )
    (folder / "as").chmod(0o755)
    copies = ("memcpy", "memmove", "memset")
    names = [*copies, *wrapped_intrinsics()]
    subprocess.run(
        [
            *("gcc", f"-B{folder}/", f"-L{folder}", *flags, request.param, "-g"),
            *("-fsanitize=thread", "-static-libtsan", *(f"-fno-builtin-{name}" for name in copies)),
            *("-Wl," + ",".join(f"--wrap={name}" for name in names), str(HERE / "copies.c")),
            *("-o", str(folder / "copies")),
        ],
        check=True,
        env=os.environ,
    )
    done = subprocess.run([folder / "copies"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_what_is_packed_was_written_at_its_origin(lines: list[str]) -> None:
    assert lines[: lines.index("--")] == [
        f"loop:{BACKWARDS}",
        "arithmetic: direct",
        f"memcpy:{BACKWARDS}",
        "memcpy, one written again: direct",
        f"elements of 16 bytes:{BACKWARDS}",
        f"elements of 4 bytes:{BACKWARDS}",
        f"structure:{BACKWARDS}",
        f"by MPI:{BACKWARDS}",
    ]


def test_what_is_unpacked_is_read_where_it_went(lines: list[str]) -> None:
    unread = " unread" * 8
    assert lines[lines.index("--") + 1 :] == [
        f"loop:{BACKWARDS}",
        "only read: direct",
        f"memmove, not yet read:{unread}",
        f"memmove:{BACKWARDS}",
        "one written before it is read: 6 5 overwritten 4 3 2 1 0",
        f"memory used again:{BACKWARDS}",
        "first read: kept",
        f"structure:{BACKWARDS}",
    ]
