/* Bounds by rows: the largest entries of each row, and multipliers that make them smaller. */
#include <math.h>
#include <string.h>

#include "bestk.h"

enum { BEST, TARGET_STEP, AIM, SIZE, WINDOW_START, DONE }; /* in state */

/* Rows of C = Q + A, A antisymmetric: a multiplier exists where both items have a row. */
typedef struct {
    double *C; /* [m][n] */
    int64_t m, n, width;
    const int64_t *items; /* [m]: the item of each row */
    const int64_t *place; /* [n]: the row of each item, or -1 */
    const double *linear; /* [n] */
    int64_t *tops;        /* [m][width]: where the largest entries of a row are */
    double *floors;       /* [m]: the least of them */
    double *values;       /* [n]: linear + the largest entries */
} Rows;

/* Keep the least of some numbers first, after the first one has changed. */
static void sift_down(double *heap, int64_t *where, int64_t count) {
    const double value = heap[0];
    const int64_t item = where[0];
    int64_t at = 0;
    for (int64_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1] < heap[child]) child++;
        if (!(heap[child] < value)) break;
        heap[at] = heap[child];
        where[at] = where[child];
        at = child;
    }
    heap[at] = value;
    where[at] = item;
}

/* The sum of the ``width`` largest row[j] - shift[j], j not own; where they are; the least first in
   heap, of width entries. */
static double scan(const double *row, const double *shift, int64_t n, int64_t own, int64_t width,
    int64_t *where, double *heap) {
    for (int64_t q = 0; q < width; q++) heap[q] = -INFINITY;
    for (int64_t j = 0; j < n; j++) {
        const double value = shift ? row[j] - shift[j] : row[j];
        if (!(value > heap[0]) || j == own) continue;
        heap[0] = value;
        where[0] = j;
        sift_down(heap, where, width);
    }
    double sum = 0.0;
    for (int64_t q = 0; q < width; q++) sum += heap[q];
    return sum;
}

/* Of each of m rows: the sum of its ``width`` largest entries less the shift of their columns, the
   entry of its own item left out; where they are, and the least. */
EXPORT int bestk_row_tops(const double *C, int64_t step, int64_t m, int64_t n,
    const int64_t *items, const double *shift, int64_t width, int64_t *tops, double *floors,
    double *sums) {
    double *heap = malloc((size_t)width * sizeof *heap);
    if (!heap) return NO_MEMORY;
    for (int64_t p = 0; p < m; p++) {
        sums[p] = scan(C + p * step, shift, n, items[p], width, tops + p * width, heap);
        floors[p] = heap[0];
    }
    free(heap);
    return OK;
}

static int holds(const int64_t *list, int64_t count, int64_t item) {
    for (int64_t q = 0; q < count; q++)
        if (list[q] == item) return 1;
    return 0;
}

/* Bring a row up to date after its entry of one item has grown. */
static void raise_entry(Rows *r, int64_t p, int64_t item) {
    const double *row = r->C + p * r->n;
    int64_t *top = r->tops + p * r->width;
    if (!holds(top, r->width, item)) {
        if (!(row[item] > r->floors[p])) return;
        int64_t q = 0;
        while (row[top[q]] != r->floors[p]) q++;
        top[q] = item;
    }
    double sum = 0.0, least = INFINITY;
    for (int64_t q = 0; q < r->width; q++) {
        sum += row[top[q]];
        least = lower(least, row[top[q]]);
    }
    r->floors[p] = least;
    r->values[r->items[p]] = r->linear[r->items[p]] + sum;
}

/* Make steps that lower the sum of the k largest values; k = width + 1.

   A row among the k largest pays ``change`` for each of its largest entries, and the partner gains
   it, unless both rows count the pair. The step aims at state[AIM] or, if that is nearer, at
   state[TARGET_STEP] below the best sum so far; this distance is halved after a window of steps
   that gained little, and doubled after one that gained much. best: the values of the best sum. */
EXPORT int bestk_lower_rows(double *C, int64_t m, int64_t n, int64_t width, const int64_t *items,
    const int64_t *place, const double *linear, int64_t *tops, double *floors, double *values,
    int64_t steps, double *best, double *state) {
    Rows r = {C, m, n, width, items, place, linear, tops, floors, values};
    Room room = {0};
    const int64_t k = width + 1;
    double *heap = take(&room, k, sizeof *heap);
    int64_t *active = take(&room, k, sizeof *active);
    int64_t *pairs = take(&room, 2 * k * width, sizeof *pairs); /* row and item */
    uint8_t *busy = take(&room, m, sizeof *busy);
    if (room.status) return release(&room);
    for (int64_t step = 0; step <= steps && state[DONE] == 0.0; step++) {
        const double total = scan(values, NULL, n, -1, k, active, heap);
        if (total < state[BEST]) {
            state[BEST] = total;
            memcpy(best, values, (size_t)n * sizeof *best);
        }
        if (step == steps) break;
        const double excess = total - higher(state[AIM], state[BEST] - state[TARGET_STEP]);
        int64_t count = 0;
        for (int64_t a = 0; a < k; a++)
            if (place[active[a]] >= 0) busy[place[active[a]]] = 1;
        for (int64_t a = 0; a < k; a++) {
            const int64_t p = place[active[a]];
            for (int64_t q = 0; p >= 0 && q < width; q++) {
                const int64_t j = tops[p * width + q], other = place[j];
                if (other < 0) continue;
                if (busy[other] && holds(tops + other * width, width, active[a])) continue;
                pairs[2 * count] = p;
                pairs[2 * count++ + 1] = j;
            }
        }
        if (count == 0 || !(excess > 0.0)) state[DONE] = 1.0;
        const double change = count ? excess / (double)count : 0.0;
        for (int64_t q = 0; q < count && state[DONE] == 0.0; q++) {
            const int64_t p = pairs[2 * q], j = pairs[2 * q + 1], other = place[j];
            double *paid = C + p * n + j, *gained = C + other * n + items[p];
            *paid -= change;
            *gained += change;
            state[SIZE] = higher(state[SIZE], higher(fabs(*paid), fabs(*gained)));
            if (!busy[other]) raise_entry(&r, other, items[p]);
        }
        for (int64_t a = 0; a < k; a++) {
            const int64_t i = active[a], p = place[i];
            if (p < 0) continue;
            busy[p] = 0;
            values[i] = linear[i] + scan(C + p * n, NULL, n, i, width, tops + p * width, heap);
            floors[p] = heap[0];
        }
    }
    const double gained = state[WINDOW_START] - state[BEST];
    if (gained < 0.25 * state[TARGET_STEP]) state[TARGET_STEP] /= 2.0;
    if (gained > state[TARGET_STEP]) state[TARGET_STEP] *= 2.0;
    state[WINDOW_START] = state[BEST];
    return release(&room);
}
