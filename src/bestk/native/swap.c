/* The best swap of a chosen item for another. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* The place of the item to drop and the item to add, if that gains more than ``least``, else -1;
   the first of equal ones. columns: [k][n], those of the chosen items; gains: [n], of all items. */
EXPORT int bestk_best_swap(const double *columns, const double *gains, int64_t n,
    const int64_t *chosen, int64_t k, double least, int64_t *swap) {
    Room room = {0};
    double *open = take(&room, n, sizeof *open); /* gains of items that may enter */
    double *restrict gain = take(&room, n, sizeof *gain);
    if (room.status) return release(&room);
    memcpy(open, gains, (size_t)n * sizeof *open);
    for (int64_t place = 0; place < k; place++) open[chosen[place]] = -INFINITY;
    swap[0] = swap[1] = -1;
    for (int64_t place = 0; place < k; place++) {
        const double *entries = columns + place * n, loss = gains[chosen[place]];
        for (int64_t i = 0; i < n; i++) gain[i] = open[i] - loss - 2.0 * entries[i];
        const double highest = bestk_range(gain, n).high;
        if (!(highest > least)) continue;
        int64_t item = 0;
        while (gain[item] != highest) item++;
        swap[0] = place;
        swap[1] = item;
        least = highest;
    }
    return release(&room);
}
