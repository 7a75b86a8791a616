! In the style of NAS LU: a wavefront over planes, whose exchange routine has two messages by a
! constant flag, and an exchange of whole faces through local buffers. The field is linear and
! grows by one in each step, so that every value is known.

      program lu
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      integer step, i, j, k, ierr, bad, total
      call mpi_init(ierr)
      call setup
      do step = 1, steps
        call rhs
        call lower
        call upper
      end do
      bad = 0
      do k = 1, nz
        do j = 1, ny
          do i = 1, nx
            if (u(i,j,k) .ne. dble(3*steps) + i + ipt + 2*(j+jpt)
     &        + 4*k) bad = bad + 1
          end do
        end do
      end do
      call mpi_reduce(bad, total, 1, MPI_INTEGER, MPI_SUM, 0,
     &  MPI_COMM_WORLD, ierr)
      if (me .eq. 0) print *, 'lu: wrong values', total,
     &  ' sum', sum(u(1:nx,1:ny,1:nz))
      call mpi_finalize(ierr)
      end

      subroutine setup
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      integer i, j, k, ierr, across
      call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
      across = 1
      if (many .ge. 4) across = 2
      row = me / across
      col = mod(me, across)
      ipt = row * nx
      jpt = col * ny
      north = -1
      south = -1
      west = -1
      east = -1
      if (row .gt. 0) north = me - across
      if (row .lt. many/across - 1) south = me + across
      if (col .gt. 0) west = me - 1
      if (col .lt. across - 1) east = me + 1
      do k = 1, nz
        do j = 0, ny + 1
          do i = 0, nx + 1
            u(i,j,k) = i + ipt + 2*(j+jpt) + 4*k
          end do
        end do
      end do
      end

      subroutine edges(g)
!     What no neighbour sends, the boundary of the whole field, is known.
      implicit none
      include 'lu.inc'
      double precision g
      integer i, j, k
      do k = 1, nz
        do j = 0, ny + 1
          if (north .eq. -1) u(0,j,k) = g + ipt + 2*(j+jpt) + 4*k
          if (south .eq. -1) u(nx+1,j,k) = g + nx + 1 + ipt
     &      + 2*(j+jpt) + 4*k
        end do
        do i = 0, nx + 1
          if (west .eq. -1) u(i,0,k) = g + i + ipt + 2*jpt + 4*k
          if (east .eq. -1) u(i,ny+1,k) = g + i + ipt
     &      + 2*(ny+1+jpt) + 4*k
        end do
      end do
      end

      subroutine rhs
      implicit none
      include 'lu.inc'
      integer i, j, k
      do k = 1, nz
        do j = 1, ny
          do i = 1, nx
            r(i,j,k) = 1.0d0
          end do
        end do
      end do
      call edges(u(1,1,1) - 1 - ipt - 2*(1+jpt) - 4)
      call exchange_3(u, 0)
      do k = 1, nz
        do j = 1, ny
          do i = 1, nx
            r(i,j,k) = r(i,j,k)
     &        + (u(i-1,j,k) - 2*u(i,j,k) + u(i+1,j,k))
          end do
        end do
      end do
      call exchange_3(u, 1)
      do k = 1, nz
        do j = 1, ny
          do i = 1, nx
            r(i,j,k) = r(i,j,k)
     &        + (u(i,j-1,k) - 2*u(i,j,k) + u(i,j+1,k))
          end do
        end do
      end do
      do k = 1, nz
        do j = 1, ny
          do i = 1, nx
            u(i,j,k) = u(i,j,k) + r(i,j,k)
          end do
        end do
      end do
      end

      subroutine lower
      implicit none
      include 'lu.inc'
      integer k
      call edges(u(1,1,1) - ipt - 1 - 2*(1+jpt) - 4 + 1)
      do k = 1, nz
        call jacld(k)
        call blts(k)
      end do
      end

      subroutine upper
      implicit none
      include 'lu.inc'
      integer k
      call edges(u(1,1,1) - ipt - 1 - 2*(1+jpt) - 4 + 1)
      do k = nz, 1, -1
        call jacld(k)
        call buts(k)
      end do
      end

      subroutine jacld(k)
!     Coefficients of a plane, which need nothing of the neighbours.
      implicit none
      include 'lu.inc'
      integer k, i, j
      do j = 1, ny
        do i = 1, nx
          a(i,j) = 0.5d0 + 0.0d0 * r(i,j,k)
          d(i,j) = 1.0d0 - a(i,j)
        end do
      end do
      end

      subroutine blts(k)
      implicit none
      include 'lu.inc'
      integer k, i, j, iex
      iex = 0
      call exchange_1(u, k, iex)
      do j = 1, ny
        do i = 1, nx
          u(i,j,k) = a(i,j) * u(i-1,j,k) + d(i,j) * u(i,j-1,k) + 1.5d0
        end do
      end do
      iex = 2
      call exchange_1(u, k, iex)
      end

      subroutine buts(k)
      implicit none
      include 'lu.inc'
      integer k, i, j, iex
      iex = 1
      call exchange_1(u, k, iex)
      do j = ny, 1, -1
        do i = nx, 1, -1
          u(i,j,k) = a(i,j) * u(i+1,j,k) + d(i,j) * u(i,j+1,k) - 1.5d0
        end do
      end do
      iex = 3
      call exchange_1(u, k, iex)
      end

      subroutine exchange_1(g, k, iex)
