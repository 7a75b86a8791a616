! Forbidden uses of buffers in flight through the module mpi; as in planted.c. Two ranks.
program planted
  use mpi
  implicit none
  integer, parameter :: n = 64
  real(8), asynchronous :: a(n), b(n), c(8, 8), d(8, 8)
  real(8), volatile :: x
  integer :: q(2)
  integer :: row
  integer :: rank, other, ierr
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  other = 1 - rank
  call mpi_type_vector(8, 1, 8, mpi_double_precision, row, ierr)
  call mpi_type_commit(row, ierr)
  a = 1
  d = 2
  include 'planted_body.inc'
  call mpi_finalize(ierr)
end program planted
