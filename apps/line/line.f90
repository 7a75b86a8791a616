! Implicit pseudo-time steps for five coupled diffusion equations in a cube, factored into lines in
! x, y and z as in the BT and SP benchmarks of NAS. y and z are divided among the ranks; a line
! crosses them. Lines go through in chunks: in the forward elimination a rank posts the receive of
! what the rank before has found for the chunk (MPI_Irecv), sets up the blocks of its own part
! meanwhile, waits (MPI_Wait), eliminates, and sends on (MPI_Isend); the back substitution returns
! the same way, with the results of the chunk before stored meanwhile.
!
! The steady solution is known; every value is the same for any number of ranks.
program line
   use mpi
   use blocks
   use options
   implicit none
   double precision, parameter :: pi = 3.14159265358979323846d0
   integer :: rank, size, comm, n, chunk, steps, it, d, dims(2), coords(2), status, ierror
   integer :: low(3), high(3)                       ! neighbours of each dimension
   integer :: m(3), first(3)                        ! points of this rank, and what lies before them
   double precision :: h2, dt, initial, final, error, start, seconds, value
   double precision, allocatable :: u(:, :, :, :), b(:, :, :, :), rhs(:, :, :, :)
   logical :: passed

   call MPI_Init(ierror)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
   call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
   n = 32
   chunk = 64
   steps = 24
   call option_set('line', 'block tridiagonal line solver for five coupled diffusion equations')
   call option_integer('n', n, 'points in each dimension')
   call option_integer('chunk', chunk, 'lines that go through the ranks together')
   call option_integer('steps', steps, 'pseudo-time steps')
   dims = 0
   call MPI_Dims_create(size, 2, dims, ierror)
   call option_end(rank, n >= 4 .and. n <= 400 .and. all(n >= 2*dims) .and. chunk >= 1 .and. &
                   steps >= 1, status)
   if (status /= 0) then
      call MPI_Finalize(ierror)
      call exit(merge(0, 2, status == 1))
   end if
   call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., comm, ierror)
   call MPI_Cart_coords(comm, rank, 2, coords, ierror)
   low(1) = MPI_PROC_NULL
   high(1) = MPI_PROC_NULL
   m(1) = n
   first(1) = 0
   do d = 2, 3
      call MPI_Cart_shift(comm, d - 2, 1, low(d), high(d), ierror)
      first(d) = n*coords(d - 1)/dims(d - 1)
      m(d) = n*(coords(d - 1) + 1)/dims(d - 1) - first(d)
   end do
   h2 = 1.0d0/dble(n + 1)**2
   allocate (u(nc, 0:m(1) + 1, 0:m(2) + 1, 0:m(3) + 1), source=0.0d0)
   allocate (b(nc, m(1), m(2), m(3)), rhs(nc, m(1), m(2), m(3)), source=0.0d0)
   call set_solution
   call residual(1.0d0)
   b = -rhs                                         ! so that the solution has no residual
   u = 0.0d0

   call MPI_Barrier(comm, ierror)
   call residual(1.0d0)
   initial = norm(rhs)
   start = MPI_Wtime()
   do it = 1, steps
      dt = 0.2d0*0.4d0**mod(it - 1, 6)              ! long steps for smooth errors, short for rough
      call residual(dt)
      do d = 1, 3
         call solve_lines(d)
      end do
      u(:, 1:m(1), 1:m(2), 1:m(3)) = u(:, 1:m(1), 1:m(2), 1:m(3)) + rhs
   end do
   seconds = MPI_Wtime() - start

   call residual(1.0d0)
   final = norm(rhs)
   rhs = u(:, 1:m(1), 1:m(2), 1:m(3))
   value = norm(rhs)
   call set_solution
   error = norm(rhs - u(:, 1:m(1), 1:m(2), 1:m(3)))
   if (rank == 0) then
      write (*, '(5(a,i0),a)') 'line: ', n, '^3 points, ', steps, ' steps, chunks of ', chunk, &
         ' lines, ', dims(1), ' x ', dims(2), ' ranks'
      write (*, '(a,f0.6,2(a,es10.3))') 'time: ', seconds, ' s, residual reduced to ', &
         final/initial, ', error ', error
   end if
   passed = final < 0.05d0*initial .and. error < 0.02d0*value
   call verification(rank, passed, value)
   call MPI_Finalize(ierror)
   call exit(merge(0, 1, passed))

