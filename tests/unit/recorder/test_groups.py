"""Accesses that lie near each other are asked for in one question."""

from __future__ import annotations

import pytest

from imbrex.recorder.hooks import inlined

READ, WRITE = "\tcall\t__tsan_read8@PLT", "\tcall\t__tsan_write8@PLT"
UPDATE = [
    "\tmovq\t%rbx, %rdi",
    READ,
    "\tleaq\t8(%rbx), %rdi",
    "\tmovsd\t(%rbx), %xmm0",
    WRITE,
    "\tmovsd\t%xmm0, 8(%rbx)",
]


def hot(lines: list[str]) -> list[str]:
    """What stands in the run's place, without what is far from it."""
    found = inlined(["\t.cfi_startproc", *lines, "\tret", "\t.cfi_endproc"])
    return found[: found.index("\tret")]


def compares(lines: list[str]) -> list[str]:
    return [line.split("\t")[1] for line in hot(lines) if "(%r11,%rax)" in line]


def test_neighbours_are_asked_for_together() -> None:
    text = [line.split("\t", 1)[-1] for line in hot(UPDATE)[1:]]
    assert text[0] == "movq\timbrex_access_clock@gottpoff(%rip), %rax"
    assert text[1] == "addq\t$2, %fs:(%rax)"
    # A write that may be a copy wants to know whether one is awaited: so far.
    assert text[3] == "cmpq\t$0, %fs:(%rax)" and text[4].startswith("jne\t.Limbrex_copy")
    assert text[6:9] == ["leal\t0(%rbx), %eax", "shrl\t$5, %eax", "cmpw\t$0, (%r11,%rax)"]
    assert text[10:12] == ["movsd\t(%rbx), %xmm0", ".Limbrex_done0:"]


@pytest.mark.parametrize(
    ("offset", "found"),
    [
        # 32 bytes touch two lines at most, wherever they begin; 33 touch three, 97 four, 98 five.
        (24, ["cmpw"]),
        (26, ["cmpl"]),
        (89, ["cmpl"]),
        (90, ["cmpq"]),
        (-91, ["cmpq"]),
        (217, ["cmpq"]),
        (218, ["cmpb", "cmpb"]),
        (-218, ["cmpb", "cmpb"]),
    ],
)
def test_so_many_lines_are_compared_as_may_be_touched(offset: int, found: list[str]) -> None:
    assert compares(
        [line.replace("8(%rbx), %rdi", f"{offset}(%rbx), %rdi") for line in UPDATE]
    ) == (found)


@pytest.mark.parametrize(
    "between",
    [
        # The second address is not the first but for a constant,
        "\tmovq\t8(%rbx), %rbx",
        "\taddq\t%r12, %rbx",
        "\taddl\t$8, %ebx",
        # or not certain to be, or an instruction has no copy.
        "\txchgq\t%rbx, %r12",
        "\tpopq\t%rbx",
        "\t.cfi_remember_state",
        ".LEHB3:",
    ],
)
def test_accesses_that_are_asked_for_one_by_one(between: str) -> None:
    assert compares([*UPDATE[:2], between, *UPDATE[2:]]) == ["cmpb", "cmpb"]


@pytest.mark.parametrize("between", ["\taddq\t$16, %rbx", "\tmovsd\t(%rbx), %xmm1", ".LVL7:"])
def test_harmless_instructions_between_them(between: str) -> None:
    assert compares([*UPDATE[:2], between, *UPDATE[2:]]) == ["cmpw"]


def test_an_access_elsewhere_is_asked_for_by_itself_and_goes_on_in_the_copy() -> None:
    lines = [*UPDATE[:2], "\tmovq\t(%r12), %rdi", READ, *UPDATE[2:]]
    assert sorted(compares(lines)) == ["cmpb", "cmpw"]
    found = inlined(["\t.cfi_startproc", *lines, "\tret", "\t.cfi_endproc"])
    far = found[found.index("\tret") :]
    # Behind a call of the recorder marks may be others: to the copy's place behind that access.
    copied = [line[:-1] for line in far if line.startswith(".Limbrex_back")]
    calls = [at for at, line in enumerate(far) if line.startswith("\tcall\timbrex")]
    assert len(calls) == 4
    assert {far[at + 2].split("\t")[2] for at in calls} == set(copied)


def test_what_a_hook_changes_is_no_part_of_the_question() -> None:
    for name in ("rax", "r11", "r8"):
        lines = [line.replace("%rbx", f"%{name}") for line in UPDATE]
        assert compares(lines) == ["cmpb", "cmpb"]


@pytest.mark.parametrize("between", ["\t.cfi_remember_state", ".LEHB3:"])
def test_a_run_is_not_copied_with_what_may_be_there_once_only(between: str) -> None:
    another = ["\tmovq\t%r12, %rdi", READ]
    assert compares([*UPDATE, *another]) == ["cmpw", "cmpb"]
    assert compares([*UPDATE, between, *another]) == ["cmpb", "cmpb", "cmpb"]
