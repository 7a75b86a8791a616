/* A look at requests that stay. */
@SIGNATURE@
{
    @UNMEASURED@
    size_t ix_count = (count) > 0 ? (size_t)(count) : 0;
    IX_OWN_STATUSES(count, statuses);
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS && ix_is_index(*outcount, (int)ix_count + 1))
        for (int ix_i = 0; ix_i < (int)*outcount; ix_i++)
            ix_seen_complete(ix_t, requests[indices[ix_i]], &statuses[ix_i]);
    IX_RELEASE_STATUSES();
    @LEAVE@;
}
