/* Steps of the alternating directions on the doubly non-negative relaxation. */
#include <math.h>
#include <string.h>

#include "bestk.h"

enum { LANES = 8 }; /* in which sums are kept: the same bits on every processor */

/* Matrices are [size][size]; y is a row of scratch. */
typedef struct {
    const double *P, *cost, *x;
    int64_t size;
    double penalty, step;
    double *Y, *Z, *y;
    double apart[LANES], moved[LANES]; /* squared distances of Y from P and from its old self */
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

/* Of at most one entry a lane: move Z and the old Y, add to the squared distances of Y. */
INLINE void move(const double *y, const double *p, double step, int64_t width, double *restrict z,
    double *restrict old, double *restrict apart, double *restrict moved) {
#pragma omp simd
    for (int64_t j = 0; j < width; j++) {
        const double gap = y[j] - p[j], change = y[j] - old[j];
        z[j] += step * gap;
        old[j] = y[j];
        apart[j] += gap * gap;
        moved[j] += change * change;
    }
}

/* Set row i of Y and Z. */
INLINE void sweep_row(Sweep *s, int64_t i) {
    const int64_t size = s->size;
    const double *p = s->P + i * size, *c = s->cost + i * size, penalty = s->penalty;
    const double step = s->step * penalty;
    double *old = s->Y + i * size, *restrict z = s->Z + i * size, *restrict y = s->y;
    double apart[LANES], moved[LANES];
    for (int64_t j = 0; j < size; j++)
        y[j] = lower(higher(p[j] + (c[j] - z[j]) / penalty, 0.0), 1.0);
    if (i == 0) memcpy(y + 1, s->x, (size_t)(size - 1) * sizeof *y);
    y[0] = y[i] = i == 0 ? 1.0 : s->x[i - 1];
    memcpy(apart, s->apart, sizeof apart);
    memcpy(moved, s->moved, sizeof moved);
    int64_t j = 0;
    for (; j + LANES <= size; j += LANES)
        move(y + j, p + j, step, LANES, z + j, old + j, apart, moved);
    move(y + j, p + j, step, size - j, z + j, old + j, apart, moved);
    memcpy(s->apart, apart, sizeof apart);
    memcpy(s->moved, moved, sizeof moved);
}
FOR_EACH_CPU(sweep_row, (Sweep * s, int64_t i), (s, i))

/* Set Y to the nearest matrix with entries in [0, 1] and (1, x) as border and diagonal, then the
   multipliers Z; distances: how far Y is from P and from its old self. All [n + 1][n + 1]. */
EXPORT int bestk_admm_sweep(const double *P, const double *cost, const double *x, int64_t n,
    double penalty, double step, double *Y, double *Z, double *distances) {
    Sweep s = {P, cost, x, n + 1, penalty, step, Y, Z, NULL, {0}, {0}};
    s.y = malloc((size_t)(n + 1) * sizeof *s.y);
    if (!s.y) return NO_MEMORY;
    for (int64_t i = 0; i <= n; i++) sweep_row_best(&s, i);
    free(s.y);
    for (int j = 1; j < LANES; j++) {
        s.apart[0] += s.apart[j];
        s.moved[0] += s.moved[j];
    }
    distances[0] = sqrt(s.apart[0]);
    distances[1] = sqrt(s.moved[0]);
    return OK;
}
