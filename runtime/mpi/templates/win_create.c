/* From now on others may move data unseen. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = ix_enter_from(@OPERATION@, @CALLER@, @FRAME@);
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_window_made(ix_t, *win, comm);
    ix_observed_leave(ix_t);
    @RETURN@;
}
