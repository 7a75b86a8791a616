# What the given mpicc tells: where its headers are, and which functions its library lacks although
# its header declares them. Sets MPI_INCLUDES, IMBREX_MPI_DEFINITIONS, IMBREX_ABSENT,
# IMBREX_HAS_FORTRAN (the standard ABI's header knows no Fortran) and IMBREX_SIMULATED (SimGrid's).

execute_process(
  COMMAND ${MPI_C_COMPILER} -E -v -x c /dev/null
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${MPI_C_COMPILER} does not work:\n${output}")
endif()

# The wrapper's command line, whichever way it wants to be asked.
foreach(flag IN ITEMS -show --showme -compile_info)
  execute_process(COMMAND ${MPI_C_COMPILER} ${flag} RESULT_VARIABLE result
                  OUTPUT_VARIABLE shown ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(result EQUAL 0 AND shown MATCHES "-I")
    break()
  endif()
endforeach()
if(shown MATCHES "-lsimgrid")
  set(IMBREX_SIMULATED TRUE)
else()
  set(IMBREX_SIMULATED FALSE)
endif()
separate_arguments(words UNIX_COMMAND "${shown}")
set(MPI_INCLUDES "")
set(IMBREX_MPI_DEFINITIONS "")
set(pending "")
foreach(word IN LISTS words)
  if(pending)
    list(APPEND MPI_INCLUDES ${word})
    set(pending "")
  elseif(word STREQUAL "-I" OR word STREQUAL "-isystem")
    set(pending ${word})
  elseif(word MATCHES "^-I(.+)$")
    list(APPEND MPI_INCLUDES ${CMAKE_MATCH_1})
  elseif(word MATCHES "^-D")
    list(APPEND IMBREX_MPI_DEFINITIONS ${word})
  endif()
endforeach()

# One program that refers to every PMPI function: the linker names those that are not there.
set(probe ${CMAKE_CURRENT_BINARY_DIR}/probe)
file(MAKE_DIRECTORY ${probe})
execute_process(
  COMMAND ${IMBREX_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/generate/references.py
          ${MPI_C_COMPILER} ${probe}
  RESULT_VARIABLE result OUTPUT_VARIABLE IMBREX_ABSENT ERROR_VARIABLE error
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${MPI_C_COMPILER}: cannot build an MPI program:\n${error}")
endif()
if(IMBREX_ABSENT)
  message(STATUS "Declared in mpi.h, not in the library: ${IMBREX_ABSENT}")
endif()

file(WRITE ${probe}/fortran.c "#include <mpi.h>\nMPI_Fint number;\n")
execute_process(COMMAND ${MPI_C_COMPILER} -fsyntax-only ${probe}/fortran.c
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if(result EQUAL 0)
  set(IMBREX_HAS_FORTRAN TRUE)
else()
  set(IMBREX_HAS_FORTRAN FALSE)
endif()
