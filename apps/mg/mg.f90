! Multigrid V-cycles for Poisson's equation in a periodic cube, seven-point stencil, bricks in three
! dimensions. Every sweep of every level exchanges six faces, one dimension after the other, with
! blocking MPI_Sendrecv: large messages on the fine grids, tiny ones on the coarse.
!
! The right side is a sum of eigenmodes of the discrete operator: the exact discrete solution is
! known at every point. All work is point by point, so that the fields are the same for any number
! of ranks.
program mg
   use mpi
   use grids
   use options
   implicit none
   double precision, parameter :: pi = 3.14159265358979323846d0
   integer, parameter :: modes(3, 3) = reshape([1, 1, 1, 2, 1, 0, 3, 2, 4], [3, 3])
   integer :: n, coarsest, cycles, smooths, fine, it, status, ierror
   double precision :: first, last, start, seconds, error, square, total
   logical :: passed

   call MPI_Init(ierror)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
   call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
   n = 64
   coarsest = 8
   cycles = 8
   smooths = 2
   call option_set('mg', 'multigrid for Poisson''s equation in a periodic cube')
   call option_integer('n', n, 'points in each dimension, a power of two')
   call option_integer('coarsest', coarsest, 'points of the coarsest grid, a power of two')
   call option_integer('cycles', cycles, 'V-cycles')
   call option_integer('smooths', smooths, 'smoothing sweeps before and after')
   dims = 0
   call MPI_Dims_create(size, 3, dims, ierror)
   call option_end(rank, n >= coarsest .and. n <= 1024 .and. coarsest >= 4 .and. &
                   iand(n, n - 1) == 0 .and. iand(coarsest, coarsest - 1) == 0 .and. &
                   all(mod(coarsest, 2*dims) == 0) .and. cycles >= 1 .and. smooths >= 1, status)
   if (status /= 0) then
      call MPI_Finalize(ierror)
      call exit(merge(0, 2, status == 1))
   end if
   call MPI_Cart_create(MPI_COMM_WORLD, 3, dims, [.true., .true., .true.], .false., comm, ierror)
   call MPI_Cart_coords(comm, rank, 3, coords, ierror)
   do it = 1, 3
      call MPI_Cart_shift(comm, it - 1, 1, lower(it), upper(it), ierror)
   end do
   call make_grids(n, coarsest)
   fine = ubound(grid, 1)
   call set_right_side(grid(fine))

   call MPI_Barrier(comm, ierror)
   call residual(grid(fine))
   first = norm(grid(fine)%r, grid(fine)%n)
   start = MPI_Wtime()
   do it = 1, cycles
      call v_cycle(fine)
   end do
   seconds = MPI_Wtime() - start
   call residual(grid(fine))
   last = norm(grid(fine)%r, grid(fine)%n)

   call compare(grid(fine), error, square)
   call MPI_Allreduce(square, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
   if (rank == 0) then
      write (*, '(a,i0,a,i0,a,i0,a,i0,a,i0,a,i0,a)') 'mg: ', n, '^3 points, ', cycles, &
         ' V-cycles of ', fine, ' levels, ', dims(1), ' x ', dims(2), ' x ', dims(3), ' ranks'
      write (*, '(a,f0.6,2(a,es10.3))') 'time: ', seconds, ' s, residual reduced to ', last/first, &
         ', largest error ', error
   end if
   ! a V-cycle must reduce the residual to a third at least
   passed = last < first*3.0d0**(-cycles) + 1.0d-9 .and. error < 3.0d0**(-cycles) + 1.0d-11
   call verification(rank, passed, sqrt(total/dble(n)**3))
   call MPI_Finalize(ierror)
   call exit(merge(0, 1, passed))

contains

   ! The known solution at a point of the fine grid, and the right side that belongs to it.
   subroutine known(i, j, k, value, side)
      integer, intent(in) :: i, j, k
      double precision, intent(out) :: value, side
      integer :: m, d
      double precision :: wave, eigen, at(3)
      at = 2.0d0*pi*dble([i, j, k] + coords*grid(fine)%n)/dble(n)
      value = 0.0d0
      side = 0.0d0
      do m = 1, 3
         wave = sin(modes(1, m)*at(1) + 0.4d0)*cos(modes(2, m)*at(2))*cos(modes(3, m)*at(3) - 0.7d0)
         eigen = 0.0d0
         do d = 1, 3
            eigen = eigen + 4.0d0*sin(pi*modes(d, m)/dble(n))**2*dble(n)**2
         end do
         value = value + wave
         side = side + eigen*wave
      end do
   end subroutine known

   subroutine set_right_side(g)
      type(level), intent(inout) :: g
      integer :: i, j, k
      double precision :: value
      do k = 1, g%n(3)
         do j = 1, g%n(2)
            do i = 1, g%n(1)
               call known(i, j, k, value, g%f(i, j, k))
            end do
         end do
      end do
   end subroutine set_right_side

   subroutine compare(g, worst, square)
      type(level), intent(in) :: g
      double precision, intent(out) :: worst, square
      integer :: i, j, k
      double precision :: value, side, mine
      mine = 0.0d0
      square = 0.0d0
      do k = 1, g%n(3)
         do j = 1, g%n(2)
            do i = 1, g%n(1)
               call known(i, j, k, value, side)
               mine = max(mine, abs(g%u(i, j, k) - value))
               square = square + g%u(i, j, k)**2
            end do
         end do
      end do
      call MPI_Allreduce(mine, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, ierror)
   end subroutine compare

   double precision function norm(v, m)
      integer, intent(in) :: m(3)
      double precision, intent(in) :: v(0:, 0:, 0:)
      double precision :: mine
      mine = sum(v(1:m(1), 1:m(2), 1:m(3))**2)
      call MPI_Allreduce(mine, norm, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
      norm = sqrt(norm)
   end function norm

   ! r = f + lap u; the ghosts of u are filled first.
   subroutine residual(g)
      type(level), intent(inout) :: g
      integer :: i, j, k
      call exchange(g%u, g%n)
      do k = 1, g%n(3)
         do j = 1, g%n(2)
            do i = 1, g%n(1)
               g%r(i, j, k) = g%f(i, j, k) + (g%u(i - 1, j, k) + g%u(i + 1, j, k) + &
                  g%u(i, j - 1, k) + g%u(i, j + 1, k) + g%u(i, j, k - 1) + g%u(i, j, k + 1) - &
                  6.0d0*g%u(i, j, k))/g%h2
            end do
         end do
      end do
   end subroutine residual

   ! Damped Jacobi sweeps.
   subroutine smooth(g, sweeps)
      type(level), intent(inout) :: g
      integer, intent(in) :: sweeps
      integer :: s, i, j, k
      do s = 1, sweeps
         call residual(g)
         do k = 1, g%n(3)
            do j = 1, g%n(2)
               do i = 1, g%n(1)
                  g%u(i, j, k) = g%u(i, j, k) + (6.0d0/7.0d0)*g%h2/6.0d0*g%r(i, j, k)
               end do
            end do
         end do
      end do
   end subroutine smooth

   ! Full weighting of the residual of the fine grid: coarse point i lies at fine point 2i.
   subroutine restrict(from, to)
      type(level), intent(inout) :: from, to
      integer :: i, j, k, a, b, c
      double precision :: weight, value
      call exchange(from%r, from%n)
      do k = 1, to%n(3)
         do j = 1, to%n(2)
            do i = 1, to%n(1)
               value = 0.0d0
               do c = -1, 1
                  do b = -1, 1
                     do a = -1, 1
                        weight = 0.5d0**(3 + abs(a) + abs(b) + abs(c))
                        value = value + weight*from%r(2*i + a, 2*j + b, 2*k + c)
                     end do
                  end do
               end do
               to%f(i, j, k) = value
            end do
         end do
      end do
      to%u = 0.0d0
   end subroutine restrict

   ! Adds the coarse correction, interpolated trilinearly.
   subroutine prolong(from, to)
      type(level), intent(inout) :: from, to
      integer :: i, j, k, a, b, c
      call exchange(from%u, from%n)
      do k = 1, to%n(3)
         c = k/2
         do j = 1, to%n(2)
            b = j/2
            do i = 1, to%n(1)
               a = i/2
               ! an odd fine point lies between coarse points a and a + 1, an even one on a
               to%u(i, j, k) = to%u(i, j, k) + 0.125d0*sum( &
                  from%u([a, a + mod(i, 2)], [b, b + mod(j, 2)], [c, c + mod(k, 2)]))
            end do
         end do
      end do
   end subroutine prolong

   recursive subroutine v_cycle(l)
      integer, intent(in) :: l
      if (l == 1) then
         call smooth(grid(1), 40)
         return
      end if
      call smooth(grid(l), smooths)
      call residual(grid(l))
      call restrict(grid(l), grid(l - 1))
      call v_cycle(l - 1)
      call prolong(grid(l - 1), grid(l))
      call smooth(grid(l), smooths)
   end subroutine v_cycle

end program mg
