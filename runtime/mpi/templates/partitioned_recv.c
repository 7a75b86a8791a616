/* A partitioned receive: posted as a whole by MPI_Start. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_recv_planned(ix_t, *request, (int64_t)partitions * count, type, peer, tag, comm,
                        partitions);
    @LEAVE@;
}
