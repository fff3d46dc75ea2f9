/* Counts of pairs that add up: a block of rows into them, cells of pairs out of them.
   Planes are the levels of all features but the first of each; cells holds, for planes q <= p and
   class c, the rows that have both, at (p (p + 1) / 2 + q) n_classes + c. */
#include <string.h>

#include "counting.h"

/* Where the counts of two planes begin, over n_classes. */
static inline int64_t place_of(int64_t p, int64_t q) {
    return p > q ? p * (p + 1) / 2 + q : q * (q + 1) / 2 + p;
}

/* Counts of all pairs, and the planes of the features: those of the feature at a place are
   planes[first[place]] up to first[place + 1]. */
typedef struct {
    const int64_t *first, *planes, *margin, *sizes; /* margin: [plane][class] */
    int64_t n_classes;
    int32_t *cells;
} Counts;

/* Add the counts of one tile with some rows, [class][row][plane][lane], of the pairs that are not
   counted yet. places: the place of each row; own: its plane. */
static void add_tile(const Counts *counts, const uint32_t *found, int64_t n_rows,
    const int64_t *places, const int64_t *own, int64_t start, int64_t stop, int64_t n_j) {
    for (int64_t row = 0; row < n_rows; row++)
        for (int64_t place = most_of(places[row], start); place < stop; place++)
            for (int64_t p = counts->first[place]; p < counts->first[place + 1]; p++) {
                const int64_t b = p - counts->first[place];
                const int64_t to = place_of(own[row], counts->planes[p]) * counts->n_classes;
                const uint32_t *from = found + (row * n_j + b) * LANES + place - start;
                for (int64_t c = 0; c < counts->n_classes; c++, from += n_rows * n_j * LANES)
                    counts->cells[to + c] += (int32_t)*from;
            }
}

/* Count the features at places begin up to end of a packed block (see _packed.py) against those
   from their tile on. */
EXPORT int bestk_add_block(const uint32_t *bits, const int64_t *bits_at, const int64_t *n_planes,
    int64_t n_tiles, const int64_t *words, int64_t n_classes, const int64_t *first,
    int64_t n_places, const int64_t *planes, int32_t *cells, int64_t begin, int64_t end) {
    const Counts counts = {first, planes, NULL, NULL, n_classes, cells};
    const int64_t n_rows = first[end] - first[begin], n_words = words[n_classes];
    int64_t most = 0;
    for (int64_t tile = 0; tile < n_tiles; tile++) most = most_of(n_planes[tile], most);
    Room room = {0};
    uint32_t *own = take(&room, n_rows * n_words, sizeof *own);
    uint32_t *found = take(&room, n_classes * n_rows * most * LANES, sizeof *found);
    int64_t *places = take(&room, n_rows, sizeof *places);
    if (room.status) return release(&room);
    for (int64_t place = begin, row = 0; place < end; place++)
        for (int64_t plane = 0; plane < first[place + 1] - first[place]; plane++, row++) {
            bestk_copy_plane(
                bits + bits_at[place / LANES], plane, place % LANES, n_words, own + row * n_words);
            places[row] = place;
        }
    for (int64_t tile = begin / LANES; n_rows > 0 && tile < n_tiles; tile++) {
        const int64_t start = tile * LANES, stop = least_of(n_places, start + LANES);
        if (n_planes[tile] < 1) continue;
        bestk_plane_kernels()->count_rows(
            own, n_rows, bits + bits_at[tile], n_planes[tile], words, n_classes, found);
        add_tile(
            &counts, found, n_rows, places, planes + first[begin], start, stop, n_planes[tile]);
    }
    return release(&room);
}

/* Write the counts of two features by class, [class][level][level], and without it. Cells of first
   levels are what the margins leave. */
