"""Local arrays that only MPI is given are message buffers: compilers must not leave them out."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.recorder.hook_library import REGISTERS

from imbrex.recorder.compilers import instrumented
from imbrex.recorder.linking import RecorderLibrary

C = """
int send(const void *, int);
int receive(void *, int);
double buffer(double v)
{
    double out[64], in[64], sum = 0;
    for (int i = 0; i < 64; i++)
        out[i] = v * i;
    send(out, 64);
    receive(in, 64);
    for (int i = 0; i < 64; i++)
        sum += in[i];
    return sum;
}
"""
FORTRAN = """
function buffer(v) result(total)
  interface
    subroutine send(data, n)
      real(8), intent(in) :: data(*)
      integer, intent(in) :: n
    end subroutine
    subroutine receive(data, n)
      real(8) :: data(*)
      integer, intent(in) :: n
    end subroutine
  end interface
  real(8), value :: v
  real(8) :: total, out(64), in(64)
  integer :: i
  do i = 1, 64
    out(i) = v * i
  end do
  call send(out, 64)
  call receive(in, 64)
  total = 0
  do i = 1, 64
    total = total + in(i)
  end do
end function
"""


@pytest.mark.parametrize("level", ["-O1", "-O3"])
@pytest.mark.parametrize("compiler", ["gcc", "clang", "gfortran"])
def test_a_buffer_of_a_routine_is_instrumented(tmp_path: Path, compiler: str, level: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    language, ending, text = ("fc", "f90", FORTRAN) if compiler == "gfortran" else ("cc", "c", C)
    source = tmp_path / f"buffer.{ending}"
    source.write_text(text)
    library = RecorderLibrary(tmp_path, tmp_path / "a", tmp_path / "exports", tmp_path, REGISTERS)
    words = instrumented(
        language, [level, "-S", str(source), "-o", "-"], compiler == "clang", library
    )
    done = subprocess.run([compiler, *words], capture_output=True, text=True, check=True)
    # An unrolled loop has several, of the same elements.
    assert re.search(r"__tsan_(unaligned_)?write(8|16)\b", done.stdout)
    assert re.search(r"__tsan_(unaligned_)?read(8|16)\b", done.stdout)
