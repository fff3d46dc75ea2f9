/* The best swap of a chosen item for another.
   gains[i] = Q_ii + 2 sum of Q_ij over the other chosen items j. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* Write the place of the item to drop and the item to add, the first of the best ones, or -1 where
   no swap gains more than the least. columns: [k][n], of the chosen items; floors: the least entry
   of each, which tells columns that need not be read. */
EXPORT int bestk_best_swap(const double *columns, int64_t k, int64_t n, const double *gains,
    const int64_t *chosen, const double *floors, double least, int64_t *swap) {
    Room room = {0};
    double *others = take(&room, n, sizeof *others), *worth = take(&room, n, sizeof *worth);
    if (room.status) return release(&room);
    memcpy(others, gains, (size_t)n * sizeof *others);
    for (int64_t place = 0; place < k; place++) others[chosen[place]] = -INFINITY;
    const double most = bestk_range(others, n).high;
    double best = least;
    swap[0] = swap[1] = -1;
    for (int64_t place = 0; place < k; place++) {
        const double *column = columns + place * n, own = gains[chosen[place]];
        if (!(most - own - 2.0 * floors[place] > best)) continue;
        for (int64_t j = 0; j < n; j++) worth[j] = others[j] - own - 2.0 * column[j];
        const double highest = bestk_range(worth, n).high;
        if (!(highest > best)) continue;
        best = highest;
        swap[0] = place;
        for (swap[1] = 0; worth[swap[1]] != highest;) swap[1]++;
    }
    return release(&room);
}
