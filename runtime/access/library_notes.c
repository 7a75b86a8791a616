/* Linked into each instrumented library, which has no hooks of its own with gcc: tells the
 * program's recorder which of its accesses have no hook. */
extern const char unseen_begin[] __asm__("__start_imbrex_unseen")
    __attribute__((weak, visibility("hidden")));
extern const char unseen_end[] __asm__("__stop_imbrex_unseen")
    __attribute__((weak, visibility("hidden")));
extern void imbrex_access_unseen(const char *begin, const char *end) __attribute__((weak));

static __attribute__((constructor)) void say_unseen(void)
{
    if (unseen_begin && imbrex_access_unseen)
        imbrex_access_unseen(unseen_begin, unseen_end);
}
