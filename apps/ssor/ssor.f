c     SSOR for a coupled system of five convection-diffusion equations
c     on a grid of nx0 x ny0 x nz points: symmetric successive
c     over-relaxation in the wavefront order of the LU benchmark of NAS.
c     x and y are divided among the ranks. A lower sweep goes through
c     the planes k = 1 .. nz: each rank receives the rim of plane k from
c     north and west, relaxes its part, and passes its own rim on to
c     south and east; the upper sweep comes back the other way. Messages
c     are short (5*nx or 5*ny numbers) and very many. Before each
c     iteration the residual needs whole faces (exchange_3).
c
c     The solution is known; the order of relaxation, and so every value
c     at every point, is the same for any number of ranks.
      program ssor
      implicit none
      include 'mpif.h'
      include 'ssor.inc'
      integer ierr, it, niter, status
      double precision t0, t1, norm0, norm, err, unorm
      logical passed

      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, id, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, num, ierr)
      call options(niter)
      call divide
      call setcoe
      call setiv

      call mpi_barrier(MPI_COMM_WORLD, ierr)
      call resid
      call l2norm(rsd, norm0)
      t0 = mpi_wtime()
      do it = 1, niter
         call lowers
         call uppers
         call update
         call resid
      end do
      t1 = mpi_wtime()

      call l2norm(rsd, norm)
      call errmax(err)
      call l2norm(u, unorm)
      passed = norm .le. 1.0d-3 * norm0 .and. err .le. 1.0d-2
      if (id .eq. 0) then
         write (*, 100) nx0, ny0, nz, niter, xdim, ydim
         write (*, 200) t1 - t0, norm / norm0, err
         if (passed) then
            write (*, 300) 'PASSED', unorm
         else
            write (*, 300) 'FAILED', unorm
         end if
      end if
  100 format ('ssor: ', i0, ' x ', i0, ' x ', i0, ' points, ', i0,
     >        ' iterations, ', i0, ' x ', i0, ' ranks')
  200 format ('time: ', f0.6, ' s, residual reduced to ', es10.3,
     >        ', largest error ', es10.3)
  300 format ('verification: ', a, ' value=', es21.15)
      status = 1
      if (passed) status = 0
      call mpi_finalize(ierr)
      call exit(status)
      end


