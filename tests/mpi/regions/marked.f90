! As marked.c.
program marked
  use mpi
  use imbrex_regions
  implicit none
  integer, parameter :: n = 100
  real(8), asynchronous :: a(n, 2), b(n)
  integer :: rank, ierr, step, q(2)
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  do step = 1, 10
    call imbrex_produce_begin('edge')
    call spin(2000d0)
    a(1, 2) = step
    call imbrex_produce_end('edge', a(8, 2), n / 2)
    call spin(1000d0)
    call mpi_irecv(b, n, mpi_double_precision, 1 - rank, 1, mpi_comm_world, q(1), ierr)
    call mpi_isend(a(1, 2), n, mpi_double_precision, 1 - rank, 1, mpi_comm_world, q(2), ierr)
    call mpi_waitall(2, q, mpi_statuses_ignore, ierr)
    call spin(500d0)
    call imbrex_consume_begin('edge', b)
    call spin(3000d0)
    call imbrex_consume_end('edge', n)
  end do
  call mpi_finalize(ierr)
contains
  subroutine spin(us)
    real(8), intent(in) :: us
    real(8) :: finish
    finish = mpi_wtime() + us * 1d-6
    do while (mpi_wtime() < finish)
    end do
  end subroutine spin
end program marked
