"""The text table of transfer times: its faults are named, its values interpolated as documented."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

POINT = "point 1 1 2 3 4"
CLASS = "class 1 1 0 500 0 500 0 500 500 1000"
SHAKE = "handshake 1 3 500 7"
GOOD = f"imbrex-table 1;path self;{POINT};end"


def load(driver: Any, table: str, *script: str) -> list[str]:
    lines = ["table " + table, "limits 0 0 0 0 0 0 0", "threading 0", "part ", "init"]
    return list(driver.run([*lines, *script, "stop", "dump"]))


def error_of(output: list[str]) -> str | None:
    return next((line[6:] for line in output if line.startswith("error ")), None)


@pytest.mark.parametrize(
    "table",
    [
        GOOD,
        "",
        f"# made by hand;imbrex-table 1;;path inter-node # far;{POINT} # one;end;;",
        "imbrex-table 1;end",
        f"imbrex-table 1;progress 500000;path self;{POINT};end",
        f"imbrex-table 1;collective MPI_Nobody 2 any self;{POINT};end",
        f"imbrex-table 1;collective MPI_Bcast 2 root self;{POINT};"
        f"collective MPI_Bcast 2 other self;{POINT};end",
        "imbrex-table 1;path self;point 100 1 2 -1 -1;point 101 1 2 0 0;end",
        f"imbrex-table 1;path self;{POINT};{CLASS};class 9 -1 0 1000 0 1000 0 1000 0 1000;end",
        f"imbrex-table 1;path self;{POINT};{SHAKE};handshake 9 0 0 0;end",
    ],
)
def test_good_tables(driver: Any, table: str) -> None:
    assert error_of(load(driver, table)) is None


@pytest.mark.parametrize(
    ("table", "line", "says"),
    [
        ("hello", 1, "not a transfer-time table"),
        ("imbrex-table 2;end", 1, "version"),
        (f"imbrex-table 1;{CLASS};end", 2, "outside of a path"),
        (f"imbrex-table 1;path self;{POINT};{CLASS};{CLASS};end", 5, "classes must grow"),
        (f"imbrex-table 1;path self;{POINT};{CLASS} 1;end", 4, "expected: class"),
        (f"imbrex-table 1;path self;class 1 2{' 0 1' * 4};end", 3, "expected: class"),
        (f"imbrex-table 1;path self;class 1 1{' 1 0' * 4};end", 3, "expected: class"),
        (f"imbrex-table 1;path self;class 1 1{' 0 1001' * 4};end", 3, "expected: class"),
        (f"imbrex-table 1;collective MPI_Bcast 2 any self;{CLASS};end", 3, "outside of a path"),
        (f"imbrex-table 1;{SHAKE};end", 2, "outside of a path"),
        (f"imbrex-table 1;path self;{POINT};{SHAKE};{SHAKE};end", 5, "handshakes must grow"),
        (f"imbrex-table 1;path self;{POINT};{SHAKE} 1;end", 4, "expected: handshake"),
        (f"imbrex-table 1;path self;{POINT};handshake 1 4 0 0;end", 4, "expected: handshake"),
        (f"imbrex-table 1;path self;{POINT};handshake 1 1 -1 0;end", 4, "expected: handshake"),
        ("imbrex-table 1;path moon;end", 2, "expected: path"),
        (f"imbrex-table 1;{POINT};end", 2, "before any path"),
        (f"imbrex-table 1;path self;{POINT}", 3, "cut off"),
        ("imbrex-table 1;path self;end", 3, "no points"),
        (f"imbrex-table 1;path self;path intra-node;{POINT};end", 3, "no points"),
        (f"imbrex-table 1;path self;{POINT};path self;{POINT};end", 4, "before"),
        (f"imbrex-table 1;path self;{POINT};{POINT};end", 4, "sizes must grow"),
        ("imbrex-table 1;path self;point 1 5 4 0 0;end", 3, "greater"),
        ("imbrex-table 1;path self;point 1 1 4 0 0 5;end", 3, "least one-way time"),
        ("imbrex-table 1;path self;point 1 1 4 0 0 -1;end", 3, "expected: point"),
        ("imbrex-table 1;path self;point 1 1 4 0 0 1 1;end", 3, "expected: point"),
        ("imbrex-table 1;path self;point 1 -1 4 0 0;end", 3, "expected: point"),
        ("imbrex-table 1;path self;point 1 0.5 4 0 0;end", 3, "expected: point"),
        ("imbrex-table 1;path self;point 1 1 4 0;end", 3, "expected: point"),
        ("imbrex-table 1;path self;point 0 1 4 0 0;end", 3, "expected: point"),
        ("imbrex-table 1;path self;point 1 1 9999999999999999 0 0;end", 3, "expected: point"),
        ("imbrex-table 1;path self;point 1 1 99999999999999999999999 0 0;end", 3, "expected: poin"),
        (f"imbrex-table 1;collective MPI_Bcast 0 any self;{POINT};end", 2, "expected: collective"),
        (f"imbrex-table 1;collective MPI_Bcast 2 boss self;{POINT};end", 2, "expected: collective"),
        (f"imbrex-table 1;collective MPI_Bcast 2 any self;{POINT};"
         f"collective MPI_Bcast 2 any self;{POINT};end", 4, "before"),
        (f"{GOOD};more", 5, "after end"),
        ("imbrex-table 1;a b c d e f g h i j k l m;end", 2, "too many words"),
        ("imbrex-table 1;progress;end", 2, "expected: progress"),
        ("imbrex-table 1;progress 0;end", 2, "expected: progress"),
        ("imbrex-table 1;progress 1 2;end", 2, "expected: progress"),
        ("imbrex-table 1;progress 1;progress 1;end", 3, "before"),
        ("imbrex-table 1;perhaps;end", 2, 'unknown word "perhaps"'),
    ],
)  # fmt: skip
def test_faults_are_named_and_leave_no_table(driver: Any, table: str, line: int, says: str) -> None:
    output = load(driver, table, "0 enter 1 1", "0 blocking 1 1 0 0 0 0 0", "0 leave")
    error = error_of(output)
    assert error is not None and says in error
    assert error.startswith(f"transfer-time table, line {line}: ")
    row = next(line for line in output if line.startswith("row")).split(" ")
    assert row[-2] == "1"  # uncalibrated


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_tables_never_break_the_parser(driver: Any, data: st.DataObject) -> None:
    words = ["imbrex-table", "1", "path", "self", "point", "end", "collective", "MPI_Bcast",
             "any", "-1", "2", ";", ";", " ", "#", "\t", "\r", "18446744073709551617",
             "é"]  # fmt: skip
    noise = st.lists(st.sampled_from(words), max_size=60).map(" ".join)
    cut = st.integers(0, len(GOOD)).map(lambda n: GOOD[:n])
    swapped = st.tuples(st.integers(0, len(GOOD) - 1), st.sampled_from("0 -;ep#")).map(
        lambda t: GOOD[: t[0]] + t[1] + GOOD[t[0] + 1 :]
    )
    table = data.draw(st.one_of(noise, cut, swapped))
    output = load(driver, table)
    error = error_of(output)
    assert error is None or "\n" not in error


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    points=st.dictionaries(
        st.integers(1, 1 << 34),
        st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40)),
        min_size=1,
        max_size=12,
    ),
    sizes=st.lists(st.integers(1, 1 << 62), min_size=1, max_size=8),
)
def test_interpolation_is_exact(
    driver: Any,
    reference: ModuleType,
    points: dict[int, tuple[int, int]],
    sizes: list[int],
) -> None:
    curve = [(s, min(v), max(v), -1, -1) for s, v in sorted(points.items())]
    table = reference.Table({2: curve})
    longest = 1 << 50
    for near in (-1, 0, 1):
        sizes = sizes + [s + near for s in list(points)[:3] if s + near > 0]
    for size in sizes:
        output = load(
            driver,
            table.text(["MPI_Other"]).replace("\n", ";"),
            "0 enter 1 1", f"0 blocking {size} 2 0 0 0 0 0", "0 leave",
        )  # fmt: skip
        row = next(line for line in output if line.startswith("row")).split(" ")
        time = reference.interpolate(curve, size)
        assert [int(row[10]), int(row[11])] == [min(time.lo, longest), min(time.hi, longest)]
