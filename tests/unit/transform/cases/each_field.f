c     Each field has its messages, in a loop that ends at a label.
      program main
      implicit none
      include 'mpif.h'
      integer n, nv
      parameter (n = 200, nv = 3)
      integer left, right, nproc, rank, ierr, step, i, k
      double precision u(0:n+1,nv), v(0:n+1,nv), s
      common /fields/ u, v
      common /ranks/ left, right
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nproc, ierr)
      left = rank - 1
      if (rank .eq. 0) left = MPI_PROC_NULL
      right = rank + 1
      if (right .eq. nproc) right = MPI_PROC_NULL
      do k = 1, nv
      do i = 0, n + 1
         u(i,k) = rank + 0.001d0*i + k
         v(i,k) = 0
      end do
      end do
      do step = 1, 40
         call exchg
         do k = 1, nv
         do i = 1, n
            v(i,k) = 0.5d0*u(i,k) + 0.25d0*(u(i-1,k) + u(i+1,k))
         end do
         end do
         do k = 1, nv
         do i = 1, n
            u(i,k) = v(i,k)
         end do
         end do
      end do
      s = 0
      do k = 1, nv
      do i = 1, n
         s = s + u(i,k)
      end do
      end do
      print *, rank, int(s * 1d6)
      call MPI_FINALIZE(ierr)
      end
      subroutine exchg
      implicit none
      include 'mpif.h'
      integer n, nv
      parameter (n = 200, nv = 3)
      integer left, right, ierr, k, status(MPI_STATUS_SIZE)
      double precision u(0:n+1,nv), v(0:n+1,nv)
      common /fields/ u, v
      common /ranks/ left, right
      do 10 k = 1, nv
         call MPI_SENDRECV(u(1,k), 1, MPI_DOUBLE_PRECISION, left, 0,
     &        u(n+1,k), 1, MPI_DOUBLE_PRECISION, right, 0,
     &        MPI_COMM_WORLD, status, ierr)
         call MPI_SENDRECV(u(n,k), 1, MPI_DOUBLE_PRECISION, right, 1,
     &        u(0,k), 1, MPI_DOUBLE_PRECISION, left, 1,
     &        MPI_COMM_WORLD, status, ierr)
   10 continue
      return
      end
