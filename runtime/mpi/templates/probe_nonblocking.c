/* A probe moves nothing: call time. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = ix_enter(@OPERATION@, @CALLER@);
    @CALL@;
    ix_leave(ix_t);
    @RETURN@;
}
