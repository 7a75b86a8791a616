/* Calls of the recorder that change no register but rax, rdi, r9, r10 and r11: all that the
 * compiler takes a hook to change (registers.h). rax is the function to be called, rdi its access,
 * r10 how many accesses that are counted are still to come, r9 where in the program the access is.
 * The stack need not be aligned here. imbrex_access_kept_wide is for code that uses vectors of more
 * than 16 bytes. */
#ifdef __x86_64__

#define BEGIN(name)                                                                                \
    "\t.globl\t" name "\n"                                                                         \
    "\t.type\t" name ", @function\n" name ":\n"                                                    \
    "\t.cfi_startproc\n"                                                                           \
    "\tpushq\t%rbp\n"                                                                              \
    "\t.cfi_def_cfa_offset 16\n"                                                                   \
    "\t.cfi_offset 6, -16\n"                                                                       \
    "\tmovq\t%rsp, %rbp\n"                                                                         \
    "\t.cfi_def_cfa_register 6\n"                                                                  \
    "\tpushq\t%rcx\n"                                                                              \
    "\tpushq\t%rdx\n"                                                                              \
    "\tpushq\t%rsi\n"                                                                              \
    "\tpushq\t%r8\n"
#define CALL                                                                                       \
    "\tmovl\t%r10d, %esi\n"                                                                        \
    "\tmovq\t%r9, %rdx\n"                                                                          \
    "\tcall\t*%r11\n"
#define END(name)                                                                                  \
    "\tmovq\t-8(%rbp), %rcx\n"                                                                     \
    "\tmovq\t-16(%rbp), %rdx\n"                                                                    \
    "\tmovq\t-24(%rbp), %rsi\n"                                                                    \
    "\tmovq\t-32(%rbp), %r8\n"                                                                     \
    "\tleave\n"                                                                                    \
    "\t.cfi_def_cfa 7, 8\n"                                                                        \
    "\tret\n"                                                                                      \
    "\t.cfi_endproc\n"                                                                             \
    "\t.size\t" name ", .-" name "\n"
#define EACH(move)                                                                                 \
    move("0") move("1") move("2") move("3") move("4") move("5") move("6") move("7") move("8")      \
        move("9") move("10") move("11") move("12") move("13") move("14") move("15")
#define PUT(number) "\tmovaps\t%xmm" number ", 16*" number "(%rsp)\n"
#define TAKE(number) "\tmovaps\t16*" number "(%rsp), %xmm" number "\n"
/* Components of the processor's state: SSE, AVX and the three of AVX-512. The header behind the
 * first 512 bytes must be zero. */
#define COMPONENTS "\tmovl\t$0xe6, %eax\n\txorl\t%edx, %edx\n"
#define ZERO(offset) "\tmovq\t%rdx, 512+" offset "(%rsp)\n"

/* clang-format off */
__asm__(
    "\t.text\n"
    BEGIN("imbrex_access_kept")
    "\tsubq\t$256, %rsp\n"
    "\tandq\t$-16, %rsp\n"
    EACH(PUT)
    "\tmovq\t%rax, %r11\n"
    CALL
    EACH(TAKE)
    END("imbrex_access_kept")
    BEGIN("imbrex_access_kept_wide")
    "\tsubq\t$2752, %rsp\n"
    "\tandq\t$-64, %rsp\n"
    "\tmovq\t%rax, %r11\n"
    COMPONENTS
    ZERO("0") ZERO("8") ZERO("16") ZERO("24") ZERO("32") ZERO("40") ZERO("48") ZERO("56")
    "\txsave\t(%rsp)\n"
    CALL
    COMPONENTS
    "\txrstor\t(%rsp)\n"
    END("imbrex_access_kept_wide"));
/* clang-format on */

#endif
