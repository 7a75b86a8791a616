c     Nonblocking calls that start late and wait early.
      program existing
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 4000)
      double precision east(n), u(n), v(n)
      common /field/ u, v
      integer rank, peer, ierr, step, i, requests(2), late
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      peer = 1 - rank
      late = MPI_REQUEST_NULL
      do step = 1, 10
        call relax(u)
        call relax(v)
        call mpi_irecv(east, n, MPI_DOUBLE_PRECISION, peer, 0,
     &                 MPI_COMM_WORLD, requests(1), ierr)
        call mpi_isend(u, n, MPI_DOUBLE_PRECISION, peer, 0,
     &                 MPI_COMM_WORLD, requests(2), ierr)
        call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        call relax(v)
        do i = 1, n
          v(i) = v(i) + 0.125d0 * u(i)
        end do
        call relax(east)
        u(1) = v(1)
        if (rank .eq. 0) then
          call mpi_irecv(east, n, MPI_DOUBLE_PRECISION, peer, 1,
     &                   MPI_COMM_WORLD, late, ierr)
          call mpi_wait(late, MPI_STATUS_IGNORE, ierr)
        end if
        call relax(v)
        u(2) = east(1)
      end do
      call mpi_finalize(ierr)
      end

      subroutine relax(x)
      integer i
      double precision x(4000)
      do 10 i = 2, 4000
   10 x(i) = 0.5d0 * x(i) + 0.25d0 * x(i - 1)
      end
