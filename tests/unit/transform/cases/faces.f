c     Two faces of a cube, packed: the nest of three loops is divided in the
c     dimension that they lie in.
      program faces
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 20)
      double precision u(0:n+1, 0:n+1, 0:n+1), v(n, n, n)
      double precision so(n, n), no(n, n), si(n, n), ni(n, n)
      integer i, j, k, step, ierr, rank, nproc, west, east
      integer status(MPI_STATUS_SIZE)
      double precision total
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      west = mod(rank + nproc - 1, nproc)
      east = mod(rank + 1, nproc)
      do k = 0, n + 1
         do j = 0, n + 1
            do i = 0, n + 1
               u(i, j, k) = i + 2 * j + 3 * k + rank
            end do
         end do
      end do
      do step = 1, 4
         do k = 1, n
            do j = 1, n
               so(j, k) = u(1, j, k)
               no(j, k) = u(n, j, k)
            end do
         end do
         call mpi_sendrecv(so, n * n, MPI_DOUBLE_PRECISION, west, 1,
     &                     ni, n * n, MPI_DOUBLE_PRECISION, east, 1,
     &                     MPI_COMM_WORLD, status, ierr)
         call mpi_sendrecv(no, n * n, MPI_DOUBLE_PRECISION, east, 2,
     &                     si, n * n, MPI_DOUBLE_PRECISION, west, 2,
     &                     MPI_COMM_WORLD, status, ierr)
         do k = 1, n
            do j = 1, n
               u(0, j, k) = si(j, k)
               u(n + 1, j, k) = ni(j, k)
            end do
         end do
         do k = 1, n
            do j = 1, n
               do i = 1, n
                  v(i, j, k) = (u(i - 1, j, k) + u(i + 1, j, k)
     &                 + u(i, j - 1, k) + u(i, j + 1, k)
     &                 + u(i, j, k - 1) + u(i, j, k + 1)) / 6.0d0
               end do
            end do
         end do
         do k = 1, n
            do j = 1, n
               do i = 1, n
                  u(i, j, k) = v(i, j, k)
               end do
            end do
         end do
      end do
      total = 0.0d0
      do i = 1, n
         total = total + u(i, 1, n) + u(1, i, i) + u(n, i, i)
      end do
      print *, rank, total
      call mpi_finalize(ierr)
      end
