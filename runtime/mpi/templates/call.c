/* Call time only. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = ix_enter_from(@OPERATION@, @CALLER@, @FRAME@);
    @CALL@;
    ix_observed_leave(ix_t);
    @RETURN@;
}
