/* Completion of any one of several. */
@SIGNATURE@
{
    @UNMEASURED@
    IX_SAVE_REQUESTS(count, requests);
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    if (ix_outermost(ix_t) && @SEEN@ && ix_is_index(*index, (int)ix_count))
        ix_completed(ix_t, rc, ix_saved[*index], requests[*index], status);
    IX_RELEASE_REQUESTS();
    @LEAVE@;
}
