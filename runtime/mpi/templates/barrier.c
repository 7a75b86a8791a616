/* A collective that moves nothing. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;@AWAITS@
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS) {
        ix_comm *ix_c = ix_comm_of(comm);
        int64_t ix_bytes = 0;
        @LOG@;
    }
    @LEAVE@;
}