contains

   double precision function material(i, j, k)
      integer, intent(in) :: i, j, k
      material = 1.0d0 + 0.2d0*sin(pi*(first(1) + i + first(2) + j + first(3) + k)/dble(n + 1))
   end function material

   subroutine set_solution
      integer :: i, j, k, c
      do k = 1, m(3)
         do j = 1, m(2)
            do i = 1, m(1)
               do c = 1, nc
                  u(c, i, j, k) = sin(pi*i/dble(n + 1))*sin(pi*(first(2) + j)/dble(n + 1)) &
                     *sin(mod(c, 2)*pi*(first(3) + k)/dble(n + 1) + pi*(first(3) + k)/dble(n + 1))
               end do
            end do
         end do
      end do
   end subroutine set_solution

   double precision function norm(v)
      double precision, intent(in) :: v(:, :, :, :)
      double precision :: mine
      mine = sum(v**2)
      call MPI_Allreduce(mine, norm, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
      norm = sqrt(norm/(nc*dble(n)**3))
   end function norm

   ! rhs = dt (b - A u), A u the sum over the dimensions of L u; faces first.
   subroutine residual(dt)
      double precision, intent(in) :: dt
      double precision :: diagonal(nc, nc), beside(nc, nc), neighbours(nc)
      integer :: i, j, k, c
      call copy_faces
      do k = 1, m(3)
         do j = 1, m(2)
            do i = 1, m(1)
               call make_blocks(material(i, j, k), 1.0d0, h2, diagonal, beside)
               neighbours = u(:, i - 1, j, k) + u(:, i + 1, j, k) + u(:, i, j - 1, k) &
                        + u(:, i, j + 1, k) + u(:, i, j, k - 1) + u(:, i, j, k + 1)
               do c = 1, nc
                  diagonal(c, c) = diagonal(c, c) - 1.0d0
               end do
               rhs(:, i, j, k) = b(:, i, j, k)
               call subtract_product(rhs(:, i, j, k), beside, neighbours)
               call subtract_product(rhs(:, i, j, k), 3.0d0*diagonal, u(:, i, j, k))
               rhs(:, i, j, k) = dt*rhs(:, i, j, k)
            end do
         end do
      end do
   end subroutine residual

   ! The faces of u in y and z: all receives and sends at once.
   subroutine copy_faces
      double precision :: out_y(nc, m(1), m(3), 2), in_y(nc, m(1), m(3), 2)
      double precision :: out_z(nc, m(1), m(2), 2), in_z(nc, m(1), m(2), 2)
      integer :: requests(8), ny, nz
      ny = nc*m(1)*m(3)
      nz = nc*m(1)*m(2)
      call MPI_Irecv(in_y(1, 1, 1, 1), ny, MPI_DOUBLE_PRECISION, low(2), 1, comm, requests(1), ierror)
      call MPI_Irecv(in_y(1, 1, 1, 2), ny, MPI_DOUBLE_PRECISION, high(2), 2, comm, requests(2), ierror)
      call MPI_Irecv(in_z(1, 1, 1, 1), nz, MPI_DOUBLE_PRECISION, low(3), 3, comm, requests(3), ierror)
      call MPI_Irecv(in_z(1, 1, 1, 2), nz, MPI_DOUBLE_PRECISION, high(3), 4, comm, requests(4), ierror)
      out_y(:, :, :, 1) = u(:, 1:m(1), 1, 1:m(3))
      out_y(:, :, :, 2) = u(:, 1:m(1), m(2), 1:m(3))
      out_z(:, :, :, 1) = u(:, 1:m(1), 1:m(2), 1)
      out_z(:, :, :, 2) = u(:, 1:m(1), 1:m(2), m(3))
      call MPI_Isend(out_y(1, 1, 1, 1), ny, MPI_DOUBLE_PRECISION, low(2), 2, comm, requests(5), ierror)
      call MPI_Isend(out_y(1, 1, 1, 2), ny, MPI_DOUBLE_PRECISION, high(2), 1, comm, requests(6), ierror)
      call MPI_Isend(out_z(1, 1, 1, 1), nz, MPI_DOUBLE_PRECISION, low(3), 4, comm, requests(7), ierror)
      call MPI_Isend(out_z(1, 1, 1, 2), nz, MPI_DOUBLE_PRECISION, high(3), 3, comm, requests(8), ierror)
      call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierror)
      if (low(2) /= MPI_PROC_NULL) u(:, 1:m(1), 0, 1:m(3)) = in_y(:, :, :, 1)
      if (high(2) /= MPI_PROC_NULL) u(:, 1:m(1), m(2) + 1, 1:m(3)) = in_y(:, :, :, 2)
      if (low(3) /= MPI_PROC_NULL) u(:, 1:m(1), 1:m(2), 0) = in_z(:, :, :, 1)
      if (high(3) /= MPI_PROC_NULL) u(:, 1:m(1), 1:m(2), m(3) + 1) = in_z(:, :, :, 2)
   end subroutine copy_faces

   ! Point p (from 1) of line l (from 1) of dimension d.
   pure function place(d, l, p) result(at)
      integer, intent(in) :: d, l, p
      integer :: at(3), a, c
      a = mod(d, 3) + 1
      c = mod(d + 1, 3) + 1
      at(d) = p
      at(a) = mod(l - 1, m(a)) + 1
      at(c) = (l - 1)/m(a) + 1
   end function place

   ! Solves (I + dt L) x = rhs along all lines of dimension d; x replaces rhs.
   subroutine solve_lines(d)
      integer, intent(in) :: d
      double precision, allocatable :: upper(:, :, :, :), v(:, :, :)
      double precision, allocatable :: diagonal(:, :, :, :), beside(:, :, :, :)
      double precision :: received(nc*(nc + 1), chunk), sent(nc*(nc + 1), chunk)
      double precision :: after(nc, chunk), before(nc, chunk)
      integer :: lines, points, l, l1, l2, width, p, receiving, sending, status(MPI_STATUS_SIZE)

      points = m(d)
      lines = m(1)*m(2)*m(3)/points
      allocate (upper(nc, nc, points, lines), v(nc, points, lines))
      allocate (diagonal(nc, nc, points, chunk), beside(nc, nc, points, chunk))

      ! forward: what a rank passes on is the last eliminated row of each line
      sending = MPI_REQUEST_NULL
      do l1 = 1, lines, chunk
         l2 = min(l1 + chunk - 1, lines)
         width = l2 - l1 + 1
         if (low(d) /= MPI_PROC_NULL) then
            call MPI_Irecv(received, width*nc*(nc + 1), MPI_DOUBLE_PRECISION, low(d), d, comm, &
                           receiving, ierror)
         end if
         call set_up(d, l1, l2, diagonal, beside, v)
         if (low(d) /= MPI_PROC_NULL) then
            call MPI_Wait(receiving, status, ierror)
         else
            received = 0.0d0
         end if
         do l = l1, l2
            call eliminate(points, received(:, l - l1 + 1), diagonal(:, :, :, l - l1 + 1), &
                           beside(:, :, :, l - l1 + 1), upper(:, :, :, l), v(:, :, l))
         end do
         if (high(d) /= MPI_PROC_NULL) then
            call MPI_Wait(sending, status, ierror)
            do l = l1, l2
               sent(1:nc*nc, l - l1 + 1) = reshape(upper(:, :, points, l), [nc*nc])
               sent(nc*nc + 1:, l - l1 + 1) = v(:, points, l)
            end do
            call MPI_Isend(sent, width*nc*(nc + 1), MPI_DOUBLE_PRECISION, high(d), d, comm, &
                           sending, ierror)
         end if
      end do
      call MPI_Wait(sending, status, ierror)

      ! backward: what returns is the first point of each line
      sending = MPI_REQUEST_NULL
      do l1 = 1, lines, chunk
         l2 = min(l1 + chunk - 1, lines)
         width = l2 - l1 + 1
         if (high(d) /= MPI_PROC_NULL) then
            call MPI_Irecv(after, width*nc, MPI_DOUBLE_PRECISION, high(d), 10 + d, comm, &
                           receiving, ierror)
         end if
         if (l1 > 1) call store(d, l1 - chunk, l1 - 1, v)
         if (high(d) /= MPI_PROC_NULL) then
            call MPI_Wait(receiving, status, ierror)
         else
            after = 0.0d0
         end if
         do l = l1, l2
            call subtract_product(v(:, points, l), upper(:, :, points, l), after(:, l - l1 + 1))
            do p = points - 1, 1, -1
               call subtract_product(v(:, p, l), upper(:, :, p, l), v(:, p + 1, l))
            end do
         end do
         if (low(d) /= MPI_PROC_NULL) then
            call MPI_Wait(sending, status, ierror)
            before(:, 1:width) = v(:, 1, l1:l2)
            call MPI_Isend(before, width*nc, MPI_DOUBLE_PRECISION, low(d), 10 + d, comm, &
                           sending, ierror)
         end if
         if (l2 == lines) call store(d, l1, l2, v)
      end do
      call MPI_Wait(sending, status, ierror)
   end subroutine solve_lines

   ! The blocks and the right side of the lines l1 .. l2.
   subroutine set_up(d, l1, l2, diagonal, beside, v)
      integer, intent(in) :: d, l1, l2
      double precision, intent(inout) :: diagonal(:, :, :, :), beside(:, :, :, :), v(:, :, :)
      integer :: l, p, at(3)
      do l = l1, l2
         do p = 1, m(d)
            at = place(d, l, p)
            call make_blocks(material(at(1), at(2), at(3)), dt, h2, diagonal(:, :, p, l - l1 + 1), &
                             beside(:, :, p, l - l1 + 1))
            v(:, p, l) = rhs(:, at(1), at(2), at(3))
         end do
      end do
   end subroutine set_up

   ! Forward elimination of one line, behind the row that the rank before has passed on.
   subroutine eliminate(points, passed_on, diagonal, beside, upper, v)
      integer, intent(in) :: points
      double precision, intent(in) :: passed_on(nc*(nc + 1)), beside(nc, nc, points)
      double precision, intent(inout) :: diagonal(nc, nc, points), v(nc, points)
      double precision, intent(out) :: upper(nc, nc, points)
      double precision :: upper_before(nc, nc), v_before(nc)
      integer :: p
      upper_before = reshape(passed_on(1:nc*nc), [nc, nc])
      v_before = passed_on(nc*nc + 1:)
      do p = 1, points
         diagonal(:, :, p) = diagonal(:, :, p) - matmul(beside(:, :, p), upper_before)
         call subtract_product(v(:, p), beside(:, :, p), v_before)
         upper(:, :, p) = beside(:, :, p)
         call solve_block(diagonal(:, :, p), upper(:, :, p), v(:, p))
         upper_before = upper(:, :, p)
         v_before = v(:, p)
      end do
   end subroutine eliminate

   ! The results of the lines l1 .. l2 go to where the right side was.
   subroutine store(d, l1, l2, v)
      integer, intent(in) :: d, l1, l2
      double precision, intent(in) :: v(:, :, :)
      integer :: l, p, at(3)
      do l = l1, l2
         do p = 1, m(d)
            at = place(d, l, p)
            rhs(:, at(1), at(2), at(3)) = v(:, p, l)
         end do
      end do
   end subroutine store

end program line
