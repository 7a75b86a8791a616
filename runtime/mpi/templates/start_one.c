/* A persistent request starts. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_started_request(ix_t, *request);
    @LEAVE@;
}
