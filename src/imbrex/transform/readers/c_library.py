"""What routines of the C library do to the memory of their arguments.

Position -> "r" or "w"; a routine that is not listed in EFFECTS is unknown code over which nothing
moves. Output routines are not listed there: the order of output may be what the program's messages
are for. The names are those of C11 (chapter 7) and of POSIX.1-2017 (volume 3).
"""

from __future__ import annotations

# Functions of a number or of two, in the types double, float (`f`) and long double (`l`).
_REAL = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
fdim floor fma fmax fmin fmod hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb
lrint lround nearbyint nextafter nexttoward pow remainder rint round scalbln scalbn sin sinh sqrt
tan tanh tgamma trunc
cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj creal
csin csinh csqrt ctan ctanh
"""
_PURE = """
abs labs llabs div ldiv lldiv imaxabs j0 j1 jn y0 y1 yn significand
isnan isinf isfinite isnormal signbit fpclassify __isnan __isinf __finite __signbit __fpclassify
isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper
isxdigit toascii tolower toupper
atof atoi atol atoll memcmp strcasecmp strcmp strcspn strlen strncasecmp strncmp strnlen strspn
difftime clock time htonl htons ntohl ntohs getpid getppid getuid sysconf isatty omp_get_wtime
__builtin_expect __builtin_fabs __builtin_sqrt __builtin_isnan __ctype_b_loc
"""
_READING = frozenset(_PURE.split()) | {
    name + suffix for name in _REAL.split() for suffix in ("", "f", "l")
}
EFFECTS: dict[str, dict[int, str]] = {name: {0: "r", 1: "r", 2: "r"} for name in _READING} | {
    "time": {0: "w"},
    "memcpy": {0: "w", 1: "r"},
    "memmove": {0: "w", 1: "r"},
    "memset": {0: "w"},
    "strcpy": {0: "w", 1: "r"},
    "strncpy": {0: "w", 1: "r"},
    "malloc": {},
    "calloc": {},
    "aligned_alloc": {},
    "free": {0: "w"},
    "operator new": {},
    "operator new[]": {},
    "operator delete": {0: "w"},
    "operator delete[]": {0: "w"},
    "rand": {},
    "random": {},
    "drand48": {},
    "srand": {},
    "srand48": {},
    "srandom": {},
    "rand_r": {0: "w"},
    "erand48": {0: "w"},
    "modf": {1: "w"},
    "modff": {1: "w"},
    "frexp": {1: "w"},
    "frexpf": {1: "w"},
    "remquo": {2: "w"},
    "sincos": {1: "w", 2: "w"},
    "gettimeofday": {0: "w", 1: "w"},
    "clock_gettime": {1: "w"},
    "getrusage": {1: "w"},
    "times": {0: "w"},
    "bzero": {0: "w"},
    "__assert_fail": {},
    "std::size": {},
    "std::empty": {},
    "std::capacity": {},
    "__builtin_unreachable": {},
}
# Routines of the language's library whose effects are not described, but that call no MPI, unless
# by a function of the program that they are given, which is known then. What starts other programs,
# loads code or shares memory between processes is not among them.
_WITHOUT_MPI = """
abort atexit at_quick_exit bsearch exit _exit _Exit getenv secure_getenv setenv unsetenv putenv
mblen mbstowcs mbtowc qsort qsort_r quick_exit realloc reallocarray posix_memalign memalign valloc
lrand48 mrand48 nrand48 jrand48 srand initstate setstate strtod strtof strtol strtold strtoll
strtoul strtoull strtoimax strtoumax wcstombs wctomb mkstemp mkdtemp mktemp realpath
clearerr fclose fdopen feof ferror fflush fgetc fgetpos fgets fileno fopen fprintf fputc fputs
fread freopen fscanf fseek fseeko fsetpos ftell ftello fwrite getc getc_unlocked getchar getdelim
getline gets perror printf putc putchar puts remove rename rewind scanf setbuf
setlinebuf setvbuf snprintf sprintf sscanf tmpfile tmpnam ungetc vasprintf asprintf vfprintf
vfscanf vprintf vscanf vsnprintf vsprintf vsscanf dprintf vdprintf open_memstream fmemopen
flockfile funlockfile
memccpy memchr mempcpy memrchr memmem stpcpy stpncpy strcat strchr strchrnul strcoll strdup
strerror strerror_r strncat strndup strpbrk strrchr strsep strsignal strstr strcasestr strtok
strtok_r strxfrm bcmp bcopy index rindex ffs
asctime asctime_r ctime ctime_r clock_getres clock_nanosleep getdate gmtime gmtime_r localtime
localtime_r mktime nanosleep strftime strptime timespec_get tzset getrlimit setrlimit
access alarm chdir chmod chown close closedir creat dup dup2
fchmod fcntl fstat fsync fdatasync ftruncate getcwd getegid geteuid getgid gethostname
getlogin getopt getopt_long getpagesize getpgrp getpriority getpwuid getpwnam getsid ioctl
link lseek lstat mkdir open opendir pread pwrite
raise read readdir readlink readv rewinddir rmdir setpriority shm_unlink sigaction
sigaddset sigemptyset sigfillset signal sigprocmask sleep stat statvfs symlink sync truncate ttyname
umask uname unlink usleep write writev ualarm
setjmp _setjmp sigsetjmp longjmp siglongjmp
localeconv setlocale newlocale uselocale iconv iconv_open iconv_close
feclearexcept feenableexcept fedisableexcept fegetenv fegetexceptflag fegetround feholdexcept
feraiseexcept fesetenv fesetexceptflag fesetround fetestexcept feupdateenv nan nanf nanl
regcomp regexec regerror regfree glob globfree wordexp fnmatch basename dirname
sched_yield sched_getaffinity sched_setaffinity sched_getcpu
wcscpy wcslen wcscmp wprintf fwprintf swprintf towlower towupper assert __errno_location
__assert_fail __isoc99_sscanf __isoc99_fscanf __isoc99_scanf
omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_set_num_threads omp_get_num_procs
omp_in_parallel omp_get_wtick omp_set_dynamic omp_get_dynamic omp_set_nested omp_get_nested
omp_init_lock omp_set_lock omp_unset_lock omp_test_lock omp_destroy_lock omp_get_level
omp_set_schedule omp_get_schedule omp_get_team_num omp_get_num_teams omp_get_num_devices
omp_get_default_device omp_set_default_device omp_is_initial_device
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
    "lgamma": "signgam",
    "lgammaf": "signgam",
    "lgammal": "signgam",
}
COPIES = frozenset({"memcpy", "memmove"})
ALLOCATORS = frozenset({"malloc", "calloc", "aligned_alloc"})
RETURNS_FIRST_ARGUMENT = frozenset({"memcpy", "memmove", "memset", "strcpy", "strncpy"})
