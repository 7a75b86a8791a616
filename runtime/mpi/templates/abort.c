/* What was measured stays in the part file. */
@SIGNATURE@
{
    ix_resolve_once();
    ix_job_abort(ix_caller ? ix_caller : __builtin_return_address(0));
    @CALL@;
    @RETURN@;
}
