/* A range of partitions begins (both ends inclusive). */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        for (int ix_i = low; ix_i <= high; ix_i++)
            ix_partition_begun(ix_t, request, ix_i);
    @LEAVE@;
}
