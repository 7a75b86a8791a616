"""What routines of the C library do to the memory of their arguments.

Position -> "r" or "w"; a routine that is not listed is unknown code. Output routines are not
listed: the order of output may be what the program's messages are for.
"""

from __future__ import annotations

_PURE = """
cabs carg creal cimag conj cexp clog csqrt cpow csin ccos
sqrt cbrt fabs abs labs exp exp2 log log2 log10 pow sin cos tan asin acos atan atan2 sinh cosh
tanh floor ceil round trunc fmod fmin fmax hypot erf tgamma lgamma copysign lround lrint rint
sqrtf fabsf expf logf powf sinf cosf floorf ceilf fminf fmaxf isnan isinf isfinite strlen strcmp
strncmp memcmp atoi atol atof isdigit isspace toupper tolower rand random drand48
__builtin_expect __builtin_fabs __builtin_sqrt __builtin_isnan clock
"""

EFFECTS: dict[str, dict[int, str]] = {name: {0: "r", 1: "r"} for name in _PURE.split()} | {
    "memcpy": {0: "w", 1: "r"},
    "memmove": {0: "w", 1: "r"},
    "memset": {0: "w"},
    "strcpy": {0: "w", 1: "r"},
    "strncpy": {0: "w", 1: "r"},
    "malloc": {},
    "calloc": {},
    "aligned_alloc": {},
    "free": {0: "w"},
    "srand": {},
    "srand48": {},
    "srandom": {},
    "rand_r": {0: "w"},
    "erand48": {0: "w"},
    "modf": {1: "w"},
    "frexp": {1: "w"},
    "gettimeofday": {0: "w", 1: "w"},
    "clock_gettime": {1: "w"},
    "__assert_fail": {},
    "__builtin_unreachable": {},
}
# Routines of the language's library whose effects are not described, but that call no MPI.
_WITHOUT_MPI = """
exit _exit abort atexit getenv setenv getopt getopt_long strtol strtoul strtoll strtoull strtod
strtof atoi atol atof fopen fclose fprintf fscanf scanf sscanf fgets fgetc getc getchar fread fseek
ftell rewind snprintf sprintf vprintf vfprintf vsnprintf strcmp strncmp strcasecmp strncasecmp
strlen strchr strrchr strstr strcat strncat strtok strtok_r strerror strdup time clock difftime
localtime strftime realloc posix_memalign memcmp memchr qsort bsearch gethostname getpid sleep
usleep nanosleep isatty isspace isdigit isalpha toupper tolower remove unlink rename access stat
open close read write lseek feof ferror ungetc putc fputc setvbuf freopen perror assert longjmp
setjmp signal raise rand random drand48 lrand48
"""
NO_MPI = frozenset(_WITHOUT_MPI.split())
# Routines that use a state of the library's own: two of them do not change places.
STATES = {
    "rand": "rand",
    "srand": "rand",
    "random": "random",
    "srandom": "random",
    "drand48": "drand48",
    "srand48": "drand48",
}
COPIES = frozenset({"memcpy", "memmove"})
ALLOCATORS = frozenset({"malloc", "calloc", "aligned_alloc"})
RETURNS_FIRST_ARGUMENT = frozenset({"memcpy", "memmove", "memset", "strcpy", "strncpy"})
