/* From now on others may move data unseen. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_window_made(ix_t, *win, comm);
    @LEAVE@;
}
