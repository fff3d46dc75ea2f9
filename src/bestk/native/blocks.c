/* Counts of pairs that add up: a block of rows into them.
   Planes are the levels of all features but the first of each; cells holds, for planes q <= p and
   class c, the rows that have both, at (p (p + 1) / 2 + q) n_classes + c. */
#include "counting.h"

/* Where the counts of two planes begin, over n_classes. */
static inline int64_t place_of(int64_t p, int64_t q) {
    return p > q ? p * (p + 1) / 2 + q : q * (q + 1) / 2 + p;
}

/* Counts of all pairs, and the planes of the features: those of the feature at a place are
   planes[first[place]] up to first[place + 1]. */
typedef struct {
    const int64_t *first, *planes;
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

/* Count features begin:end of a packed block (see _packed.py) against those from their tile on. */
EXPORT int bestk_add_block(const uint32_t *bits, const int64_t *bits_at, const int64_t *n_planes,
    int64_t n_tiles, const int64_t *words, int64_t n_classes, const int64_t *first,
    int64_t n_places, const int64_t *planes, int32_t *cells, int64_t begin, int64_t end) {
    const Counts counts = {first, planes, n_classes, cells};
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
        bestk_count_rows(
            own, n_rows, bits + bits_at[tile], n_planes[tile], words, n_classes, found);
        add_tile(
            &counts, found, n_rows, places, planes + first[begin], start, stop, n_planes[tile]);
    }
    return release(&room);
}
