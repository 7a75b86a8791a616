/* The beginning of an epoch, or what ends the other side's. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS && @SEEN@) {
        @LOG@@FOUND@
        @GROUP@
    }
    @LEAVE@;
}
