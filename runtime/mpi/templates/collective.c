/* A collective: over with the call, or begun by it, or begun by a later MPI_Start. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;@AWAITS@
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS) {
        ix_comm *ix_c = ix_comm_of(comm);
        int ix_role = ix_role_in(ix_c, @ROOT@);
        int64_t ix_bytes = 0;
        if (ix_role >= 0) {
            ix_transfer ix_x = ix_collective(ix_c, ix_role, @CALIBRATION@);
            ix_x.bytes = ix_bytes = @BYTES@;
            @BEGIN@;
        }
        @LOG@;@BLOCKS@
    }
    @LEAVE@;
}
