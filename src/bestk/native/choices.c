/* The best swap of a chosen item for another. With gains[i] = Q_ii + 2 sum of Q_ij over the other
   chosen items j, swapping u for v changes x'Qx by gains[v] - gains[u] - 2 Q_uv. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* Write the place of the item to drop, among the k chosen ones, and the item to add: the first of
   the best ones, or -1 and -1 where no swap gains more than ``least``.

   A column is read only if its lowest entry, with the largest gain of all items that may enter,
   lets a swap be better than the best so far.

   columns: [k][n], of the chosen items; floors: [k], the lowest entry of each. */
EXPORT int bestk_best_swap(const double *columns, int64_t k, int64_t n, const double *gains,
    const int64_t *chosen, const double *floors, double least, int64_t *swap) {
    Room room = {0};
    double *others = take(&room, n, sizeof *others); /* gains of the items that may enter */
    double *worth = take(&room, n, sizeof *worth);   /* what swaps for each of them gain */
    if (room.status) return release(&room);
    memcpy(others, gains, (size_t)n * sizeof *others);
    for (int64_t place = 0; place < k; place++) others[chosen[place]] = -INFINITY;
    const double largest_gain = bestk_range(others, n).high;
    double best = least;
    swap[0] = -1;
    swap[1] = -1;
    for (int64_t place = 0; place < k; place++) {
        const double *column = columns + place * n;
        const double loss = gains[chosen[place]];
        if (!(largest_gain - loss - 2.0 * floors[place] > best)) continue;
        for (int64_t j = 0; j < n; j++) worth[j] = others[j] - loss - 2.0 * column[j];
        const double highest = bestk_range(worth, n).high;
        if (!(highest > best)) continue;
        best = highest;
        int64_t entering = 0;
        while (worth[entering] != highest) entering++;
        swap[0] = place;
        swap[1] = entering;
    }
    return release(&room);
}
