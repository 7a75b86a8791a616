"""Hooks in place of their calls: where accesses are counted, and what is left alone."""

from __future__ import annotations

import pytest

from imbrex.recorder.hooks import inlined

BEGIN, END = ["\t.cfi_startproc"], ["\tret", "\t.cfi_endproc"]


def text(*body: str) -> list[str]:
    return inlined([*BEGIN, *body, *END])


def counts(lines: list[str]) -> list[int]:
    """What is added to the count of accesses, in order."""
    return [int(line.split("$")[1].split(",")[0]) for line in lines if "\taddq" in line]


def later(lines: list[str]) -> list[int]:
    """How many accesses of its run each call is told to be still to come."""
    return [int(line.split("$")[1].split(",")[0]) for line in lines if line.endswith(", %esi")]


def test_a_straight_run_is_counted_once() -> None:
    lines = text(
        "\tcall\t__tsan_read8@PLT",
        "\tmovsd\t(%rbx), %xmm0",
        ".LVL3:",
        "\t.loc 1 7 3 is_stmt 0 view .LVU9",
        "\tcall\t__tsan_read4",
        "\tcall\t*__tsan_write8@GOTPCREL(%rip)",
    )
    assert counts(lines) == [3]
    assert later(lines) == [2, 1, 0]
    assert not any("__tsan" in line for line in lines)
    # Calls stand behind the function's code, on their own source line, and lead back.
    ret = lines.index("\tret")
    calls = [at for at, line in enumerate(lines) if line.startswith("\tcall")]
    assert [lines[at] for at in calls] == [
        f"\tcall\timbrex_access_{name}@PLT" for name in ("source8", "read4", "copy8")
    ]
    assert min(calls) > ret
    assert lines[calls[1] - 2] == "\t.loc 1 7 3 is_stmt 0"
    for at in calls:
        # The register that the rest of the run counts on is as it was.
        assert lines[at + 1].endswith("%r11")
        assert lines[at + 2].split()[1] + ":" in lines[:ret]


@pytest.mark.parametrize(
    "between",
    [".L7:", "\tjne\t.L7", "\tcall\tf@PLT", "#APP", "\tcall\t__tsan_read_range@PLT", "main:"],
)
def test_a_run_ends_where_others_may_enter_or_leave(between: str) -> None:
    lines = text("\tcall\t__tsan_read8@PLT", between, "\tcall\t__tsan_read8@PLT")
    assert counts(lines) == [1, 1]
    assert later(lines) == [0, 0]
    assert between in lines


@pytest.mark.parametrize(("between", "loads"), [("\tmovq\t%rax, %r10", 1), ("\tincl\t%r11d", 2)])
def test_where_lines_are_marked_is_loaded_once_if_nothing_else_is_there(
    between: str, loads: int
) -> None:
    lines = text("\tcall\t__tsan_read8@PLT", between, "\tcall\t__tsan_read8@PLT")
    hot = lines[: lines.index("\tret")]
    assert sum(line.endswith("%r11") and "GOTPCREL" in line for line in hot) == loads


def test_entries_and_exits_of_functions_vanish() -> None:
    lines = text("\tcall\t__tsan_func_entry@PLT", "\tnop", "\tjmp\t__tsan_func_exit@PLT")
    assert lines == [*BEGIN, "\tnop", "\tret", *END]


def test_what_may_cross_a_line_asks_at_both_ends() -> None:
    assert sum("cmpb" in line for line in text("\tcall\t__tsan_unaligned_write8@PLT")) == 2
    assert sum("cmpb" in line for line in text("\tcall\t__tsan_read16@PLT")) == 2
    assert sum("cmpb" in line for line in text("\tcall\t__tsan_read8@PLT")) == 1


def test_a_line_that_holds_something_communicated_is_asked_for_the_word() -> None:
    lines = text("\tcall\t__tsan_read4@PLT", "\tcall\t__tsan_write4@PLT")
    ret = lines.index("\tret")
    leaves = [line.split()[1] for line in lines[ret:] if line.startswith("\tjnc\t")]
    assert [f"{leave}:" in lines[:ret] for leave in leaves] == [True, True]
    # What may be a copy of what was just unpacked is told whatever word it goes to: also behind the
    # question for the word.
    (pending,) = (at for at, line in enumerate(lines) if "cmpq\t$0" in line)
    assert lines.index(f"{leaves[0]}:") < lines.index(f"{leaves[1]}:") < pending
    target = lines.index(lines[pending + 1].split()[1] + ":")
    assert target > lines.index("\tjnc\t" + leaves[1])
    # What may touch several words is always told.
    for name in ("unaligned_read8", "write16"):
        assert not any("\tjnc" in line for line in text(f"\tcall\t__tsan_{name}@PLT"))


def test_the_last_read_before_a_write_of_its_size_may_be_copied() -> None:
    lines = text(
        "\tcall\t__tsan_read8@PLT",
        "\tcall\t__tsan_read8@PLT",
        "\tcall\t__tsan_read4@PLT",
        "\tcall\t__tsan_write8@PLT",
        "\tcall\t__tsan_write4@PLT",
        "\tcall\t__tsan_unaligned_write8@PLT",
    )
    called = [line.split("_")[-1] for line in lines if line.startswith("\tcall")]
    names = ("read8", "source8", "source4", "copy8", "copy4", "write8")
    assert called == [f"{name}@PLT" for name in names]
    # A source is remembered before it is asked for, so that a late call comes back behind it.
    assert sum("source8_at@gottpoff" in line for line in lines) == 1
    assert sum("pending@gottpoff" in line for line in lines) == 2


@pytest.mark.parametrize(
    "lines",
    [
        ["\t.intel_syntax noprefix", *BEGIN, "\tcall\t__tsan_read8@PLT", *END],
        # Without unwind tables nothing says where a function ends.
        ["\tcall\t__tsan_read8@PLT", "\tret"],
        [*BEGIN, "\tjmp\t__tsan_write8@PLT", *END],
        [*BEGIN, '\t.string\t"__tsan_read8"', *END],
    ],
)
def test_what_is_not_understood_stays(lines: list[str]) -> None:
    assert inlined(list(lines)) == lines
