! The program's own account of what it did: one line per call site and operation.
module counts_account
  implicit none
  integer, parameter :: most = 1000
  integer :: used = 0
  integer :: line(most), calls(most), transfers(most), bytes(most)
  character(len=32) :: operation(most)
end module counts_account

subroutine note(at_line, name, more_calls, more_transfers, more_bytes)
  use counts_account
  implicit none
  integer, intent(in) :: at_line, more_calls, more_transfers, more_bytes
  character(len=*), intent(in) :: name
  integer :: i
  do i = 1, used
    if (line(i) == at_line .and. operation(i) == name) exit
  end do
  if (i > used) then
    used = i
    line(i) = at_line
    operation(i) = name
    calls(i) = 0
    transfers(i) = 0
    bytes(i) = 0
  end if
  calls(i) = calls(i) + more_calls
  transfers(i) = transfers(i) + more_transfers
  bytes(i) = bytes(i) + more_bytes
end subroutine note

! What the root has, and the others.
integer function at(me, root, there, elsewhere)
  implicit none
  integer, intent(in) :: me, root, there, elsewhere
  at = elsewhere
  if (me == root) at = there
end function at

subroutine report(rank)
  use counts_account
  implicit none
  integer, intent(in) :: rank
  character(len=1000) :: folder, file
  integer :: i, unit
  call get_environment_variable('IMBREX_DIR', folder)
  write (file, '(a,a,i0)') trim(folder), '/account.', rank
  open (newunit=unit, file=trim(file), status='replace')
  do i = 1, used
    write (unit, '(i0,1x,a,3(1x,i0))') line(i), trim(operation(i)), calls(i), transfers(i), bytes(i)
  end do
  close (unit)
end subroutine report
