/* Functions of the C library that copy and fill memory, beside memcpy, memmove and memset: linked
 * with --wrap. The names that end in _chk are what _FORTIFY_SOURCE makes of the others. */
#include <string.h>
#include <strings.h>

#include "access/access.h"
#include "access/hooks.h"

#define CODE __builtin_return_address(0)

void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
void *__real___memcpy_chk(void *, const void *, size_t, size_t);
void *__real___memmove_chk(void *, const void *, size_t, size_t);
void *__real___memset_chk(void *, int, size_t, size_t);
char *__real___strcpy_chk(char *, const char *, size_t);
char *__real___strncpy_chk(char *, const char *, size_t, size_t);
int __real_memcmp(const void *, const void *, size_t);
char *__real_strcpy(char *, const char *);
char *__real_strncpy(char *, const char *, size_t);
char *__real_strcat(char *, const char *);

void *__wrap___memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
    ixa_copied_range(to, from, n, CODE);
    return __real___memcpy_chk(to, from, n, room);
}

void *__wrap___memmove_chk(void *to, const void *from, size_t n, size_t room)
{
    ixa_copied_range(to, from, n, CODE);
    return __real___memmove_chk(to, from, n, room);
}

void *__wrap___memset_chk(void *to, int value, size_t n, size_t room)
{
    ixa_range(to, n, 1, CODE);
    return __real___memset_chk(to, value, n, room);
}

void *__wrap_mempcpy(void *to, const void *from, size_t n)
{
    ixa_range(from, n, 0, CODE);
    ixa_range(to, n, 1, CODE);
    return (char *)__real_memcpy(to, from, n) + n;
}

void __wrap_bcopy(const void *from, void *to, size_t n)
{
    ixa_range(from, n, 0, CODE);
    ixa_range(to, n, 1, CODE);
    __real_memmove(to, from, n);
}

void __wrap_bzero(void *to, size_t n)
{
    ixa_range(to, n, 1, CODE);
    __real_memset(to, 0, n);
}

int __wrap_memcmp(const void *one, const void *other, size_t n)
{
    ixa_range(one, n, 0, CODE);
    ixa_range(other, n, 0, CODE);
    return __real_memcmp(one, other, n);
}

/* With its terminating zero. */
static void copied_text(char *to, const char *from, size_t n, const void *code)
{
    ixa_range(from, n, 0, code);
    ixa_range(to, n, 1, code);
}

char *__wrap_strcpy(char *to, const char *from)
{
    copied_text(to, from, strlen(from) + 1, CODE);
    return __real_strcpy(to, from);
}

char *__wrap___strcpy_chk(char *to, const char *from, size_t room)
{
    copied_text(to, from, strlen(from) + 1, CODE);
    return __real___strcpy_chk(to, from, room);
}

char *__wrap_stpcpy(char *to, const char *from)
{
    size_t n = strlen(from);
    copied_text(to, from, n + 1, CODE);
    return (char *)__real_memcpy(to, from, n + 1) + n;
}

/* strncpy fills up what it does not copy. */
static void copied_field(char *to, const char *from, size_t n, const void *code)
{
    size_t length = strnlen(from, n);
    ixa_range(from, length < n ? length + 1 : n, 0, code);
    ixa_range(to, n, 1, code);
}

char *__wrap_strncpy(char *to, const char *from, size_t n)
{
    copied_field(to, from, n, CODE);
    return __real_strncpy(to, from, n);
}

char *__wrap___strncpy_chk(char *to, const char *from, size_t n, size_t room)
{
    copied_field(to, from, n, CODE);
    return __real___strncpy_chk(to, from, n, room);
}

char *__wrap_strcat(char *to, const char *from)
{
    size_t at = strlen(to);
    ixa_range(to, at + 1, 0, CODE);
    copied_text(to + at, from, strlen(from) + 1, CODE);
    return __real_strcat(to, from);
}
