! MPI's constants by a module: procedures have no interfaces, as those with buffers in MPICH's.
module mpi
  implicit none
  include 'mpif.h'
end module mpi
