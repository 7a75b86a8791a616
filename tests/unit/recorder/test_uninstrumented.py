"""What compilers leave without a hook, as their own dumps show it."""

from __future__ import annotations

import pytest

from imbrex.recorder.uninstrumented import section
from imbrex.recorder.uninstrumented_gimple import uninstrumented_by_gcc
from imbrex.recorder.uninstrumented_ir import uninstrumented_by_clang


def gimple(*statements: str, declared: tuple[str, ...] = ()) -> list[str]:
    lines = [
        ";; Function f (f, funcdef_no=0)",
        "",
        "void f (double * p, struct s * q, long n)",
        "{",
    ]
    lines += [*(f"  {one};" for one in declared), "", "  <bb 2> [local count: 1]:"]
    return uninstrumented_by_gcc("\n".join([*lines, *(f"  {one}" for one in statements), "}"]))


@pytest.mark.parametrize(
    "statement",
    [
        "[a.c:7:3] [a.c:7:8] *q_2(D) = make ();",
        "[a.c:7:3] q_2(D)->inner = make (n_3(D));",
        "[a.c:7:3] all[3] = make (n_3(D)); [return slot optimization]",
        "[a.c:7:3] take ([a.c:7:8] *q_2(D));",
        "[a.c:7:3] take (n_3(D), MEM[(struct s *)p_1(D)]);",
        "[a.c:7:3] __builtin_ia32_maskstorepd256 (p_2(D), k_3, { 1.0e+0, 1.0e+0 });",
        "[a.c:7:3] _4 = __builtin_ia32_loadhpd (x_3, p_2(D));",
        '[a.c:7:3] __asm__ __volatile__("movq %%rax,(%0)" :  : "r" p_2(D) : "memory");',
        '[a.c:7:3] __asm__("incl %0" : "=m" *p_2(D) : "m" *p_2(D));',
        "[a.c:7:3] __builtin_memcpy (p_2(D), q_3(D), 48);",
        "[a.c:7:3] __builtin_memmove (p_2(D), q_3(D), 64);",
    ],
)
def test_gcc_leaves_out_what_is_no_assignment(statement: str) -> None:
    assert gimple(statement) == ["a.c:7"]


@pytest.mark.parametrize(
    "statement",
    [
        "[a.c:7:3] *p_2(D) = _1;",
        "[a.c:7:3] *q_2(D) = *q_3(D);",
        "[a.c:7:3] _1 = ext (p_2(D), &all, 3);",
        "[a.c:7:3] local = make (); [return slot optimization] [tail call]",
        "[a.c:7:3] take (local);",
        "[a.c:7:3] <retval> = make ();",
        "[a.c:7:3] start (p_2(D), worker, 0B);",
        "[a.c:7:3] __builtin___tsan_write8 (p_2(D));",
        "[a.c:7:3] _4 = __builtin_ia32_cmppd256 (_1, _2, 0);",
        "[a.c:7:3] __builtin_ia32_clflush (p_2(D));",
        '[a.c:7:3] __asm__ __volatile__("" :  : "r" p_2(D) : "memory");',
        "[a.c:7:3] __builtin_memcpy (p_2(D), q_3(D), n_4(D));",
        "[a.c:7:3] __builtin_memmove (p_2(D), q_3(D), 2048);",
    ],
)
def test_gcc_instruments_assignments(statement: str) -> None:
    assert gimple(statement, declared=("struct s local", "double _1")) == []


def test_a_local_structure_that_mpi_is_given_is_not_private() -> None:
    sent = "[a.c:5:3] MPI_Isend (&local, 1, _1, 0, 0, _2, &request);"
    assert gimple(sent, "[a.c:7:3] local = make ();", declared=("struct s local",)) == ["a.c:7"]


def ir(*body: str, globals_: tuple[str, ...] = ()) -> list[str]:
    lines = ["define void @f(double* %0) {", *(f"  {line}" for line in body), "  ret void", "}"]
    return uninstrumented_by_clang("\n".join([*globals_, *lines]))


@pytest.mark.parametrize(
    "instruction",
    [
        "store <4 x double> zeroinitializer, <4 x double>* %2, align 32",
        "%3 = load <8 x float>, ptr %2, align 32",
        "%3 = load x86_fp80, x86_fp80* %2, align 16",
        "store i24 %1, i24* bitcast (%struct.b* @g to i24*), align 1",
        "tail call void @llvm.x86.avx.maskstore.pd.256(i8* %4, <4 x i64> %1, <4 x double> %2)",
        "call void @llvm.masked.store.v4f64.p0(<4 x double> %1, ptr %2, i32 8, <4 x i1> %3)",
        "%3 = call <4 x double> @llvm.masked.gather.v4f64.v4p0(<4 x ptr> %2, i32 8, <4 x i1> %1)",
        'call void asm sideeffect "movq %rax,($0)", "r,~{memory}"(double* %0)',
        "call void @take(%struct.s* noundef byval(%struct.s) align 8 %0)",
    ],
)
def test_clang_leaves_out_other_sizes(instruction: str) -> None:
    assert ir(instruction) == ["f()"]


@pytest.mark.parametrize(
    "instruction",
    [
        "store <2 x double> zeroinitializer, <2 x double>* %2, align 16",
        "%3 = load { i64, i64 }, ptr %2, align 8",
        "store void (i8*)* %1, void (i8*)** %2, align 8",
        "%3 = load <4 x double>, <4 x double>* @table, align 32",
        "call void @llvm.prefetch.p0i8(i8* %1, i32 0, i32 3, i32 1)",
        'call void asm sideeffect "", "r,~{memory}"(double* %0)',
        "%3 = call double @g(double* %0)",
    ],
)
def test_clang_instruments_elements(instruction: str) -> None:
    table = "@table = internal constant <4 x double> zeroinitializer, align 32"
    assert ir(instruction, globals_=(table,)) == []


def test_a_variable_that_nobody_else_knows_need_not_be_seen() -> None:
    private = (
        "%2 = alloca [4 x double], align 32",
        "%3 = bitcast [4 x double]* %2 to <4 x double>*",
        "store <4 x double> %1, <4 x double>* %3, align 32",
    )
    assert ir(*private) == []
    assert ir(*private, "call void @use([4 x double]* %2)") == ["f()"]


def test_the_place_is_the_users_line_where_a_header_was_inlined() -> None:
    text = """define void @f(double* %0) {
  store <4 x double> zeroinitializer, <4 x double>* %2, align 32, !dbg !5
  ret void
}
!1 = !DIFile(filename: "/usr/lib/include/avxintrin.h", directory: "/")
!2 = !DIFile(filename: "src/a.c", directory: "/")
!3 = distinct !DISubprogram(name: "_mm256_store_pd", file: !1, line: 90)
!4 = distinct !DISubprogram(name: "f", file: !2, line: 6)
!5 = !DILocation(line: 91, column: 3, scope: !3, inlinedAt: !6)
!6 = distinct !DILocation(line: 8, column: 3, scope: !4)
"""
    assert uninstrumented_by_clang(text) == ["a.c:8"]


def test_places_go_into_a_section_of_their_own() -> None:
    assert section([]) == []
    assert '\t.asciz "a.c:7"' in section(["a.c:7"])
