c     Lists of names in fixed form, on several lines, in routines that are divided.
      program lists
      use mpi, only: MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM
      implicit none
      integer n
      parameter (n = 300)
      double precision u(0:n+1), v(0:n+1), s, t
      integer i, k, rank, size, ierr
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
      do i = 0, n+1
        u(i) = mod(i*7 + rank, 13)
        v(i) = 0d0
      end do
      do k = 1, 20
        call halo(u, n, rank, size)
        do i = 1, n
          v(i) = 0.5d0*u(i) + 0.25d0*(u(i-1) + u(i+1))
        end do
        do i = 1, n
          u(i) = v(i)
        end do
      end do
      s = 0d0
      do i = 1, n
        s = s + u(i)*i
      end do
      call MPI_Reduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0,
     &                MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) print '(f20.8)', t
      call MPI_Finalize(ierr)
      end
      subroutine halo(u, n, rank, size)
      use mpi, only: MPI_COMM_WORLD, MPI_DOUBLE_PRECISION,
     &               MPI_STATUS_SIZE, MPI_PROC_NULL
      implicit none
      integer n, rank, size, left, right, ierr
      integer status(MPI_STATUS_SIZE)
      double precision u(0:n+1)
      left = rank - 1
      if (left .lt. 0) left = MPI_PROC_NULL
      right = rank + 1
      if (right .eq. size) right = MPI_PROC_NULL
      call MPI_Sendrecv(u(n), 1, MPI_DOUBLE_PRECISION, right, 1,
     &                  u(0), 1, MPI_DOUBLE_PRECISION, left, 1,
     &                  MPI_COMM_WORLD, status, ierr)
      call MPI_Sendrecv(u(1), 1, MPI_DOUBLE_PRECISION, left, 2,
     &                  u(n+1), 1, MPI_DOUBLE_PRECISION, right, 2,
     &                  MPI_COMM_WORLD, status, ierr)
      end