static void pair_cells(
    const Counts *counts, int64_t i, int64_t j, int64_t *by_class, int64_t *pairs) {
    const int64_t *mine = counts->planes + counts->first[i];
    const int64_t *others = counts->planes + counts->first[j];
    const int64_t n_i = counts->first[i + 1] - counts->first[i], n_classes = counts->n_classes;
    const int64_t n_j = counts->first[j + 1] - counts->first[j], width = n_j + 1;
    memset(pairs, 0, sizeof *pairs * (size_t)((n_i + 1) * width));
    for (int64_t c = 0; c < n_classes; c++, by_class += (n_i + 1) * width) {
        int64_t corner = counts->sizes[c];
        for (int64_t b = 0; b < n_j; b++) {
            by_class[1 + b] = counts->margin[others[b] * n_classes + c];
            corner -= by_class[1 + b];
        }
        for (int64_t a = 0; a < n_i; a++) {
            int64_t *row = by_class + (a + 1) * width;
            int64_t left = counts->margin[mine[a] * n_classes + c];
            corner -= left;
            for (int64_t b = 0; b < n_j; b++) {
                const int64_t n = counts->cells[place_of(mine[a], others[b]) * n_classes + c];
                row[1 + b] = n;
                by_class[1 + b] -= n;
                left -= n;
                corner += n;
            }
            row[0] = left;
        }
        by_class[0] = corner;
        for (int64_t cell = 0; cell < (n_i + 1) * width; cell++) pairs[cell] += by_class[cell];
    }
}

/* The sum of table[count] over counts; a table over known counts only is searched. */
static uint64_t sum_table(
    const int64_t *table, const int64_t *known, int64_t n_known, const int64_t *counts, int64_t n) {
    uint64_t total = 0;
    for (int64_t cell = 0; cell < n; cell++) {
        const int64_t *at = known;
        for (int64_t left = n_known; left > 1; left -= left / 2)
            at += at[left / 2 - 1] < counts[cell] ? left / 2 : 0;
        total += (uint64_t)table[n_known ? at - known : counts[cell]];
    }
    return total;
}

/* Sum a formula over the cells of each pair, for the rows from begin up to end of out. mirror: rows
   and columns are the same, and both halves are written. n_most: the most levels. */
EXPORT int bestk_fill_counted(const int64_t *rows, const int64_t *columns, int64_t n_columns,
    int64_t mirror, const int64_t *first, const int64_t *planes, const int64_t *margin,
    const int64_t *sizes, int64_t n_classes, int32_t *cells, int64_t n_most,
    const int64_t *known, int64_t n_known, const int64_t *pair_table, const int64_t *class_table,
    const int64_t *row_term, const int64_t *column_term, double scale, double lowest, double *out,
    int64_t stride, int64_t begin, int64_t end) {
    const Counts counts = {first, planes, margin, sizes, n_classes, cells};
    Room room = {0};
    int64_t *pairs = take(&room, n_most * n_most, sizeof *pairs);
    int64_t *by_class = take(&room, n_most * n_most * n_classes, sizeof *by_class);
    if (room.status) return release(&room);
    for (int64_t r = begin; r < end; r++)
        for (int64_t s = 0; s < (mirror ? r + 1 : n_columns); s++) {
            const int64_t i = rows[r], j = columns[s];
            const int64_t n_cells = (first[i + 1] - first[i] + 1) * (first[j + 1] - first[j] + 1);
            pair_cells(&counts, i, j, by_class, pairs);
            const uint64_t total =
                sum_table(pair_table, known, n_known, pairs, n_cells) +
                sum_table(class_table, known, n_known, by_class, n_cells * n_classes);
            for (int turn = 0; turn <= (mirror ? 1 : 0); turn++) {
                const int64_t x = turn ? j : i, z = turn ? i : j;
                const int64_t to = turn ? s : r, at = turn ? r : s;
                const uint64_t sum = total + (uint64_t)row_term[x] + (uint64_t)column_term[z];
                out[to * stride + at] = higher(lowest, (double)(int64_t)sum * scale);
            }
        }
    return release(&room);
}

/* All counts of the cells of feature i with those up to it, a row of found each: width cells for
   each class, then width without it. */
EXPORT int bestk_list_counts(int64_t i, const int64_t *first, const int64_t *planes,
    const int64_t *margin, const int64_t *sizes, int64_t n_classes, int32_t *cells, int64_t width,
    int64_t *found) {
    const Counts counts = {first, planes, margin, sizes, n_classes, cells};
    for (int64_t j = 0; j <= i; j++, found += width * (n_classes + 1))
        pair_cells(&counts, i, j, found, found + width * n_classes);
    return OK;
}
