/* A look at requests that stay. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS && *flag && ix_is_index(*index, count))
        ix_seen_complete(ix_t, requests[*index], status);
    @LEAVE@;
}
