"""Receives that one request and one array serve in turn, and indices that a scalar holds.

Each program that must stay differs from the case in what a receive needs of the one before it, in
what else sees the request or the array, or in what a send would leave as it was.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = (Path(__file__).parent / "cases" / "in_turn.f").read_text()
SECOND = """      IF (SOUTH .NE. -1) CALL MPI_IRECV(RB, 2*NY,
     &  MPI_DOUBLE_PRECISION, SOUTH, 2, MPI_COMM_WORLD, MID, IERR)
"""
WAIT = "        CALL MPI_WAIT(MID, STATUS, IERR)\n"
FIRST_WAIT = f"      IF (NORTH .NE. -1) THEN\n{WAIT}"
LAST_WAIT = f"      IF (SOUTH .NE. -1) THEN\n{WAIT}"
INDEX = "            AT = (J-1)*2 + M\n"
FIRST_PACK = f"{INDEX}            SB(AT) = A(M,NX,J)\n"
PACK = f"{INDEX}            SB(AT) = A(M,1,J)\n"
FIRST_UNPACK = f"{INDEX}            A(M,0,J) = RB(AT)\n"
UNPACK = f"{INDEX}            A(M,NX+1,J) = RB(AT)\n"
LOOPS = "        DO J = 1, NY\n          DO M = 1, 2\n"
END = f"{UNPACK}          END DO\n        END DO\n      END IF\n"
ARRAYS = "      DOUBLE PRECISION SB(2*NY), RB(2*NY)\n"
LONGER = {ARRAYS: ARRAYS.replace("RB(2*NY)", "RB(4*NY)")}  # than what comes
LOCALS = "      INTEGER J, M, AT, MID, IERR, STATUS(MPI_STATUS_SIZE)\n"
NOBODY = {"      NORTH = -1\n      SOUTH = -1\n": "      NORTH = MPI_PROC_NULL\n      SOUTH = -1\n"}
# name: (replacements, receives and sends that are under way around the step)
CASES: dict[str, tuple[dict[str, str], tuple[int, int]]] = {
    "both faces": ({}, (2, 2)),
    "read from its end": ({UNPACK: UNPACK.replace("RB(AT)", "RB(2*NY+1-AT)")}, (2, 2)),
    "by counts of one": ({PACK: PACK.replace("(J-1)*2 + M", "J*2 - 2 + M")}, (2, 2)),
    "the array is kept": ({ARRAYS: f"{ARRAYS}      SAVE RB\n"}, (0, 0)),
    "another array": (
        {
            ARRAYS: f"{ARRAYS}      DOUBLE PRECISION RC(2*NY)\n",
            SECOND: SECOND.replace("RB", "RC"),
            UNPACK: UNPACK.replace("RB(AT)", "RC(AT)"),
        },
        (2, 2),
    ),
    "waited for under another condition": (
        {LAST_WAIT: LAST_WAIT.replace("SOUTH .NE. -1", "SOUTH .GE. 0")},
        (1, 1),
    ),
    "the condition changes": (
        {SECOND: f"{SECOND}      IF (ME .EQ. 77) SOUTH = -1\n"},
        (1, 1),
    ),
    "read where it is not known": (
        {UNPACK: UNPACK.replace("  AT = ", "  IF (M .GT. 1) AT = ")},
        (2, 1),
    ),
    "read in any case": ({END: f"{END}      A(1,1,1) = A(1,1,1) + RB(1)\n"}, (1, 1)),
    "printed in any case": ({END: f"{END}      PRINT *, RB(1)\n"}, (0, 0)),
    "read before the wait": ({WAIT + LOOPS + UNPACK: LOOPS + UNPACK + WAIT}, (1, 1)),
    "less comes than is read": ({SECOND: SECOND.replace("2*NY", "NY")}, (1, 1)),
    "read beyond the end": ({UNPACK: UNPACK.replace("RB(AT)", "RB(AT+1)")}, (1, 1)),
    "from nobody": (
        {**NOBODY, "      IF (NORTH .NE. -1) CALL MPI_IRECV": "      CALL MPI_IRECV"},
        (1, 1),
    ),
    "the index is set now and then": (
        LONGER | {UNPACK: UNPACK.replace("  AT = ", "  IF (M .GT. 1) AT = ")},
        (1, 1),
    ),
    "the index runs on": (
        LONGER
        | {LOOPS + UNPACK: f"        AT = 0\n{LOOPS}{UNPACK.replace('(J-1)*2 + M', 'AT + 1')}"},
        (1, 1),
    ),
    "the index changes again": (
        LONGER | {UNPACK: UNPACK.replace(INDEX, f"{INDEX}            AT = AT + M\n")},
        (1, 1),
    ),
    "what the index is made of changes": (
        {UNPACK: UNPACK.replace("J-1", "N-1").replace(INDEX, f"{INDEX}            N = N + 1\n")}
        | {LOCALS: LOCALS.replace(" J,", " J, N,"), SECOND: f"      N = 1\n{SECOND}"},
        (1, 1),
    ),
    "from anybody": (
        {"SOUTH, 2, MPI_COMM_WORLD, MID": "MPI_ANY_SOURCE, 2,\n     &  MPI_COMM_WORLD, MID"},
        (0, 0),
    ),
    "with any tag": (
        {"SOUTH, 2, MPI_COMM_WORLD, MID": "SOUTH, MPI_ANY_TAG,\n     &  MPI_COMM_WORLD, MID"},
        (0, 0),
    ),
    "given by the name of an argument": (
        {LAST_WAIT: LAST_WAIT.replace("(MID, STATUS,", "(MID, STATUS=STATUS, IERROR=")},
        (2, 2),
    ),
    "the buffer is cut by the end of a line": (
        {UNPACK: UNPACK.replace("RB(", "R\n     &B(")},
        (1, 1),
    ),
    "what is sent is cut by the end of a line": (
        {PACK: PACK.replace("SB(", "S\n     &B(")},
        (2, 1),
    ),
    "cut by the end of a line": ({LAST_WAIT: LAST_WAIT.replace("(MID", "(MI\n     &D")}, (1, 1)),
    "the request is kept": ({LOCALS: f"{LOCALS}      SAVE MID\n"}, (0, 0)),
    "the request is shared": ({LOCALS: f"{LOCALS}      COMMON /Q/ MID\n"}, (0, 0)),
    "the request is looked at": ({SECOND: f"{SECOND}      IF (MID .EQ. 5) AT = 0\n"}, (0, 0)),
    "the arrays are one": (
        {ARRAYS: f"{ARRAYS}      EQUIVALENCE (SB(1), RB(1))\n"},
        (0, 0),
    ),
    "only some are sent anew": ({PACK: PACK.replace("  SB", "  IF (J .GT. 2) SB")}, (2, 1)),
    "with gaps": ({PACK: PACK.replace("(J-1)*2", "(J-1)*3")}, (2, 1)),
    "one over the other": ({PACK: PACK.replace("(J-1)*2", "(J-1)")}, (2, 1)),
    "from the third on": ({LOOPS + PACK: LOOPS.replace("1, NY", "2, NY") + PACK}, (2, 1)),
    "the second needs the first": ({PACK: PACK.replace("A(M,1,J)", "A(M,0,J)")}, (2, 1)),
    "a number of the first": (
        {
            FIRST_UNPACK: f"{FIRST_UNPACK}            T = RB(AT)\n",
            PACK: PACK.replace("A(M,1,J)", "A(M,1,J) + T"),
            ARRAYS: f"{ARRAYS}      DOUBLE PRECISION T\n",
        },
        (2, 1),
    ),
    "an error code of the first": (
        {
            f"{WAIT}{LOOPS}{FIRST_UNPACK}": f"{WAIT}        IF (IERR .NE. 0) STOP\n"
            f"{LOOPS}{FIRST_UNPACK}"
        },
        (1, 1),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_under_way(name: str, tmp_path: Path) -> None:
    replacements, (receives, sends) = CASES[name]
    path = tmp_path / "case.f"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    assert not outcome.skipped, outcome.skipped
    text = outcome.after[str(path)].decode().lower()
    start = text.partition("subroutine swap_start")[2].partition("\n      end\n")[0]
    assert (start.count("call mpi_irecv"), start.count("call mpi_isend")) == (receives, sends), text
    if sends < 2:
        return
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after[str(path)] == outcome.after[str(path)]
