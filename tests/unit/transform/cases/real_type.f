      program heat
      implicit none
      include 'mpif.h'
      integer dp_type, me, nprocs, root
      common /mpistuff/ dp_type, me, nprocs, root
      logical convertdouble
      parameter (convertdouble = .false.)
      integer nx, ny
      parameter (nx = 300, ny = 200)
      double precision u(0:nx+1,0:ny+1), v(0:nx+1,0:ny+1)
      common /fields/ u, v
      integer ierr, it, i, j
      double precision s, t
      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, me, ierr)
      call mpi_comm_size(mpi_comm_world, nprocs, ierr)
      if (.not. convertdouble) then
         dp_type = MPI_DOUBLE_PRECISION
      else
         dp_type = MPI_REAL
      endif
      do j = 0, ny + 1
         do i = 0, nx + 1
            u(i,j) = mod(i + 3*j + me, 7)
            v(i,j) = u(i,j)
         enddo
      enddo
      do it = 1, 30
         call exchange
         call sweep
         call copy
      enddo
      s = 0d0
      do j = 1, ny
         do i = 1, nx
            s = s + u(i,j)
         enddo
      enddo
      call mpi_allreduce(s, t, 1, dp_type, mpi_sum, mpi_comm_world,
     >                   ierr)
      if (me .eq. 0) print *, t
      call mpi_finalize(ierr)
      end
      subroutine exchange
      implicit none
      include 'mpif.h'
      integer dp_type, me, nprocs, root
      common /mpistuff/ dp_type, me, nprocs, root
      integer nx, ny
      parameter (nx = 300, ny = 200)
      double precision u(0:nx+1,0:ny+1), v(0:nx+1,0:ny+1)
      common /fields/ u, v
      integer north, south, ierr, status(mpi_status_size)
      north = me + 1
      if (north .ge. nprocs) north = mpi_proc_null
      south = me - 1
      if (south .lt. 0) south = mpi_proc_null
      call mpi_sendrecv(u(1,ny), nx, dp_type, north, 1,
     >     u(1,0), nx, dp_type, south, 1,
     >     mpi_comm_world, status, ierr)
      call mpi_sendrecv(u(1,1), nx, dp_type, south, 2,
     >     u(1,ny+1), nx, dp_type, north, 2,
     >     mpi_comm_world, status, ierr)
      end
      subroutine sweep
      implicit none
      integer nx, ny, i, j
      parameter (nx = 300, ny = 200)
      double precision u(0:nx+1,0:ny+1), v(0:nx+1,0:ny+1)
      common /fields/ u, v
      do j = 1, ny
         do i = 1, nx
            v(i,j) = 0.25d0*(u(i-1,j)+u(i+1,j)+u(i,j-1)+u(i,j+1))
         enddo
      enddo
      end
      subroutine copy
      implicit none
      integer nx, ny, i, j
      parameter (nx = 300, ny = 200)
      double precision u(0:nx+1,0:ny+1), v(0:nx+1,0:ny+1)
      common /fields/ u, v
      do j = 1, ny
         do i = 1, nx
            u(i,j) = v(i,j)
         enddo
      enddo
      end
