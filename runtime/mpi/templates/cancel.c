/* Perhaps nothing moves. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = ix_enter(@OPERATION@, @CALLER@);
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_cancel(ix_t, ix_handle(*request));
    ix_leave(ix_t);
    @RETURN@;
}
