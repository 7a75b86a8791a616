/* Completion of all of several: all or nothing. */
@SIGNATURE@
{
    @UNMEASURED@
    IX_SAVE_REQUESTS(count, requests);
    IX_OWN_STATUSES(count, statuses);
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    if (ix_outermost(ix_t) && @SEEN@)
        for (int ix_i = 0; ix_i < (int)ix_count; ix_i++)
            ix_completed_one_of(ix_t, rc, ix_saved[ix_i], requests[ix_i], &statuses[ix_i]);
    IX_RELEASE_STATUSES();
    IX_RELEASE_REQUESTS();
    @LEAVE@;
}
