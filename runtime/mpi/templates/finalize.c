/* The ranks merge what they measured while MPI still works. */
@SIGNATURE@
{
    ix_resolve_once();
    ix_job_end();
    @CALL@;
    ix_job_ended();
    @RETURN@;
}
