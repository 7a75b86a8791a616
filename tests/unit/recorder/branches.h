/* Loops with branches, calls and more than one way back, for loops.c. */

LOOP masked(double *to, const double *from, const int *mask, int n)
{
    for (int i = 1; i < n - 1; i++)
        if (mask[i] % 3)
            to[i] = 0.5 * (from[i - 1] + from[i + 1]);
}
LOOP either(double *to, const double *from, const int *mask, int n)
{
    for (int i = 1; i < n - 1; i++)
        if (mask[i] % 2)
            to[i] = from[i] - from[i - 1];
        else
            to[i - 1] = from[i];
}
LOOP copy_some(double *to, const double *from, const int *mask, int n)
{
    for (int i = 0; i < n; i++) {
        double value = from[i];
        if (mask[i] % 5 == 0)
            continue;
        to[i] = value;
    }
}
LOOP most(const double *from, const int *mask, int n)
{
    double sum = 0, largest = -1;
    for (int i = 0; i < n; i++) {
        if (mask[i] & 1)
            sum += from[i];
        if (from[i] > largest)
            largest = from[i];
    }
    sink = sum + largest;
}
static __attribute__((noinline)) double half(double value)
{
    return value > 1 ? value / 2 : value;
}
LOOP call_of_values(double *to, const double *from, int n)
{
    for (int i = 1; i < n; i++)
        to[i] = from[i] + half(from[i - 1] * from[i]);
}
static __attribute__((noinline)) void smooth(double *to, const double *from)
{
    *to = from[0] + from[1];
}
LOOP call_of_pointers(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++) {
        smooth(to + i, from + i);
        to[i] += i;
    }
}
static __attribute__((noinline)) double depth(const double *from, int n)
{
    return n <= 0 ? 0 : from[n] + depth(from, n / 2) + from[0];
}
LOOP sparse(double *to, const double *from, const int *at, int n)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int end = k + i % 7; k < end && k < n; k++)
            sum += from[at[k]] * from[k];
        to[i] = sum;
    }
}
static __attribute__((noinline)) int find(const double *from, int n, double value)
{
    for (int i = 0; i < n; i++) {
        if (from[i] == value)
            return i;
        if (from[i] < 0)
            break;
    }
    return -1;
}
LOOP two_ways_back(double *to, const double *from, int n)
{
    int i = 0;
again:
    if (i >= n)
        return;
    to[i] = from[i];
    i++;
    if (i % 3)
        goto again;
    to[i] += from[i];
    if (i < n - 3)
        goto again;
}
LOOP by_kind(body_t *all, const int *mask, int n)
{
    for (int i = 0; i < n; i++) {
        body_t *body = all + i;
        switch (mask[i] % 7) {
        case 0:
            body->x = body->y;
            break;
        case 1:
            body->y += 1;
            break;
        case 2:
            body->mass = 2;
            continue;
        case 3:
            body->z = body->x + body->kind;
            break;
        case 4:
            return;
        case 5:
            body->kind = mask[i];
            /* fall through */
        default:
            body->x *= 2;
        }
        body->kind++;
    }
}
LOOP walk(double *to, const int *next, int n)
{
    for (int i = 0, steps = 0; steps < n; i = next[i], steps++)
        if (to[i] > 3)
            to[i] -= 1;
        else
            to[i] += 2;
}
LOOP reflect(body_t *all, int n)
{
    for (int i = 0; i < n; i++) {
        body_t *body = all + i;
        body->x += 0.5 * body->mass;
        body->y += 0.5 * body->mass;
        if (body->x < 0 || body->x > 1)
            body->mass = -body->mass;
        if (body->y < 0 || body->y > 4)
            body->z = -body->z;
    }
}
static jmp_buf out;
static __attribute__((noinline)) void leave_if(int leave)
{
    if (leave)
        longjmp(out, 1);
}
LOOP until_jump(double *to, const double *from, int n)
{
    volatile int i = 0;
    if (setjmp(out) == 0)
        for (;; i++) {
            to[i] = from[i] + 1;
            leave_if(i >= n);
            to[i] += 1;
        }
    to[i] = from[i];
}
static UNSEEN void communicate(void *memory, size_t size);
LOOP communicate_within(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        if (i % 50 == 7)
            communicate(to, sizeof a);
        if (to[i] > 5)
            to[i] = from[i + 1];
    }
}
LOOP nested(double *to, const double *from, const int *mask, int n, int width)
{
    for (int i = 0; i < n; i++) {
        if (mask[i] % 4 == 0) {
            to[i] = 1;
            continue;
        }
        for (int j = 0; j < width; j++) {
            if (mask[j] % 2)
                to[i * width + j] = from[i] + from[j];
            if (from[j] > 1e200)
                return;
        }
        to[i] += from[i];
    }
}
LOOP floats_if(float *to, const float *from, int n)
{
    for (int i = 0; i + 4 < n; i++) {
        float value = from[i + 3];
        if (value > 0)
            to[i] = value;
        to[i + 1] = from[i];
    }
}
typedef void function_t(double *, const double *);
LOOP by_pointer(double *to, const double *from, int n, function_t *function)
{
    for (int i = 0; i < n; i++)
        if (from[i] > 0)
            function(to + i, from + i);
}
LOOP long_doubles(long double *to, const long double *from, int n)
{
    for (int i = 0; i + 2 < n; i++)
        if (from[i] >= 0)
            to[i] = from[i + 1] + to[i + 2];
}
