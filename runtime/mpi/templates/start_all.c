/* Persistent requests start. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        for (int ix_i = 0; ix_i < (int)count; ix_i++)
            ix_started_request(ix_t, requests[ix_i]);
    @LEAVE@;
}
