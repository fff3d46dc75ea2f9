/* A choice of k items: grown by the item that helps most, improved by the best swap of two.
   gains[i] = Q_ii + 2 sum of Q_ij over the other chosen items j. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* The first of the largest of n numbers. */
INLINE int64_t largest(const double *x, int64_t n) {
    double most = -INFINITY;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < n; i++) most = higher(x[i], most);
    int64_t first = 0;
    while (first < n - 1 && x[first] != most) first++;
    return first;
}

/* Add sign * 2 Q_ij to the gains of all j but i. */
INLINE void count(const double *row, int64_t n, int64_t i, double sign, double *gains) {
    const double own = gains[i];
    for (int64_t j = 0; j < n; j++) gains[j] += 2.0 * sign * row[j];
    gains[i] = own;
}

/* Add items to the first ones until there are k; gains: -inf for those that are chosen. */
EXPORT int bestk_grow_choice(const double *Q, int64_t stride, int64_t n, int64_t k, int64_t size,
    int64_t *items, double *gains) {
    for (; size < k; size++) {
        const int64_t best = items[size] = largest(gains, n);
        count(Q + best * stride, n, best, 1.0, gains);
        gains[best] = -INFINITY;
    }
    return OK;
}

/* Swap one of k items for another, the best such pair each time, at most so many times, while the
   gain is above the least; the first of equal ones. made: how many swaps. */
EXPORT int bestk_swap_items(const double *Q, int64_t stride, int64_t n, int64_t k, double least,
    int64_t most, int64_t *items, double *gains, int64_t *made) {
    Room room = {0};
    double *others = take(&room, n, sizeof *others), *worth = take(&room, n, sizeof *worth);
    for (made[0] = 0; !room.status && made[0] < most; made[0]++) {
        double best = least;
        int64_t out = -1, in = -1;
        memcpy(others, gains, sizeof *others * (size_t)n);
        for (int64_t place = 0; place < k; place++) others[items[place]] = -INFINITY;
        for (int64_t place = 0; place < k; place++) {
            const double *row = Q + items[place] * stride, own = gains[items[place]];
            double highest = -INFINITY;
#pragma omp simd reduction(max : highest)
            for (int64_t j = 0; j < n; j++) {
                worth[j] = others[j] - own - 2.0 * row[j];
                highest = higher(worth[j], highest);
            }
            if (highest > best) best = highest, out = place, in = largest(worth, n);
        }
        if (out < 0) break;
        count(Q + items[out] * stride, n, items[out], -1.0, gains);
        count(Q + in * stride, n, in, 1.0, gains);
        items[out] = in;
    }
    return release(&room);
}
