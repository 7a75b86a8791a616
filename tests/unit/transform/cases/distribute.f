c     Loops that compute what is sent and other things, and that use what is
c     received and other things: each becomes two.
      program distri
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 60)
      double precision u(n, n), v(n, n), w(n, n)
      double precision out(n, n), in(n, n)
      common /fields/ u, v, w
      integer i, j, step, ierr, rank, nproc, left, right
      integer status(MPI_STATUS_SIZE)
      double precision flux, total
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      left = mod(rank + nproc - 1, nproc)
      right = mod(rank + 1, nproc)
      do j = 1, n
         do i = 1, n
            u(i, j) = i + 2.0d0 * j + rank
            v(i, j) = 1.0d0
            w(i, j) = 0.0d0
            out(i, j) = 0.0d0
         end do
      end do
      do step = 1, 5
         do j = 2, n
            do i = 1, n
               flux = 0.5d0 * (u(i, j) + u(i, j - 1))
c              the neighbour's share
               out(i, j) = 0.25d0 * flux
               if (flux .gt. 3.0d0) then
                  v(i, j) = v(i, j) + out(i, j - 1) / flux
               else
                  v(i, j) = v(i, j) - flux
               end if
            end do
         end do
         call mpi_sendrecv(out, n * n, MPI_DOUBLE_PRECISION, right, 4,
     &                     in, n * n, MPI_DOUBLE_PRECISION, left, 4,
     &                     MPI_COMM_WORLD, status, ierr)
         do j = 2, n
            do i = 2, n
               w(i, j) = w(i - 1, j) + v(i, j) * v(i, j - 1)
               u(i, j) = u(i, j) + 0.1d0 * in(i, j) + 1.0d-3 * w(i, j)
            end do
         end do
      end do
      total = 0.0d0
      do j = 1, n
         do i = 1, n
            total = total + u(i, j) + v(i, j) * w(i, j)
         end do
      end do
      print *, rank, total
      call mpi_finalize(ierr)
      end
