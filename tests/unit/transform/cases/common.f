c     A routine around MPI whose buffers are in COMMON: it is split, and the
c     buffers stay where they are.
      program wcom
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 300)
      double precision u(n), v(n)
      double precision out(n), in(n)
      common /bufs/ out, in
      integer i, k, ierr, rank, nproc, to, from
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      do i = 1, n
         u(i) = i + rank
         v(i) = 1.0d0
      end do
      to = mod(rank + 1, nproc)
      from = mod(rank + nproc - 1, nproc)
      do k = 1, 5
         call exch(u, to, from)
         do i = 2, n
            v(i) = 0.5d0 * (v(i) + v(i - 1))
         end do
         do i = 1, n
            u(i) = u(i) + v(i)
         end do
      end do
      print *, rank, u(n), v(n)
      call mpi_finalize(ierr)
      end

      subroutine exch(u, to, from)
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 300)
      double precision u(n)
      integer to, from
      double precision out(n), in(n)
      common /bufs/ out, in
      integer i, ierr, status(MPI_STATUS_SIZE)
      do i = 1, n
         out(i) = 0.5d0 * u(i)
      end do
      call mpi_sendrecv(out, n, MPI_DOUBLE_PRECISION, to, 1,
     &                  in, n, MPI_DOUBLE_PRECISION, from, 1,
     &                  MPI_COMM_WORLD, status, ierr)
      do i = 1, n
         u(i) = u(i) + in(i)
      end do
      end
