! Command line of the Fortran 90 mini-apps: `--name value`, a --help text, the verification line.
module options
   implicit none
   private
   public :: option_set, option_integer, option_text, option_end, verification

   integer, parameter :: most = 64
   logical :: used(most) = .false.
   character(len=2048) :: help_text = ''
   character(len=16) :: app = ''

contains

   ! Begins the options of a program.
   subroutine option_set(name, about)
      character(len=*), intent(in) :: name, about
      app = name
      help_text = name//': '//about//new_line('a')//new_line('a')//'options (default):'
   end subroutine option_set

   ! The text after `--name`, or blank.
   subroutine find(name, text)
      character(len=*), intent(in) :: name
      character(len=*), intent(out) :: text
      character(len=64) :: argument
      integer :: i
      text = ' '
      do i = 1, min(command_argument_count() - 1, most - 1), 2
         call get_command_argument(i, argument)
         if (argument == '--'//name) then
            call get_command_argument(i + 1, text)
            used(i:i + 1) = .true.
         end if
      end do
   end subroutine find

   subroutine option_integer(name, value, help)
      character(len=*), intent(in) :: name, help
      integer, intent(inout) :: value
      character(len=64) :: text, shown
      integer :: ios
      write (shown, '(i0)') value
      call describe(name, help, shown)
      call find(name, text)
      if (text /= ' ') then
         read (text, *, iostat=ios) value
         if (ios /= 0) used = .false.
      end if
   end subroutine option_integer

   subroutine option_text(name, value, help)
      character(len=*), intent(in) :: name, help
      character(len=*), intent(inout) :: value
      character(len=64) :: text
      call describe(name, help, value)
      call find(name, text)
      if (text /= ' ') value = text
   end subroutine option_text

   subroutine describe(name, help, shown)
      character(len=*), intent(in) :: name, help, shown
      character(len=14) :: column
      column = name
      help_text = trim(help_text)//new_line('a')//'  --'//column//help//' ('//trim(shown)//')'
   end subroutine describe

   ! Ends the options: status 0 to go on, 1 after --help, 2 when something was not understood or
   ! `fits` says that a value is out of range. Rank 0 prints.
   subroutine option_end(rank, fits, status)
      integer, intent(in) :: rank
      logical, intent(in) :: fits
      integer, intent(out) :: status
      character(len=64) :: argument
      integer :: i
      status = 0
      do i = 1, command_argument_count()
         call get_command_argument(i, argument)
         if (argument == '--help') then
            if (rank == 0) write (*, '(a)') trim(help_text)
            status = 1
            return
         end if
         if (i > most) then
            status = 2
         else if (.not. used(i)) then
            status = 2
         end if
         if (status == 2) then
            if (rank == 0) write (0, '(5a)') 'error: bad option or value ''', trim(argument), &
               ''' (see ', trim(app), ' --help)'
            return
         end if
      end do
      if (.not. fits) then
         status = 2
         if (rank == 0) write (0, '(3a)') 'error: ', trim(app), &
            ': these sizes do not fit each other or the number of ranks (see --help)'
      end if
   end subroutine option_end

   ! Prints the verification line on rank 0.
   subroutine verification(rank, passed, value)
      integer, intent(in) :: rank
      logical, intent(in) :: passed
      double precision, intent(in) :: value
      if (rank /= 0) return
      write (*, '(3a,es21.15)') 'verification: ', merge('PASSED', 'FAILED', passed), ' value=', value
   end subroutine verification

end module options
