# The Fortran wrappers: part of the preloaded object only, because they forward to the next
# definition of their own name. They need no Fortran compiler: whether a program has Fortran, and
# which interfaces its library has, shows at run time.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${MPI_INCLUDES})
check_c_source_compiles(
  "#include <mpi.h>
  int main(void) { return sizeof(char[sizeof(MPI_Fint) == sizeof(int) ? 1 : -1]) - 1; }"
  IMBREX_FORTRAN_INT)
unset(CMAKE_REQUIRED_INCLUDES)
if(IMBREX_FORTRAN_INT)
  file(GLOB fortran_generator CONFIGURE_DEPENDS mpi/fortran/*.py)
  add_custom_command(
    OUTPUT ${generated}/fortran_wrappers.c
    COMMAND ${IMBREX_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/fortran/generate_fortran.py
            ${MPI_C_COMPILER} ${generated} --without "${IMBREX_ABSENT}"
    # generate_fortran.py leaves an unchanged file alone.
    COMMAND ${CMAKE_COMMAND} -E touch ${generated}/fortran_wrappers.c
    DEPENDS mpi/functions.json ${generator} ${fortran_generator}
    COMMENT "Writing the Fortran wrappers"
    VERBATIM)
  target_sources(imbrex PRIVATE mpi/fortran/fortran.c ${generated}/fortran_wrappers.c)
else()
  message(WARNING "Imbrex: this MPI has default integers of another size than C's int: "
                  "calls from Fortran will not be measured.")
endif()
