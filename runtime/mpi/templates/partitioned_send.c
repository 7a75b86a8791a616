/* A partitioned send: each MPI_Pready begins a partition. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_partitions_planned(ix_t, *request, partitions, count, type, peer, tag,
                              comm);
    @LEAVE@;
}
