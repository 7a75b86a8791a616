"""What is known of the libraries that a program calls, and of MPI itself."""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.library import Libraries, Library
from imbrex.transform.model.program import Program
from imbrex.transform.readers import blas, c_library, fortran_library, simd

_OUTPUT = frozenset({"printf", "fprintf", "puts", "putchar", "fputs", "fflush", "fwrite", "perror"})


def libraries_of(program: Program) -> Libraries:
    """What is known of the libraries that a program calls."""
    return Libraries(
        program,
        Library(
            c_library.EFFECTS | blas.C_EFFECTS | simd.EFFECTS,
            c_library.STATES,
            c_library.NO_MPI | blas.C_NO_MPI,
            frozenset(blas.C_EFFECTS),
            simd.PREFIXES,
        ),
        Library(
            fortran_library.SUBROUTINES | blas.FORTRAN_EFFECTS,
            fortran_library.STATES,
            fortran_library.NO_MPI | blas.FORTRAN_NO_MPI,
            frozenset(blas.FORTRAN_EFFECTS),
        ),
    )


def known_functions(program: Program, libraries: Libraries) -> frozenset[str]:
    """The functions that keep no pointer which they are given."""
    return libraries.effects() | _OUTPUT | _mpi_names(program)


def _mpi_names(program: Program) -> frozenset[str]:
    """MPI keeps no pointer that a program can get at other than through its buffers, but some."""
    return frozenset(
        target.split(":")[1]
        for target, _, _ in program.pointer_facts
        if target.startswith("argument:MPI_") and not mpi_calls.KEEPS.search(target)
    )
