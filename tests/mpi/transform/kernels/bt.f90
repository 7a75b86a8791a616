! In the style of NAS BT and SP: a multi-partition solve along x. Each process has `cells` cells, one
! in each stage; a stage waits for what the previous one sent, eliminates, and sends to the next.
! Requests are passed as arguments, buffers live in a module. Faces are copied beforehand with six
! nonblocking messages through one buffer with offsets that run.
module cells
  use mpi
  implicit none
  integer, parameter :: nc = 8, most = 4, steps = 3
  integer :: me, many, ncells, next, prev
  double precision :: u(0:nc + 1, nc, nc, most), rhs(nc, nc, nc, most), lhs(nc, nc, nc, most)
  double precision :: in_buffer(2 * nc * nc), out_buffer(2 * nc * nc)
  double precision :: faces_in(4 * most * nc * nc), faces_out(4 * most * nc * nc)
end module cells

program bt
  use cells
  implicit none
  integer :: step, c, i, j, k, ierr
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  ncells = min(many, most)
  next = mod(me + 1, many)
  prev = mod(me + many - 1, many)
  do c = 1, ncells
    do k = 1, nc
      do j = 1, nc
        do i = 0, nc + 1
          u(i, j, k, c) = modulo(3 * i + 5 * j + 7 * k + 11 * c + 13 * me, 16)
        end do
      end do
    end do
  end do
  do step = 1, steps
    call copy_faces
    call compute_rhs
    call x_solve
    call add
  end do
  print *, 'bt: rank', me, 'sum', sum(u(1:nc, :, :, 1:ncells)), sum(lhs(:, :, :, 1:ncells))
  call mpi_finalize(ierr)
end program bt

subroutine copy_faces
  use cells
  implicit none
  integer :: requests(0:3), statuses(MPI_STATUS_SIZE, 0:3)
  integer :: c, j, k, p0, p1, sr(0:1), ss(0:1), ierr
  ss(0) = 1
  ss(1) = 1 + ncells * nc * nc
  sr(0) = 1
  sr(1) = 1 + ncells * nc * nc
  p0 = 0
  p1 = 0
  do c = 1, ncells
    do k = 1, nc
      do j = 1, nc
        faces_out(ss(0) + p0) = u(nc, j, k, c)
        p0 = p0 + 1
      end do
    end do
    do k = 1, nc
      do j = 1, nc
        faces_out(ss(1) + p1) = u(1, j, k, c)
        p1 = p1 + 1
      end do
    end do
  end do
  call mpi_irecv(faces_in(sr(0)), p0, MPI_DOUBLE_PRECISION, prev, 1, MPI_COMM_WORLD, &
    requests(0), ierr)
  call mpi_irecv(faces_in(sr(1)), p1, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, &
    requests(1), ierr)
  call mpi_isend(faces_out(ss(0)), p0, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, &
    requests(2), ierr)
  call mpi_isend(faces_out(ss(1)), p1, MPI_DOUBLE_PRECISION, prev, 2, MPI_COMM_WORLD, &
    requests(3), ierr)
  call mpi_waitall(4, requests, statuses, ierr)
  p0 = 0
  p1 = 0
  do c = 1, ncells
    do k = 1, nc
      do j = 1, nc
        u(0, j, k, c) = faces_in(sr(0) + p0)
        p0 = p0 + 1
      end do
    end do
    do k = 1, nc
      do j = 1, nc
        u(nc + 1, j, k, c) = faces_in(sr(1) + p1)
        p1 = p1 + 1
      end do
    end do
  end do
end subroutine copy_faces

subroutine compute_rhs
  use cells
  implicit none
  integer :: c, i, j, k
  do c = 1, ncells
    do k = 1, nc
      do j = 1, nc
        do i = 1, nc
          rhs(i, j, k, c) = 0.25d0 * (u(i - 1, j, k, c) + u(i + 1, j, k, c)) + 0.125d0 * i
        end do
      end do
    end do
  end do
end subroutine compute_rhs

subroutine lhsx(c)
  use cells
  implicit none
  integer, intent(in) :: c
  integer :: i, j, k
  do k = 1, nc
    do j = 1, nc
      do i = 1, nc
        lhs(i, j, k, c) = 0.5d0 + 0.03125d0 * u(i, j, k, c)
      end do
    end do
  end do
end subroutine lhsx

subroutine x_solve
  use cells
  implicit none
  integer :: stage, c, first, last, recv_id, send_id, r_status(MPI_STATUS_SIZE), ierr
  do stage = 1, ncells
    c = stage
    first = 0
    if (stage == 1) first = 1
    last = 0
    if (stage == ncells) last = 1
    if (first == 1) then
      call lhsx(c)
      call x_solve_cell(first, c)
    else
      call x_receive_solve_info(recv_id)
      call lhsx(c)
      call mpi_wait(send_id, r_status, ierr)
      call mpi_wait(recv_id, r_status, ierr)
      call x_unpack_solve_info(c)
      call x_solve_cell(first, c)
    end if
    if (last == 0) call x_send_solve_info(send_id, c)
  end do
end subroutine x_solve

subroutine x_solve_cell(first, c)
  use cells
  implicit none
  integer, intent(in) :: first, c
  integer :: i, j, k
  do k = 1, nc
    do j = 1, nc
      if (first == 1) rhs(1, j, k, c) = 0.5d0 * rhs(1, j, k, c)
      do i = 2, nc
        rhs(i, j, k, c) = rhs(i, j, k, c) + 0.125d0 * lhs(i, j, k, c) * rhs(i - 1, j, k, c)
      end do
    end do
  end do
end subroutine x_solve_cell

subroutine x_send_solve_info(send_id, c)
  use cells
  implicit none
  integer :: send_id
  integer, intent(in) :: c
  integer :: j, k, ptr, ierr
  ptr = 0
  do k = 1, nc
    do j = 1, nc
      out_buffer(ptr + 1) = rhs(nc, j, k, c)
      out_buffer(ptr + 2) = lhs(nc, j, k, c)
      ptr = ptr + 2
    end do
  end do
  call mpi_isend(out_buffer, 2 * nc * nc, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, &
    send_id, ierr)
end subroutine x_send_solve_info

subroutine x_receive_solve_info(recv_id)
  use cells
  implicit none
  integer :: recv_id, ierr
  call mpi_irecv(in_buffer, 2 * nc * nc, MPI_DOUBLE_PRECISION, prev, 7, MPI_COMM_WORLD, &
    recv_id, ierr)
end subroutine x_receive_solve_info

subroutine x_unpack_solve_info(c)
  use cells
  implicit none
  integer, intent(in) :: c
  integer :: j, k, ptr
  ptr = 0
  do k = 1, nc
    do j = 1, nc
      rhs(1, j, k, c) = rhs(1, j, k, c) + 0.0625d0 * in_buffer(ptr + 1)
      lhs(1, j, k, c) = lhs(1, j, k, c) + 0.03125d0 * in_buffer(ptr + 2)
      ptr = ptr + 2
    end do
  end do
end subroutine x_unpack_solve_info

subroutine add
  use cells
  implicit none
  integer :: c, i, j, k
  do c = 1, ncells
    do k = 1, nc
      do j = 1, nc
        do i = 1, nc
          u(i, j, k, c) = 0.5d0 * u(i, j, k, c) + 0.5d0 * rhs(i, j, k, c)
        end do
      end do
    end do
  end do
end subroutine add
