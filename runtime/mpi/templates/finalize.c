/* The ranks merge what they measured while MPI still works. */
@SIGNATURE@
{
    ix_resolve_once();
    ix_job_end(ix_caller ? ix_caller : __builtin_return_address(0));
    @CALL@;
    ix_job_ended();
    @RETURN@;
}
