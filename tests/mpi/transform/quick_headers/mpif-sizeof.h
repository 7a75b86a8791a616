!     Instead of that of Open MPI, whose interfaces of MPI_SIZEOF
!     take most of the time of a compilation.
