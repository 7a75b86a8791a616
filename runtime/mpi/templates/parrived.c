/* A look at a partition: drives progress, moves nothing by itself. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = ix_enter(@OPERATION@, @CALLER@);
    @CALL@;
    ix_leave(ix_t);
    @RETURN@;
}
