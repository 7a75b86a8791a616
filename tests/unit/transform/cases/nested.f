c     One exchange routine around two others, each with its buffers in a
c     COMMON block of its own: all are split around the caller's work.
      program nested
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 60)
      double precision u(0:n+1, 0:n+1), v(n, n), w(n, n)
      integer i, j, k, ierr, rank, nproc, up, down
      double precision total
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      up = mod(rank + 1, nproc)
      down = mod(rank + nproc - 1, nproc)
      do j = 0, n + 1
         do i = 0, n + 1
            u(i, j) = i + 2 * j + rank
         end do
      end do
      do j = 1, n
         do i = 1, n
            w(i, j) = 1.0d0
         end do
      end do
      do k = 1, 5
         call exch(u, up, down)
         do j = 1, n
            do i = 2, n
               w(i, j) = 0.5d0 * (w(i, j) + w(i - 1, j)) + k
            end do
         end do
         do j = 1, n
            do i = 1, n
               v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j)
     &                           + u(i, j - 1) + u(i, j + 1)) + w(i, j)
            end do
         end do
         do j = 1, n
            do i = 1, n
               u(i, j) = v(i, j)
            end do
         end do
      end do
      total = 0.0d0
      do i = 1, n
         total = total + u(i, 1) + u(1, i) + u(n, i)
      end do
      print *, rank, total
      call mpi_finalize(ierr)
      end

      subroutine exch(u, up, down)
      implicit none
      integer n
      parameter (n = 60)
      double precision u(0:n+1, 0:n+1)
      integer up, down
      call exchi(u, up, down)
      call exchj(u, up, down)
      end

      subroutine exchi(u, up, down)
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 60)
      double precision u(0:n+1, 0:n+1), iout(n), iin(n)
      integer up, down, j, ierr, status(MPI_STATUS_SIZE)
      common /ibufs/ iout, iin
      do j = 1, n
         iout(j) = u(1, j)
      end do
      call mpi_sendrecv(iout, n, MPI_DOUBLE_PRECISION, down, 1,
     &                  iin, n, MPI_DOUBLE_PRECISION, up, 1,
     &                  MPI_COMM_WORLD, status, ierr)
      do j = 1, n
         u(n + 1, j) = iin(j)
      end do
      end

      subroutine exchj(u, up, down)
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 60)
      double precision u(0:n+1, 0:n+1), jout(n), jin(n)
      integer up, down, i, ierr, status(MPI_STATUS_SIZE)
      common /jbufs/ jout, jin
      do i = 1, n
         jout(i) = u(i, n)
      end do
      call mpi_sendrecv(jout, n, MPI_DOUBLE_PRECISION, up, 2,
     &                  jin, n, MPI_DOUBLE_PRECISION, down, 2,
     &                  MPI_COMM_WORLD, status, ierr)
      do i = 1, n
         u(i, 0) = jin(i)
      end do
      end
