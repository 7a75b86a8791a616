c     A window with a long loop, and one that is filled by a routine.
      program windows
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 1000000)
      double precision b(n), d(n), e(1000)
      common /field/ b, d, e
      integer rank, peer, ierr, i, requests(2)
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      peer = 1 - rank
      call mpi_irecv(b, n, MPI_DOUBLE_PRECISION, peer, 0,
     &               MPI_COMM_WORLD, requests(1), ierr)
      do i = 1, n
        d(i) = 0.5d0 * d(i)
      end do
      call mpi_wait(requests(1), MPI_STATUS_IGNORE, ierr)
      call mpi_irecv(b, n, MPI_DOUBLE_PRECISION, peer, 0,
     &               MPI_COMM_WORLD, requests(1), ierr)
      call mpi_isend(d, n, MPI_DOUBLE_PRECISION, peer, 0,
     &               MPI_COMM_WORLD, requests(2), ierr)
      call relax(e)
      call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      call mpi_finalize(ierr)
      end

      subroutine relax(x)
      implicit none
      include 'mpif.h'
      integer i, k
      double precision x(1000)
      do 20 k = 1, 300
        do 10 i = 2, 1000
          x(i) = 0.5d0 * x(i) + 0.25d0 * x(i - 1)
   10   continue
   20 continue
      end
