/* Stockham's radix-2 algorithm: no bit reversal, two work arrays that change places. */
#include "fft1d.h"
#include <math.h>
#include <stdlib.h>

void fft_plan_make(struct fft_plan *plan, int n)
{
    plan->n = n;
    plan->root = malloc((size_t)n * sizeof *plan->root);
    plan->work = malloc(2 * (size_t)n * sizeof *plan->work);
    if (!plan->root || !plan->work)
        abort();
    for (int k = 0; k < n / 2; k++)
        plan->root[k] = cos(2.0 * M_PI * k / n) - I * sin(2.0 * M_PI * k / n);
}

void fft_plan_free(struct fft_plan *plan)
{
    free(plan->root);
    free(plan->work);
}

void fft_line(const struct fft_plan *plan, double complex *x, int stride, int sign)
{
    int n = plan->n;
    double complex *from = plan->work, *to = plan->work + n;
    for (int j = 0; j < n; j++)
        from[j] = x[(long)j * stride];
    /* in a stage, n/2/groups butterflies share the root of each of `groups` groups */
    for (int half = n / 2, groups = 1; half >= 1; half /= 2, groups *= 2) {
        for (int g = 0; g < half; g++) {
            double complex w = plan->root[g * groups];
            if (sign > 0)
                w = conj(w);
            for (int k = 0; k < groups; k++) {
                double complex a = from[k + groups * g], b = from[k + groups * (g + half)];
                to[k + groups * 2 * g] = a + b;
                to[k + groups * (2 * g + 1)] = (a - b) * w;
            }
        }
        double complex *swap = from;
        from = to;
        to = swap;
    }
    for (int j = 0; j < n; j++)
        x[(long)j * stride] = from[j];
}
