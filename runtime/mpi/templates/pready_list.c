/* Listed partitions begin. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        for (int ix_i = 0; ix_i < length; ix_i++)
            ix_partition_begun(ix_t, request, partitions[ix_i]);
    @LEAVE@;
}
