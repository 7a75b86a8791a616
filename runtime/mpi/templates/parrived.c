/* A look at a partition of a request that goes on. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    if (ix_log_is_on && ix_outermost(ix_t) && rc == MPI_SUCCESS && *flag)
        ix_log_part_arrived(ix_t, ix_handle(request), partition);
    @LEAVE@;
}