c     The command line: --n, --nz, --iterations.
      subroutine options(niter)
      implicit none
      include 'mpif.h'
      include 'ssor.inc'
      integer niter, i, n, value, ios, ierr
      character*32 name, text

      n = 48
      nz = 0
      niter = 30
      i = 1
      do while (i .le. command_argument_count())
         call get_command_argument(i, name)
         text = ' '
         if (i .lt. command_argument_count()) then
            call get_command_argument(i + 1, text)
         end if
         if (name .eq. '--help') then
            if (id .eq. 0) write (*, 100)
            call mpi_finalize(ierr)
            call exit(0)
         end if
         read (text, *, iostat=ios) value
         if (ios .eq. 0 .and. name .eq. '--n') then
            n = value
         else if (ios .eq. 0 .and. name .eq. '--nz') then
            nz = value
         else if (ios .eq. 0 .and. name .eq. '--iterations') then
            niter = value
         else
            if (id .eq. 0) write (0, 200) trim(name), trim(text)
            call mpi_finalize(ierr)
            call exit(2)
         end if
         i = i + 2
      end do
      nx0 = n
      ny0 = n
      if (nz .eq. 0) nz = n
      if (n .lt. 4 .or. n .gt. maxx .or. nz .lt. 2 .or. nz .gt. maxz
     >    .or. niter .lt. 1) then
         if (id .eq. 0) write (0, 300) maxx
         call mpi_finalize(ierr)
         call exit(2)
      end if
  100 format ('ssor: wavefront SSOR for five coupled equations'//
     >        'options (default):'/
     >        '  --n           points in x and y (48)'/
     >        '  --nz          points in z (as --n)'/
     >        '  --iterations  SSOR iterations (30)')
  200 format ('error: bad option or value ''', a, ' ', a,
     >        ''' (see --help)')
  300 format ('error: --n, --nz: 4 to ', i0, ', --iterations: from 1')
      end


c     Divides the x-y plane: xdim times ydim ranks, x along north-south.
      subroutine divide
      implicit none
      include 'mpif.h'
      include 'ssor.inc'
      integer ierr, row, col, dims(2)

      dims(1) = 0
      dims(2) = 0
      call mpi_dims_create(num, 2, dims, ierr)
      xdim = dims(1)
      ydim = dims(2)
      row = mod(id, xdim)
      col = id / xdim
      north = -1
      south = -1
      west = -1
      east = -1
      if (row .gt. 0) north = id - 1
      if (row .lt. xdim - 1) south = id + 1
      if (col .gt. 0) west = id - xdim
      if (col .lt. ydim - 1) east = id + xdim
      ipt = nx0 * row / xdim
      jpt = ny0 * col / ydim
      nx = nx0 * (row + 1) / xdim - ipt
      ny = ny0 * (col + 1) / ydim - jpt
      end


c     The 5 x 5 blocks: diffusion, upwind convection with a speed of its
c     own for each component, and a coupling between components.
      subroutine setcoe
      implicit none
      include 'ssor.inc'
      integer m, n, d
      double precision speed

      omega = 1.2d0
      do n = 1, nc
         do m = 1, nc
            center(m, n) = 0.1d0 / dble(1 + abs(m - n))
            do d = 1, 3
               lower(m, n, d) = 0.02d0 / dble(m + n + d)
               upper(m, n, d) = -0.01d0 / dble(m + n + d)
            end do
         end do
      end do
      do m = 1, nc
         center(m, m) = center(m, m) + 0.2d0
         do d = 1, 3
            speed = 0.1d0 * dble(m) / dble(d)
            lower(m, m, d) = lower(m, m, d) - 1.0d0 - speed
            upper(m, m, d) = upper(m, m, d) - 1.0d0
            center(m, m) = center(m, m) + 2.0d0 + speed
         end do
      end do
      end


c     The known solution, the right side that belongs to it, and zero as
c     the start. Around the grid everything is zero.
      subroutine setiv
      implicit none
      include 'ssor.inc'
      integer i, j, k, m
      double precision x, y, z, pi

      pi = 4.0d0 * atan(1.0d0)
      do k = 1, nz
         do j = 0, ny + 1
            do i = 0, nx + 1
               x = dble(ipt + i) / dble(nx0 + 1)
               y = dble(jpt + j) / dble(ny0 + 1)
               z = dble(k) / dble(nz + 1)
               do m = 1, nc
                  u(m, i, j, k) = 0.0d0
                  rsd(m, i, j, k) = 0.0d0
                  if (i .ge. 1 .and. i .le. nx .and.
     >                j .ge. 1 .and. j .le. ny) then
                     exact(m, i, j, k) = sin(pi*x) * sin(pi*y)
     >                  * sin(pi*z) + 0.1d0 * dble(m) * x * (1.0d0 - x)
     >                  * y * (1.0d0 - y) * sin(2.0d0 * pi * z)
                     u(m, i, j, k) = exact(m, i, j, k)
                     b(m, i, j, k) = 0.0d0
                  end if
               end do
            end do
         end do
      end do
c     with b = 0 the residual of the solution is minus the right side
      call resid
      do k = 1, nz
         do j = 1, ny
            do i = 1, nx
               do m = 1, nc
                  b(m, i, j, k) = -rsd(m, i, j, k)
                  u(m, i, j, k) = 0.0d0
               end do
            end do
         end do
      end do
      end


c     rsd = b - A u. The faces of the neighbours come first.
      subroutine resid
      implicit none
      include 'ssor.inc'
      integer i, j, k, m, n
      double precision sum

      call exch3(u)
      do k = 1, nz
         do j = 1, ny
            do i = 1, nx
               do m = 1, nc
                  sum = b(m, i, j, k)
                  do n = 1, nc
                     sum = sum - center(m, n) * u(n, i, j, k)
     >                  - lower(m, n, 1) * u(n, i-1, j, k)
     >                  - upper(m, n, 1) * u(n, i+1, j, k)
     >                  - lower(m, n, 2) * u(n, i, j-1, k)
     >                  - upper(m, n, 2) * u(n, i, j+1, k)
                     if (k .gt. 1) sum = sum
     >                  - lower(m, n, 3) * u(n, i, j, k-1)
                     if (k .lt. nz) sum = sum
     >                  - upper(m, n, 3) * u(n, i, j, k+1)
                  end do
                  rsd(m, i, j, k) = sum
               end do
            end do
         end do
      end do
      end


c     u = u + omega (2 - omega) times the correction
      subroutine update
      implicit none
      include 'ssor.inc'
      integer i, j, k, m
      double precision factor

      factor = omega * (2.0d0 - omega)
      do k = 1, nz
         do j = 1, ny
            do i = 1, nx
               do m = 1, nc
                  u(m, i, j, k) = u(m, i, j, k)
     >                          + factor * rsd(m, i, j, k)
               end do
            end do
         end do
      end do
      end


c     The root of the mean square of a field with ghosts.
      subroutine l2norm(v, norm)
      implicit none
      include 'mpif.h'
      include 'ssor.inc'
      double precision v(nc, 0:maxx+1, 0:maxy+1, maxz), norm, sum
      integer i, j, k, m, ierr

      sum = 0.0d0
      do k = 1, nz
         do j = 1, ny
            do i = 1, nx
               do m = 1, nc
                  sum = sum + v(m, i, j, k)**2
               end do
            end do
         end do
      end do
      call mpi_allreduce(sum, norm, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     >                   MPI_COMM_WORLD, ierr)
      norm = sqrt(norm / (dble(nx0) * dble(ny0) * dble(nz)))
      end


c     The largest distance from the known solution.
      subroutine errmax(err)
      implicit none
      include 'mpif.h'
      include 'ssor.inc'
      double precision err, worst
      integer i, j, k, m, ierr

      worst = 0.0d0
      do k = 1, nz
         do j = 1, ny
            do i = 1, nx
               do m = 1, nc
                  worst = max(worst,
     >                        abs(u(m, i, j, k) - exact(m, i, j, k)))
               end do
            end do
         end do
      end do
      call mpi_allreduce(worst, err, 1, MPI_DOUBLE_PRECISION, MPI_MAX,
     >                   MPI_COMM_WORLD, ierr)
      end
