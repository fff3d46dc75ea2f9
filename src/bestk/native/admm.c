/* Steps of the alternating directions on the doubly non-negative relaxation. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* Matrices are [size][size]; y is a row of scratch. */
typedef struct {
    const double *P, *cost, *x;
    int64_t size;
    double penalty, step;
    double *Y, *Z, *y;
} Sweep;

/* out = A - vw' - wv' without the first row and column; A: [n + 1][n + 1], out: [n][n]. */
INLINE void minus_outer(
    const double *A, const double *v, const double *w, int64_t n, double *restrict out) {
    for (int64_t i = 1; i <= n; i++, out += n)
        for (int64_t j = 1; j <= n; j++)
            out[j - 1] = A[i * (n + 1) + j] - v[i] * w[j] - w[i] * v[j];
}
FOR_EACH_CPU(minus_outer,
    (const double *A, const double *v, const double *w, int64_t n, double *out), (A, v, w, n, out))

/* See minus_outer. */
EXPORT int bestk_minus_outer(
    const double *A, const double *v, const double *w, int64_t n, double *out) {
    minus_outer_best(A, v, w, n, out);
    return OK;
}

/* Set row i of Y and Z; add to the squared distances of Y from P and from its old self. */
INLINE void sweep_row(const Sweep *s, int64_t i, double *distances) {
    const int64_t size = s->size;
    const double *p = s->P + i * size, *c = s->cost + i * size, penalty = s->penalty;
    const double step = s->step * penalty;
    double *old = s->Y + i * size, *restrict z = s->Z + i * size, *restrict y = s->y;
    for (int64_t j = 0; j < size; j++)
        y[j] = lower(higher(p[j] + (c[j] - z[j]) / penalty, 0.0), 1.0);
    if (i == 0) memcpy(y + 1, s->x, (size_t)(size - 1) * sizeof *y);
    y[0] = y[i] = i == 0 ? 1.0 : s->x[i - 1];
    double apart = distances[0], moved = distances[1];
    for (int64_t j = 0; j < size; j++) {
        z[j] += step * (y[j] - p[j]);
        apart += (y[j] - p[j]) * (y[j] - p[j]);
        moved += (y[j] - old[j]) * (y[j] - old[j]);
        old[j] = y[j];
    }
    distances[0] = apart;
    distances[1] = moved;
}
FOR_EACH_CPU(sweep_row, (const Sweep *s, int64_t i, double *distances), (s, i, distances))

/* Set Y to the nearest matrix with entries in [0, 1] and (1, x) as border and diagonal, then the
   multipliers Z; distances: how far Y is from P and from its old self. All [n + 1][n + 1]. */
EXPORT int bestk_admm_sweep(const double *P, const double *cost, const double *x, int64_t n,
    double penalty, double step, double *Y, double *Z, double *distances) {
    double *y = malloc((size_t)(n + 1) * sizeof *y);
    if (!y) return NO_MEMORY;
    const Sweep s = {P, cost, x, n + 1, penalty, step, Y, Z, y};
    distances[0] = distances[1] = 0.0;
    for (int64_t i = 0; i <= n; i++) sweep_row_best(&s, i, distances);
    free(y);
    distances[0] = sqrt(distances[0]);
    distances[1] = sqrt(distances[1]);
    return OK;
}
