/* Completion of some of several. */
@SIGNATURE@
{
    @UNMEASURED@
    IX_SAVE_REQUESTS(count, requests);
    IX_OWN_STATUSES(count, statuses);
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    /* of a call that failed the number and the indices are what the user left there */
    if (ix_outermost(ix_t) && (rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS) &&
        ix_is_index(*outcount, (int)ix_count + 1))
        for (int ix_i = 0; ix_i < (int)*outcount; ix_i++)
            ix_completed_one_of(ix_t, rc, ix_saved[indices[ix_i]], requests[indices[ix_i]],
                                &statuses[ix_i]);
    IX_RELEASE_STATUSES();
    IX_RELEASE_REQUESTS();
    @LEAVE@;
}