!     One plane: 0 receives from north and west, 2 sends to south and east, 1 and 3 the reverse.
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      double precision g(0:nx+1,0:ny+1,nz)
      double precision dum(nx+ny)
      integer k, iex, i, j, ierr, status(MPI_STATUS_SIZE)
      if (iex .eq. 0) then
        if (north .ne. -1) then
          call mpi_recv(dum, ny, MPI_DOUBLE_PRECISION, north, 1,
     &      MPI_COMM_WORLD, status, ierr)
          do j = 1, ny
            g(0,j,k) = dum(j)
          end do
        end if
        if (west .ne. -1) then
          call mpi_recv(dum, nx, MPI_DOUBLE_PRECISION, west, 2,
     &      MPI_COMM_WORLD, status, ierr)
          do i = 1, nx
            g(i,0,k) = dum(i)
          end do
        end if
      else if (iex .eq. 1) then
        if (south .ne. -1) then
          call mpi_recv(dum, ny, MPI_DOUBLE_PRECISION, south, 3,
     &      MPI_COMM_WORLD, status, ierr)
          do j = 1, ny
            g(nx+1,j,k) = dum(j)
          end do
        end if
        if (east .ne. -1) then
          call mpi_recv(dum, nx, MPI_DOUBLE_PRECISION, east, 4,
     &      MPI_COMM_WORLD, status, ierr)
          do i = 1, nx
            g(i,ny+1,k) = dum(i)
          end do
        end if
      else if (iex .eq. 2) then
        if (south .ne. -1) then
          do j = 1, ny
            dum(j) = g(nx,j,k)
          end do
          call mpi_send(dum, ny, MPI_DOUBLE_PRECISION, south, 1,
     &      MPI_COMM_WORLD, ierr)
        end if
        if (east .ne. -1) then
          do i = 1, nx
            dum(i) = g(i,ny,k)
          end do
          call mpi_send(dum, nx, MPI_DOUBLE_PRECISION, east, 2,
     &      MPI_COMM_WORLD, ierr)
        end if
      else
        if (north .ne. -1) then
          do j = 1, ny
            dum(j) = g(1,j,k)
          end do
          call mpi_send(dum, ny, MPI_DOUBLE_PRECISION, north, 3,
     &      MPI_COMM_WORLD, ierr)
        end if
        if (west .ne. -1) then
          do i = 1, nx
            dum(i) = g(i,1,k)
          end do
          call mpi_send(dum, nx, MPI_DOUBLE_PRECISION, west, 4,
     &      MPI_COMM_WORLD, ierr)
        end if
      end if
      end

      subroutine exchange_3(g, iex)
!     Whole faces of one axis, both ways.
      implicit none
      include 'mpif.h'
      include 'lu.inc'
      double precision g(0:nx+1,0:ny+1,nz)
      double precision buf(nmax*nz), buf1(nmax*nz)
      integer iex, i, j, k, m, mid, ierr, status(MPI_STATUS_SIZE)
      if (iex .eq. 0) then
        if (north .ne. -1) call mpi_irecv(buf1, ny*nz,
     &    MPI_DOUBLE_PRECISION, north, 11, MPI_COMM_WORLD, mid, ierr)
        if (south .ne. -1) then
          do k = 1, nz
            do j = 1, ny
              m = (k-1)*ny + j
              buf(m) = g(nx,j,k)
            end do
          end do
          call mpi_send(buf, ny*nz, MPI_DOUBLE_PRECISION, south, 11,
     &      MPI_COMM_WORLD, ierr)
        end if
        if (north .ne. -1) then
          call mpi_wait(mid, status, ierr)
          do k = 1, nz
            do j = 1, ny
              m = (k-1)*ny + j
              g(0,j,k) = buf1(m)
            end do
          end do
        end if
        if (south .ne. -1) call mpi_irecv(buf1, ny*nz,
     &    MPI_DOUBLE_PRECISION, south, 12, MPI_COMM_WORLD, mid, ierr)
        if (north .ne. -1) then
          do k = 1, nz
            do j = 1, ny
              m = (k-1)*ny + j
              buf(m) = g(1,j,k)
            end do
          end do
          call mpi_send(buf, ny*nz, MPI_DOUBLE_PRECISION, north, 12,
     &      MPI_COMM_WORLD, ierr)
        end if
        if (south .ne. -1) then
          call mpi_wait(mid, status, ierr)
          do k = 1, nz
            do j = 1, ny
              m = (k-1)*ny + j
              g(nx+1,j,k) = buf1(m)
            end do
          end do
        end if
      else
        if (west .ne. -1) call mpi_irecv(buf1, nx*nz,
     &    MPI_DOUBLE_PRECISION, west, 13, MPI_COMM_WORLD, mid, ierr)
        if (east .ne. -1) then
          do k = 1, nz
            do i = 1, nx
              m = (k-1)*nx + i
              buf(m) = g(i,ny,k)
            end do
          end do
          call mpi_send(buf, nx*nz, MPI_DOUBLE_PRECISION, east, 13,
     &      MPI_COMM_WORLD, ierr)
        end if
        if (west .ne. -1) then
          call mpi_wait(mid, status, ierr)
          do k = 1, nz
            do i = 1, nx
              m = (k-1)*nx + i
              g(i,0,k) = buf1(m)
            end do
          end do
        end if
        if (east .ne. -1) call mpi_irecv(buf1, nx*nz,
     &    MPI_DOUBLE_PRECISION, east, 14, MPI_COMM_WORLD, mid, ierr)
        if (west .ne. -1) then
          do k = 1, nz
            do i = 1, nx
              m = (k-1)*nx + i
              buf(m) = g(i,1,k)
            end do
          end do
          call mpi_send(buf, nx*nz, MPI_DOUBLE_PRECISION, west, 14,
     &      MPI_COMM_WORLD, ierr)
        end if
        if (east .ne. -1) then
          call mpi_wait(mid, status, ierr)
          do k = 1, nz
            do i = 1, nx
              m = (k-1)*nx + i
              g(i,ny+1,k) = buf1(m)
            end do
          end do
        end if
      end if
      end
