/* One-dimensional complex FFT of a power of two. */
#ifndef FFT1D_H
#define FFT1D_H

#include <complex.h>

struct fft_plan {
    int n;
    double complex *root; /* exp(-2 pi i k / n), k < n/2 */
    double complex *work; /* n */
};

void fft_plan_make(struct fft_plan *plan, int n);
void fft_plan_free(struct fft_plan *plan);

/* In place on x[0], x[stride], ...: sum over j of x[j] exp(-+ 2 pi i j k / n), not scaled.
 * sign -1 is forward, +1 backward. */
void fft_line(const struct fft_plan *plan, double complex *x, int stride, int sign);

#endif
