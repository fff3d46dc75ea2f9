/* Swaps of one chosen item for another, and pairs of items to start from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "extremes.h"

/* The place of the item to drop and the item to add, if that gains more than ``least``, else -1;
   the first of equal ones. columns: [k][n], those of the chosen items; gains: [n], of all items. */
EXPORT int bestk_best_swap(
    const double *columns, const double *gains, int64_t n, const int64_t *chosen, int64_t k,
    double least, int64_t *swap) {
    double *room = malloc(2 * (size_t)n * sizeof *room);
    if (!room) return NO_MEMORY;
    double *restrict open = room, *restrict gain = room + n; /* open: of items that may enter */
    memcpy(open, gains, (size_t)n * sizeof *open);
    for (int64_t place = 0; place < k; place++) open[chosen[place]] = -INFINITY;
    swap[0] = swap[1] = -1;
    for (int64_t place = 0; place < k; place++) {
        const double *entries = columns + place * n, loss = gains[chosen[place]];
        for (int64_t i = 0; i < n; i++) gain[i] = open[i] - loss - 2.0 * entries[i];
        const double highest = bestk_highest(gain, n);
        if (!(highest > least)) continue;
        int64_t item = 0;
        while (gain[item] != highest) item++;
        swap[0] = place, swap[1] = item, least = highest;
    }
    free(room);
    return OK;
}

/* For each item the partner it is worth most with, if all pairs were like theirs, and that worth:
   the diagonal entries of both and 2 weight times their entry. rows: of Q, those of the items. */
EXPORT int bestk_find_partners(
    const double *rows, int64_t stride, int64_t n, const int64_t *items, int64_t n_items,
    const double *diagonal, double weight, double *worth, int64_t *partners) {
    for (int64_t a = 0; a < n_items; a++) {
        const double *row = rows + a * stride;
        double best = -INFINITY;
        partners[a] = -1;
        for (int64_t j = 0; j < n; j++) {
            const double value = diagonal[j] + 2.0 * weight * row[j];
            if (value > best && j != items[a]) best = value, partners[a] = j;
        }
        worth[a] = diagonal[items[a]] + best;
    }
    return OK;
}
