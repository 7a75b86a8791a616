"""Hooks that loops ask for many rounds ahead: which loops, and that nothing is seen otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.recorder.hook_library import ACCESS, REGISTERS, build_hook_library

from imbrex.recorder import assembler
from imbrex.recorder.addresses import Moving, Sum, moving_addresses
from imbrex.recorder.hooks import inlined
from imbrex.recorder.linking import wrapped_intrinsics

HERE = Path(__file__).resolve().parent
READ, WRITE = "\tcall\t__tsan_read8@PLT", "\tcall\t__tsan_write8@PLT"
HOOK = [READ]
WRAPS = "-Wl," + ",".join(
    f"--wrap={name}" for name in ("memcpy", "memmove", "memset", *wrapped_intrinsics())
)
CPU = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
KEPT = """
#include "access/access.h"
typedef double vector __attribute__((vector_size(8 * WIDTH), aligned(8)));
extern ixa_memory_t *imbrex_access_memory;
double a[64];
long b[64];
__attribute__((noinline)) double values(double *from, long *more, long x, long y, long z)
{
    vector p = *(vector *)(from + 1), q = p * 3, r = p + q, s = p * q;
    long c = x * y, d = y ^ z, e = x + 3 * z;
    double first = *from;
    more[0] = x;
    more[1] += y;
    double second = from[5] + first;
    more[2] += z * c + d * e + x;
    r += s * p - q / r;
    double all = second + more[3];
    for (int i = 0; i < WIDTH; i++)
        all += r[i] * (i + 1);
    return all + c * 2 + d * 3 + e * 5 + x * 7 + y * 11 + z * 13;
}
static int called;
/* The recorder calls it, and it changes what it may. */
__attribute__((no_sanitize("thread"))) static void forbidden(uintptr_t a, size_t n, int w,
                                                             const void *code)
{
    called += code >= (void *)values;
#if WIDTH > 2
    __asm__ volatile("vzeroall");
#endif
#if WIDTH > 4
    __asm__ volatile("vpxorq %%zmm20, %%zmm20, %%zmm20; kxorq %%k1, %%k1, %%k1; kxorq %%k2, %%k2, "
                     "%%k2" ::: "xmm20", "k1", "k2");
#endif
    __asm__ volatile("xorl %%ecx, %%ecx; xorl %%edx, %%edx; xorl %%esi, %%esi; xorl %%r8d, %%r8d\\n"
                     "xorps %%xmm0, %%xmm0; xorps %%xmm1, %%xmm1; xorps %%xmm2, %%xmm2\\n"
                     "xorps %%xmm3, %%xmm3; xorps %%xmm4, %%xmm4; xorps %%xmm5, %%xmm5\\n"
                     "xorps %%xmm6, %%xmm6; xorps %%xmm7, %%xmm7; xorps %%xmm8, %%xmm8" ::
                         : "rcx", "rdx", "rsi", "r8", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                           "xmm5", "xmm6", "xmm7", "xmm8");
}
int main(void)
{
    double found[2];
    imbrex_access_memory->forbidden = forbidden;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 64; i++) {
            a[i] = i + 1;
            b[i] = i * i;
        }
        if (round) {
            imbrex_access_memory->watch((uintptr_t)a, sizeof a);
            imbrex_access_memory->arm((uintptr_t)a, sizeof a);
            imbrex_access_memory->watch((uintptr_t)b, sizeof b);
            imbrex_access_memory->arm((uintptr_t)b, sizeof b);
            imbrex_access_memory->hold((uintptr_t)a, sizeof a, 1, 1);
            imbrex_access_memory->hold((uintptr_t)b, sizeof b, 1, 1);
        }
        found[round] = values(a, b, 17, 23, 29);
    }
    return found[0] != found[1] ? 1 : called < 8 ? 2 : 0;
}
"""


def moving(*body: str) -> list[Moving | None] | None:
    places = [at for at, line in enumerate(body) if line in (READ, WRITE)]
    return moving_addresses(list(body), places)


def test_an_address_moves_as_its_registers_do() -> None:
    found = moving(
        "\tmovq\t%rbp, %rdi",
        "\taddq\t$8, %rbp",
        READ,
        "\tleaq\t16(%rbx,%r12,4), %rdi",
        "\tmovsd\t-8(%rbp), %xmm0",
        "\tsubq\t$2, %r12",
        WRITE,
        "\tleaq\tsum(%rip), %rdi",
        READ,
    )
    assert found == [
        # Of the registers as they are at the first hook: rbp has moved on by then.
        Moving(Sum(-8, (("rbp", 1),)), 8),
        Moving(Sum(16, (("r12", 4), ("rbx", 1))), -8),
        Moving(Sum(symbol="sum(%rip)"), 0),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "\tmovq\t8(%rax), %rbp",
        "\taddl\t$1, %ebp",
        "\taddq\t%r12, %rbp",
        "\tcmovne\t%rax, %rbp",
        "\tcvttsd2siq\t%xmm0, %rbp",
        "\timulq\t$3, %rbp, %rbp",
        "\tsetne\t%bpl",
        "\tsalq\t$1, %rbp",
    ],
)
def test_a_register_that_changes_otherwise_is_not_known_in_the_next_round(line: str) -> None:
    assert moving("\tmovq\t%rbp, %rdi", READ, line) == [None]
    assert moving("\tmovq\t%rbx, %rdi", READ, line) == [Moving(Sum(0, (("rbx", 1),)), 0)]


def test_what_a_call_may_change_is_not_known_behind_it() -> None:
    assert moving("\tmovq\t%rbp, %rdi", READ, WRITE) == [Moving(Sum(0, (("rbp", 1),)), 0), None]
    assert moving("\tmovq\t%rax, %rdi", READ) == [None]


@pytest.mark.parametrize(
    "line", ["\txchgq\t%rbp, %rax", "\trep stosq", "\tcpuid", "\tpopq\t%rbp", "\tfstpl\t(%rsp)"]
)
def test_an_instruction_that_may_change_what_it_does_not_name_ends_it(line: str) -> None:
    assert moving("\tmovq\t%rbp, %rdi", READ, line) is None


LOOP = [
    ".L5:",
    "\tmovq\t%rbp, %rdi",
    "\taddq\t$8, %rbp",
    READ,
    "\tcmpq\t%rbx, %rbp",
    "\tjne\t.L5",
    "\tret",
]


def loop(lines: list[str]) -> list[str]:
    return inlined(["\t.cfi_startproc", *lines, "\t.cfi_endproc"])


def is_windowed(lines: list[str]) -> bool:
    return any(".Limbrex_round" in line for line in loop(lines))


def test_the_rounds_of_a_loop_have_no_question() -> None:
    lines = loop(LOOP)
    # Between the label of a round and the jump back to it.
    begin = next(at for at, line in enumerate(lines) if line.startswith(".Limbrex_round"))
    end = next(at for at, line in enumerate(lines) if line.startswith("\tjne\t.Limbrex_round"))
    instructions = [line.split("\t")[1] for line in lines[begin:end] if line.startswith("\t")]
    assert instructions == ["addq", "subq", "js", "cmpq"]
    # Eight lines are 256 bytes: from any of the first one's 224 are certain, the 29th round's too.
    added = [
        line.split("$")[1].split(",")[0] for line in lines if "\taddq" in line and "%fs" in line
    ]
    assert added == ["29", "1"]
    assert sum(line.startswith("\tcmpq\t$0, 0(%r11") for line in lines) == 1


@pytest.mark.parametrize(
    ("change", "by"),
    [
        ("\tjne\t.L5", "\tjmp\t.L5"),
        ("\tjne\t.L5", "\tjne\t.L6"),
        ("\taddq\t$8, %rbp", "\tjne\t.L7"),
        ("\taddq\t$8, %rbp", "\tcall\tf@PLT"),
        ("\taddq\t$8, %rbp", "\taddq\t$400, %rbp"),
        ("\tmovq\t%rbp, %rdi", "\tmovq\t(%rbp), %rdi"),
        ("\tcmpq\t%rbx, %rbp", "\tleaq\t(%r8,%r9), %r10"),
        ("\tcmpq\t%rbx, %rbp", "#APP"),
        ("\tcmpq\t%rbx, %rbp", "\t.cfi_def_cfa_offset 16"),
    ],
)
def test_loops_that_keep_a_hook_in_each_round(change: str, by: str) -> None:
    assert is_windowed(LOOP)
    assert not is_windowed([by if line == change else line for line in LOOP])


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorder")
    build_hook_library(folder)
    for name, change in (
        ("ahead", ""),
        ("each", "hooks.enclosing_loop = lambda *_: None; "),
        ("calls", "hooks.inlined = lambda lines: lines; "),
    ):
        (folder / name).mkdir()
        (folder / name / "as").write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; '
            f"from imbrex.recorder import assembler, hooks; {change}"
            'sys.exit(assembler.main(sys.argv[1:]))" as "$@"\n'
        )
        (folder / name / "as").chmod(0o755)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "level",
    [
        *("-O0", "-O1", "-O2", "-O2 -fPIC", "-O3", "-Os", "-O3 -march=native"),
        *("-O2 -fno-asynchronous-unwind-tables", "-O2 -pg", "-O2 -fstack-protector-all"),
    ],
)
def test_accesses_are_seen_as_with_a_hook_for_each(archive: Path, level: str) -> None:
    """When each grain was written and read, what was copied, and the count of accesses: also where
    the compiler knows which registers hooks change, and where they stay calls then."""
    programs = {}
    options = level.split()
    for known in ("", "known"):
        compiled = archive / f"{known}{level.replace(' ', '')}.s"
        include = ["-include", str(REGISTERS)] if known else []
        flags = [*include, "-std=c11", "-D_GNU_SOURCE", f"-I{ACCESS.parent}", *options]
        words = ["-S", "-g", "-no-pie", "-fsanitize=thread", str(HERE / "loops.c")]
        subprocess.run(["gcc", *flags, *words, "-o", str(compiled)], check=True)
        for name in ("ahead", "each", "calls"):
            program = compiled.with_suffix(f".{name}")
            subprocess.run(
                [
                    *("gcc", f"-B{archive / name}/", f"-L{archive}", *options, "-no-pie"),
                    *("-fsanitize=thread", "-static-libtsan", WRAPS, str(compiled)),
                    *("-o", str(program)),
                ],
                check=True,
            )
            programs[name, known] = program
    if "-O0" not in level and "unwind" not in level:
        for known in ("", "known"):
            # The counters of rounds are in many of its loops; -Os jumps into the midst of most.
            least = 2 if level == "-Os" else 12
            assert counters(programs["ahead", known]) >= least
    for seed in range(2):
        shown = {
            name: subprocess.run(
                [program, str(seed)], capture_output=True, text=True, check=True, cwd=archive
            ).stdout
            for name, program in programs.items()
        }
        assert len(shown["each", ""]) > 10000
        for name, printed in shown.items():
            # Of calls it is not known what is one straight run, in which elements are copied.
            of = shown[("calls" if name[0] == "calls" else "each"), ""]
            assert seen(printed) == seen(shown["calls", ""]), name
            for here, there in zip(printed.splitlines(), of.splitlines(), strict=True):
                assert here == there, name


def seen(shown: str) -> list[list[str]]:
    """What does not depend on which elements were copied."""
    return [line.split(maxsplit=3)[:3] for line in shown.splitlines()]


def counters(program: Path) -> int:
    code = subprocess.run(["objdump", "-d", program], capture_output=True, text=True).stdout
    return sum("sub" in line and line.endswith(",%r10") for line in code.splitlines())


@pytest.mark.slow
def test_registers_are_as_they_were_behind_a_call_of_the_recorder(
    archive: Path, tmp_path: Path
) -> None:
    """Those that the compiler counts on, in vectors of each width too."""
    (tmp_path / "a.c").write_text(KEPT)
    for option, width in (("-O2", 2), ("-O2 -mavx2", 4), ("-O2 -mavx512f -mavx512bw", 8)):
        if width > 2 and f"avx{'2' if width == 4 else '512bw'}" not in CPU:
            continue
        words = ["-include", str(REGISTERS), *option.split(), f"-DWIDTH={width}", "-w", "-g"]
        for folder in ("ahead", "calls"):
            subprocess.run(
                [
                    *("gcc", f"-B{archive / folder}/", f"-L{archive}", *words, "-D_GNU_SOURCE"),
                    *(f"-I{ACCESS.parent}", "-fsanitize=thread", "-static-libtsan", WRAPS),
                    *("a.c", "-o", "a"),
                ],
                check=True,
                cwd=tmp_path,
            )
            subprocess.run([tmp_path / "a"], check=True)


def test_the_script_finds_its_modules_without_being_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", assembler.__file__, "as", "-o", "/dev/null", "-"],
        input="\n".join(["\t.cfi_startproc", "\t.cfi_endproc", "# __tsan_read8", ""]),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
