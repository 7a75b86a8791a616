"""Plain code beside recorded code: which names both share, and what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from imbrex.recorder.assembler import _with_plain
from imbrex.recorder.duplicates import NotDuplicatedError, with_plain_code

ENTRY = ["\t.cfi_startproc", "\tendbr64"]
END = "\t.cfi_endproc"


def text(body: list[str], variables: list[str], file: str = '\t.file 1 "a.c"') -> list[str]:
    """An assembler file as gcc writes one: a function `step`, then variables."""
    return [
        '\t.file\t"a.c"', "\t.text", ".Ltext0:", file, "\t.globl\tstep",
        "\t.type\tstep, @function", "step:", ".LFB0:", *ENTRY, *body, "\tret", END,
        "\t.size\tstep, .-step", *variables, "\t.text", ".Letext0:",
    ]  # fmt: skip


def variable(name: str, size: int = 4) -> list[str]:
    return [f"\t.local\t{name}", f"\t.comm\t{name},{size},4"]


RECORDED = text(
    ["\t.loc 1 5 3", "\tcall\t__tsan_write4@PLT", "\tcall\tMPI_Send@PLT", ".L2:", "\tjmp\t.L2"],
    variable("count.0"),
)
PLAIN = text(
    ["\t.loc 1 5 3 view .LVU1", "\tmovl\t$1, count.0(%rip)", "\tcall\tMPI_Send@PLT",
     ".L2:", "\tjmp\t.L2", "\tcall\tstep", "\tcall\tpart.0"],
    ["\t.type\tpart.0, @function", "part.0:", "\tret", *variable("count.0")],
)  # fmt: skip


def test_both_codes_share_variables_and_the_entry() -> None:
    lines = with_plain_code(RECORDED, PLAIN)
    assert lines.count("\t.comm\tcount.0,4,4") == 1
    assert lines.count("step:") == lines.count("step.imbrex_plain:") == 1
    at = lines.index("step:")
    assert lines[at : at + 7] == [
        "step:", ".LFB0:", *ENTRY, "\tmovq\timbrex_access_plain@GOTPCREL(%rip), %r11",
        "\tcmpl\t$0, (%r11)", "\tjne\tstep.imbrex_plain",
    ]  # fmt: skip
    # Labels and functions of the plain code alone have names of their own, calls within it too.
    assert lines.count(".L2:") == lines.count(".Limbrex_plain_2:") == 1
    assert "\tjmp\t.Limbrex_plain_2" in lines
    assert "part.0.imbrex_plain:" in lines and "\tcall\tpart.0.imbrex_plain" in lines
    assert "\tcall\tstep.imbrex_plain" in lines
    # Nobody else sees the plain code.
    assert lines.count("\t.globl\tstep") == 1


def test_a_call_has_the_same_place_in_both_codes() -> None:
    lines = with_plain_code(RECORDED, PLAIN)
    table = [line for line in lines if line.startswith("\t.quad\t.Limbrex_site")]
    assert len(table) == 2
    assert len({line.split(", ")[1] for line in table}) == 1
    other = [line.replace("\t.loc 1 5 3 view", "\t.loc 1 6 3 view") for line in PLAIN]
    table = [line for line in with_plain_code(RECORDED, other) if line.startswith("\t.quad")]
    assert len({line.split(", ")[1] for line in table}) == 2


def test_source_files_keep_their_numbers_apart() -> None:
    other = [line.replace('1 "a.c"', '1 "b.h"') for line in PLAIN]
    lines = with_plain_code(RECORDED, other)
    assert '\t.file 2 "b.h"' in lines
    assert "\t.loc 2 5 3" in lines


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        (variable("count.1"), "its variables are not the same in both, as count.1"),
        (variable("count.0", 8), "its variables are not the same in both, as count.0"),
        ([*variable("count.0"), *variable("more.1")], "as more.1"),
        ([*variable("count.0"), "\t.section\t.gcc_except_table"], "it catches exceptions"),
        ([*variable("count.0"), "\t.pushsection x"], "it has assembler of its own"),
    ],
)
def test_what_may_differ_is_refused(variables: list[str], reason: str) -> None:
    with pytest.raises(NotDuplicatedError, match=reason):
        with_plain_code(RECORDED, text([], variables))


def test_variables_in_another_order_are_refused() -> None:
    """Statics of one name in two functions are told apart by numbers, given in order."""
    one, two = variable("n.0"), variable("n.1")
    with pytest.raises(NotDuplicatedError, match="not the same in both"):
        with_plain_code(text([], [*one, *two]), text([], [*two, *one]))


def test_a_function_without_calls_keeps_one_code() -> None:
    """Its callers may not align the stack for another."""
    lines = with_plain_code(text(["\tnop"], []), text(["\tnop"], []))
    assert "step.imbrex_plain:" in lines
    assert "\tjne\tstep.imbrex_plain" not in lines


def test_what_is_refused_is_told_and_stays_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.s").write_text("\n".join(text([], variable("other"))))
    monkeypatch.setenv("IMBREX_PLAIN_TEXT", str(tmp_path / "plain.s"))
    assert _with_plain(RECORDED) == RECORDED
    assert capsys.readouterr().err == (
        "imbrex: no plain code beside the recorded one: its variables are not the same in both, "
        "as other\n"
    )


SOURCE = """
#include <stdio.h>
int imbrex_access_plain;
static int calls;
static const int table[] = {3, 1, 4, 1, 5};
int MPI_Send(int x) { return x; }
static int next(void) { static int n; return ++n; }
static int again(void) { static int n = 100; return n += 2; }
int step(int i) { calls++; return MPI_Send(table[i % 5] + next() * again()); }
int (*pointer)(int) = step;
int main(void) {
    long sum = 0;
    for (int i = 0; i < 20; i++) {
        imbrex_access_plain = i % 3 == 1;
        sum += pointer(i) + (pointer == step);
    }
    printf("%ld %d\\n", sum, calls);
}
"""


def test_a_program_that_changes_code_all_the_time_computes_the_same(tmp_path: Path) -> None:
    """The recorded text stands for itself here: compiled like the plain one, less optimized."""
    from imbrex.recorder.duplicates import SAME_FUNCTIONS

    (tmp_path / "a.c").write_text(SOURCE)
    for name, level in (("one", "-O1"), ("two", "-O2")):
        line = ["gcc", "-g", level, *SAME_FUNCTIONS, "-fno-inline", "-S", "a.c", "-o", f"{name}.s"]
        subprocess.run(line, cwd=tmp_path, check=True)
    one, two = ((tmp_path / f"{n}.s").read_text().split("\n") for n in ("one", "two"))
    (tmp_path / "both.s").write_text("\n".join(with_plain_code(one, two)))
    outputs = []
    for file in ("a.c", "both.s"):
        subprocess.run(["gcc", file, "-o", "app"], cwd=tmp_path, check=True)
        done = subprocess.run(["./app"], cwd=tmp_path, capture_output=True, text=True, check=True)
        outputs.append(done.stdout)
    symbols = subprocess.run(["nm", tmp_path / "app"], capture_output=True, text=True).stdout
    assert "step.imbrex_plain" in symbols and "next.imbrex_plain" in symbols
    assert outputs[0] == outputs[1]
