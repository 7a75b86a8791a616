/* Perhaps nothing moves. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_cancelled(ix_t, *request);
    @LEAVE@;
}
