/* Included into every source that gcc instruments for x86-64: what the hooks of accesses change.
 *
 * To the compiler a hook is a call, which may change every register that a callee need not keep:
 * no floating-point value would live from one access to the next. With a body that it sees, it
 * knows of a few registers that are changed and uses all others (-fipa-ra). These bodies are only
 * called where the assembler has not put the question in their place (recorder/hooks.py); nothing
 * is known of the code then, so they keep the widest vectors. Each object has its own. */
#pragma GCC system_header
#ifndef IMBREX_ACCESS_REGISTERS_H
#define IMBREX_ACCESS_REGISTERS_H
#if defined(__x86_64__) && !defined(__ILP32__) && !defined(__ASSEMBLER__) && __GNUC__ >= 9 &&      \
    !defined(__clang__) && !defined(__INTEL_COMPILER)
#ifdef __cplusplus
extern "C" {
#define IXA_HIDDEN
#else
/* In a shared library others might replace them else. */
#define IXA_HIDDEN __attribute__((visibility("hidden")))
#endif

/* no_reorder: they are compiled first. */
#define IXA_SEEN                                                                                   \
    __attribute__((noinline, noclone, no_reorder, no_sanitize("thread"), no_instrument_function))
#define IXA_HOOK(name)                                                                             \
    IXA_HIDDEN IXA_SEEN void __builtin___tsan_##name(void *ixa_at)                                 \
    {                                                                                              \
        register void *ixa_code __asm__("r9") = __builtin_return_address(0);                       \
        __asm__ volatile(".local\t__tsan_" #name "\n"                                              \
                         "\tmovq\timbrex_access_all_" #name "@GOTPCREL(%%rip), %%rax\n"            \
                         "\tcall\timbrex_access_kept_wide@PLT"                                     \
                         : "+D"(ixa_at), "+r"(ixa_code)                                            \
                         :                                                                         \
                         : "rax", "r10", "r11", "cc", "memory");                                   \
    }
#define IXA_HOOKS(size)                                                                            \
    IXA_HOOK(read##size)                                                                           \
    IXA_HOOK(write##size)                                                                          \
    IXA_HOOK(volatile_read##size)                                                                  \
    IXA_HOOK(volatile_write##size)
IXA_HOOKS(1)
IXA_HOOKS(2)
IXA_HOOKS(4)
IXA_HOOKS(8)
IXA_HOOKS(16)
IXA_HIDDEN IXA_SEEN void __builtin___tsan_func_entry(void *ixa_at)
{
    __asm__ volatile(".local\t__tsan_func_entry" : : "r"(ixa_at) : "memory");
}
IXA_HIDDEN IXA_SEEN void __builtin___tsan_func_exit(void *ixa_at)
{
    __asm__ volatile(".local\t__tsan_func_exit" : : "r"(ixa_at) : "memory");
}
#undef IXA_HOOKS
#undef IXA_HOOK
#undef IXA_SEEN
#undef IXA_HIDDEN
#ifdef __cplusplus
}
#endif
#endif
#endif
