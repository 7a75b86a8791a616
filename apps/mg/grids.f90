! The hierarchy of grids and the neighbours of one rank.
module grids
   use mpi
   implicit none

   ! One level: local points 1..n(d) in each dimension and a ghost layer around.
   type level
      integer :: n(3)
      double precision :: h2                          ! mesh width squared
      double precision, allocatable :: u(:, :, :), f(:, :, :), r(:, :, :)
   end type level

   type(level), allocatable :: grid(:)                ! grid(1) is the coarsest
   integer :: rank, size, dims(3), coords(3), comm
   integer :: lower(3), upper(3)                      ! neighbours; the cube is periodic
   double precision, allocatable :: send_buffer(:), recv_buffer(:)

contains

   ! Levels from n points per dimension down to `coarsest`.
   subroutine make_grids(n, coarsest)
      integer, intent(in) :: n, coarsest
      integer :: levels, l, points, d
      levels = 1
      points = n
      do while (points > coarsest)
         points = points/2
         levels = levels + 1
      end do
      allocate (grid(levels))
      points = coarsest
      do l = 1, levels
         grid(l)%h2 = 1.0d0/dble(points)**2
         do d = 1, 3
            grid(l)%n(d) = points/dims(d)
         end do
         associate (m => grid(l)%n)
            allocate (grid(l)%u(0:m(1) + 1, 0:m(2) + 1, 0:m(3) + 1), source=0.0d0)
            allocate (grid(l)%f(0:m(1) + 1, 0:m(2) + 1, 0:m(3) + 1), source=0.0d0)
            allocate (grid(l)%r(0:m(1) + 1, 0:m(2) + 1, 0:m(3) + 1), source=0.0d0)
         end associate
         points = 2*points
      end do
      d = maxval(grid(levels)%n) + 2
      allocate (send_buffer(d*d), recv_buffer(d*d))
   end subroutine make_grids

   ! Fills the ghosts of v: x, then y (with the ghosts of x), then z, so that edges and corners are
   ! right too. In each dimension a face goes down and one goes up.
   subroutine exchange(v, n)
      integer, intent(in) :: n(3)
      double precision, intent(inout) :: v(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1)
      integer :: d
      do d = 1, 3
         call give_and_take(v, n, d, 1, n(d) + 1, lower(d), upper(d))
         call give_and_take(v, n, d, n(d), 0, upper(d), lower(d))
      end do
   end subroutine exchange

   ! Sends layer `from` of dimension d to rank `to`, and receives layer `into` from rank `source`.
   subroutine give_and_take(v, n, d, from, into, to, source)
      integer, intent(in) :: n(3), d, from, into, to, source
      double precision, intent(inout) :: v(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1)
      integer :: count, i, j, k, status(MPI_STATUS_SIZE), ierror

      count = 0
      select case (d)
      case (1)
         do k = 1, n(3)
            do j = 1, n(2)
               count = count + 1
               send_buffer(count) = v(from, j, k)
            end do
         end do
      case (2)
         do k = 1, n(3)
            do i = 0, n(1) + 1
               count = count + 1
               send_buffer(count) = v(i, from, k)
            end do
         end do
      case (3)
         do j = 0, n(2) + 1
            do i = 0, n(1) + 1
               count = count + 1
               send_buffer(count) = v(i, j, from)
            end do
         end do
      end select

      call MPI_Sendrecv(send_buffer, count, MPI_DOUBLE_PRECISION, to, d, recv_buffer, count, &
                        MPI_DOUBLE_PRECISION, source, d, comm, status, ierror)

      count = 0
      select case (d)
      case (1)
         do k = 1, n(3)
            do j = 1, n(2)
               count = count + 1
               v(into, j, k) = recv_buffer(count)
            end do
         end do
      case (2)
         do k = 1, n(3)
            do i = 0, n(1) + 1
               count = count + 1
               v(i, into, k) = recv_buffer(count)
            end do
         end do
      case (3)
         do j = 0, n(2) + 1
            do i = 0, n(1) + 1
               count = count + 1
               v(i, j, into) = recv_buffer(count)
            end do
         end do
      end select
   end subroutine give_and_take

end module grids
