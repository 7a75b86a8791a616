/* A send and a receive behind one request. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_pair_begun(ix_t, *request, scount, stype, speer, stag, rcount, rtype, rpeer, rtag,
                      comm);
    @LEAVE@;
}
