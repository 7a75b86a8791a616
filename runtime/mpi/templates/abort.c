/* What was measured stays in the part file. */
@SIGNATURE@
{
    ix_resolve_once();
    ix_job_abort();
    @CALL@;
    @RETURN@;
}
