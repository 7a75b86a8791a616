"""What is known of the languages' libraries and of names that stand for MPI's: many programs call
them, and none may hide a collective because of that."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.errors import ImbrexError
from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_macros import mpi_macros

pytestmark = pytest.mark.slow
needs_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the intrinsics of x86-64")

C = """#include <mpi.h>
%s
static int s[10], t[10], w[1000];
int main(int argc, char **argv)
{
    int n = 3;
    MPI_Init(&argc, &argv);
    %s
    %s
    for (int i = 0; i < 1000; i++)
        w[i] = 2 * w[i] + i;
    for (int i = 0; i < 10; i++)
        w[i] += t[i] + n;
    MPI_Finalize();
    return w[7];
}
"""
REDUCE = "MPI_Allreduce(s, t, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);"
F = """program p
  %s
  implicit none
  include 'mpif.h'
  integer :: e, n, i
  double precision :: a(1000), x
  %s
  call mpi_init(e)
  %s
  call mpi_bcast(n, 1, mpi_integer, 0, mpi_comm_world, e)
  do i = 1, 1000
    a(i) = sqrt(dble(i))
  end do
  print *, a(n)
  call mpi_finalize(e)
end program p
"""


def rewritten(text: str, name: str, tmp_path: Path, flags: tuple[str, ...] = ()) -> bool:
    path = tmp_path / name
    path.write_text(text)
    outcome = transform([path], Options(rewrites=IN_PLACE, flags=list(flags)))
    assert not outcome.skipped, outcome.skipped
    return any(decision.decision == "rewritten" for decision in outcome.decisions)


@pytest.mark.parametrize(
    ("include", "call"),
    [
        ("#include <time.h>\n#include <stdio.h>", "time_t now = time(0); puts(ctime(&now));"),
        ("#include <stdlib.h>", 'setenv("A", "b", 1); n = atoi(getenv("A"));'),
        ("#include <string.h>", 'char text[9]; strcat(strcpy(text, "a"), "b");'),
        ("#include <math.h>", "n = (int)log1pf(2.0f) + (int)fmal(1, 2, 3);"),
        ("#include <ctype.h>", "n = isxdigit('a') + tolower('B');"),
    ],
)
def test_the_c_library_calls_no_mpi(include: str, call: str, tmp_path: Path) -> None:
    assert rewritten(C % (include, call, REDUCE), "p.c", tmp_path)


@pytest.mark.parametrize(
    ("declaration", "call"),
    [
        ("int step(int);", "n = step(n);"),
        ("#include <stdlib.h>", 'system("echo 1");'),
        ("#include <dlfcn.h>", 'void *f = dlsym(0, "f"); n = f != 0;'),
    ],
)
def test_other_routines_may(declaration: str, call: str, tmp_path: Path) -> None:
    assert not rewritten(C % (declaration, call, REDUCE), "p.c", tmp_path)


TIMED = """#include <mpi.h>
#include <stddef.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
static double u[100], v[100], w[1000], stamp;
%s
int main(int argc, char **argv)
{
    double *p = argc > 1 ? u : v, *none = NULL;
    struct timeval t;
    struct rusage r;
    MPI_Init(&argc, &argv);
    MPI_Sendrecv(u, 10, MPI_DOUBLE, 0, 0, v, 10, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    %s
    for (int i = 0; i < 1000; i++)
        w[i] = 2 * w[i] + i;
    w[1] += v[1] + p[1];
    MPI_Finalize();
    return w[7] > 1.0 || none;
}
"""


@pytest.mark.parametrize(
    ("declared", "call", "passed"),
    [
        ("", "gettimeofday(&t, NULL);", True),
        ("", "gettimeofday(&t, (struct timezone *)0);", True),
        ("", "stamp = time(NULL);", True),
        ("", "stamp = time(0);", True),
        ("", "getrusage(RUSAGE_SELF, &r);", True),
        ("", "stamp = times(NULL); bzero(w, 8);", True),
        ("", "gettimeofday(&t, (struct timezone *)v);", False),
        ("", "gettimeofday((struct timeval *)p, NULL);", False),
        ("", "stamp = time((time_t *)none);", False),
        ("", "bzero(v, 8);", False),
        ("void look(void *);", "look(NULL);", False),
        ("static void *NIL = v;\n#define NONE NIL", "stamp = time(NONE);", False),
    ],
)
def test_clocks_that_are_given_no_memory_are_passed(
    declared: str, call: str, passed: bool, tmp_path: Path
) -> None:
    """A null pointer names no memory to a function of the library."""
    path = tmp_path / "p.c"
    path.write_text(TIMED % (declared, call))
    text = transform([path], Options(rewrites=IN_PLACE)).after[str(path)]
    behind = text.index(b"MPI_Wait") > text.index(b"2 * w") if b"MPI_Wait" in text else False
    assert behind is passed, text.decode()


@pytest.mark.parametrize(
    ("call", "fits"),
    [
        ('std::cout << "n = " << n << std::endl;', True),
        ("std::string text = std::to_string(n); std::cout << text;", True),
        ("std::sort(w, w + 1000);", True),
        ("n = std::min(n, 4);", True),
        ("std::transform(w, w + 3, w, hook);", False),
        ("int (*held)(int) = hook; std::transform(w, w + 3, w, held);", False),
        ("std::sort(w, w + 3, [](int a, int b) { return hook(a) < b; });", False),
        ("Own own[3]; std::sort(own, own + 3);", False),
        ("std::cout << Own{3};", False),
        ("auto made = std::make_shared<Own>(); n = made->x;", False),
    ],
)
def test_the_cxx_library_calls_what_it_is_given(call: str, fits: bool, tmp_path: Path) -> None:
    declared = """#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
struct Own { int x; Own(int n = 0); };
bool operator<(const Own &, const Own &);
std::ostream &operator<<(std::ostream &, const Own &);
int hook(int);"""
    assert rewritten(C % (declared, call, REDUCE), "p.cpp", tmp_path) is fits


@pytest.mark.parametrize(
    ("use", "declaration", "call"),
    [
        ("use ieee_arithmetic", "", "if (ieee_is_nan(x)) n = 2"),
        ("use, intrinsic :: ieee_arithmetic, only: odd => ieee_is_nan", "", "if (odd(x)) n = 2"),
        ("use iso_c_binding", "type(c_ptr) :: q", "if (c_associated(q)) n = 2"),
        ("", "real :: times(2)", "x = dfloat(n) + etime(times)"),
        ("", "complex :: z", "z = (1.0, 2.0)\n  x = imag(z) + realpart(z)"),
        ("", "", "x = acosh(2.0d0) + bessel_j0(x)"),
        ("use omp_lib", "", "n = omp_get_max_threads()"),
    ],
)
def test_intrinsic_modules_and_functions(
    use: str, declaration: str, call: str, tmp_path: Path
) -> None:
    assert rewritten(F % (use, declaration, call), "p.f90", tmp_path)


@pytest.mark.parametrize(
    ("use", "declaration", "call"),
    [
        ("", "logical, external :: ieee_is_nan", "if (ieee_is_nan(x)) n = 2"),
        ("", "double precision, external :: acosh", "x = acosh(2.0d0)"),
        ("", "", "call clock(n)"),  # a routine of C's
        ("", "", "call remove(n)"),
    ],
)
def test_an_external_procedure_of_such_a_name_is_unknown(
    use: str, declaration: str, call: str, tmp_path: Path
) -> None:
    assert not rewritten(F % (use, declaration, call), "p.f90", tmp_path)


KEYED = REDUCE.replace("MPI_INT", "KEY")


@pytest.mark.parametrize(
    ("definition", "flags", "fits"),
    [
        ("#define KEY MPI_INT", (), True),
        ("#define BASE MPI_INT\n#define KEY (BASE)", (), True),
        ("", ("-DKEY=MPI_INT",), True),
        ("#define KEY MPI_DOUBLE", (), False),
        ("#ifdef A\n#define KEY MPI_INT\n#else\n#define KEY MPI_DOUBLE\n#endif", (), False),
        ("static MPI_Datatype KEY;", (), False),
        ("#ifdef A\n#define KEY MPI_INT\n#else\nstatic MPI_Datatype KEY;\n#endif", (), False),
    ],
)
def test_macros_stand_for_datatypes(
    definition: str, flags: tuple[str, ...], fits: bool, tmp_path: Path
) -> None:
    assert rewritten(C % (definition, "", KEYED), "p.c", tmp_path, flags) is fits


def test_macros_of_a_header_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "keys.h").write_text("#define KEY MPI_INT /* of all keys */\n")
    assert rewritten(C % ('#include "keys.h"', "", KEYED), "p.c", tmp_path)


def test_named_constants_of_fortran(tmp_path: Path) -> None:
    text = (F % ("", "integer, parameter :: key = mpi_integer; integer :: k", "k = 2")).replace(
        "call mpi_bcast(n, 1, mpi_integer, 0, mpi_comm_world, e)",
        "call mpi_allreduce(k, n, 1, key, mpi_sum, mpi_comm_world, e)",
    )
    assert rewritten(text, "p.f90", tmp_path)
    assert not rewritten(text.replace("= mpi_integer", "= mpi_real"), "p.f90", tmp_path)


def test_a_macro_with_arguments_is_none() -> None:
    assert mpi_macros([b"#define KEY(x) MPI_INT\n"], []) == {}
    assert mpi_macros([b"#define KEY MPI_INT\n#undef KEY\n"], []) == {}
    assert mpi_macros([b"#define KEY MPI_INT // a comment\r\n"], []) == {"KEY": "MPI_INT"}
    assert mpi_macros([b"#define A B\n#define B A\n"], []) == {}


def test_names_that_mpi_3_removed_are_read(tmp_path: Path) -> None:
    calls = """MPI_Aint where, extent;
    int length = 10;
    MPI_Datatype old = MPI_INT, made;
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Address(s, &where);
    MPI_Type_extent(MPI_INT, &extent);
    MPI_Type_struct(1, &length, &where, &old, &made);
    MPI_Type_hvector(2, 1, extent, MPI_INT, &made);
    MPI_Type_commit(&made);"""
    assert rewritten(C % ("", calls, REDUCE), "p.c", tmp_path)
    sent = "MPI_Recv(MPI_BOTTOM, 1, made, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    assert not rewritten(C % ("", calls, sent), "p.c", tmp_path)


@needs_x86
@pytest.mark.parametrize(
    ("step", "passed"),
    [
        ("_mm_store_pd(w + i, _mm_mul_pd(_mm_set1_pd(2.0), _mm_load_pd(u + i)));", True),
        ("_mm_storel_pd(w + i, _mm_hadd_pd(_mm_setzero_pd(), _mm_loadu_pd(u)));", True),
        ("_mm_store_pd(w + i, _mm_load_pd(v + i));", False),
        ("_mm_store_pd(v + i, _mm_load_pd(w + i));", False),
        ("_mm_store_si128((__m128i *)(w + i), _mm_load_si128((__m128i *)(u + i)));", False),
    ],
)
def test_functions_of_vectors(step: str, passed: bool, tmp_path: Path) -> None:
    """What they load and store is known, where it is no pointer."""
    loop = f"for (int i = 0; i < 1000; i += 2)\n        {step}"
    path = tmp_path / "p.c"
    path.write_text("#include <pmmintrin.h>\n" + TIMED % ("", loop))
    after = transform([path], Options(flags=["-msse3"])).after[str(path)]
    behind = after.index(b"MPI_Wait") > after.index(b"_mm_") if b"MPI_Wait" in after else False
    assert behind is passed, after.decode()


@needs_x86
def test_functions_of_vectors_call_no_mpi(tmp_path: Path) -> None:
    call = "_mm_store_si128((__m128i *)w, _mm_avg_epu8(_mm_set1_epi32(n), _mm_set1_epi32(n)));"
    assert rewritten(C % ("#include <emmintrin.h>", call, REDUCE), "p.c", tmp_path)


@needs_x86
@pytest.mark.parametrize("header", ["xmmintrin.h", "immintrin.h"])
def test_the_compiler_s_own_headers_may_use_what_libclang_does_not_know(
    header: str, tmp_path: Path
) -> None:
    include = f"#include <{header}>"
    assert rewritten(C % (include, "", REDUCE), "p.c", tmp_path)
    with pytest.raises(ImbrexError, match=r"p\.c:8: use of undeclared identifier 'm'"):
        rewritten(C % (include, "m = 3;", REDUCE), "p.c", tmp_path)
