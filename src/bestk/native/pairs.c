/* Sum a formula over the cells of many pairs: the loop around the two ways to count. */
#include "counting.h"

#include <string.h>

/* Where results go; one of the two outputs is NULL. column_to: NULL for one row by place. */
typedef struct {
    const int64_t *column_to;
    int64_t mirror;
    double *out;
    float *out32;
    int64_t step;
} Output;

/* The row features of a task, their planes copied out of their tiles, and scratch. */
typedef struct {
    const int64_t *places; /* of the features */
    const int64_t *to;     /* their rows of the output */
    int64_t n;
    int64_t n_planes;
    int64_t most_levels; /* that one of them has */
    int64_t have_planes; /* whether all of them have */
    int64_t *first;      /* planes first[r]:first[r + 1] are those of row r */
    uint32_t *bits;      /* [plane][word] */
    uint32_t *margins;   /* [plane][class] */
    uint32_t *joint;     /* those of each row, and of all samples; see Block */
    uint64_t *two_level; /* tables of a two-level row; see build_two_level */
    uint32_t *counts;    /* [tile][class][row][plane][lane] of a block of tiles */
    uint32_t *cells;     /* those that follow from the margins, then those of the pair */
    uint64_t *sums;      /* [tile][row][lane] */
    uint64_t *turned;    /* those of a lane, for the other half of the output */
    int64_t *column_terms;
    uint32_t *order;    /* for histograms: samples by the levels of each row; see group_samples */
    int64_t *ends;      /* the ends of their runs */
    int64_t *n_runs;    /* of each row */
    uint32_t *in_level; /* samples of each level of a column, in a level of a row */
    uint32_t *in_run;   /* and in a run */
} Rows;

/* Bytes of the counts of the tiles of a block; where rows have two levels, more tiles share the
   tables of a row, at the cost of the second cache. */
enum { BLOCK_BYTES = 786432, FOLDED_BYTES = 2097152 };

/* Tiles of a block, at most. */
enum { MOST_BLOCK = 256 };

/* Entries of one table for all classes, at most. */
enum { MOST_JOINT = 8192 };

/* Entries of the tables of one two-level row. */
static int64_t two_level_length(const Table *t) { return t->n_samples + 2 * (t->n_classes + 1); }

/* Whether the pairs of this tile are counted by planes. */
static int by_planes(const Table *t, const Rows *rows, int64_t tile) {
    if (!t->codes) return 1;
    const double n_i = (double)(rows->most_levels - 1);
    const double n_j = (double)t->n_planes[tile];
    if (!rows->have_planes || n_j < 0) return 0;
    const double cells = (n_i + 1) * (n_j + 1) * (double)t->n_tables;
    const double planes = n_i * n_j * (double)t->words[t->n_classes] * t->costs[0];
    return planes + cells * t->costs[1] < (double)(t->n_samples * LANES) * t->costs[2];
}

/* Read the planes and margins of the rows out of their tiles. */
static void copy_rows(const Table *t, Rows *rows) {
    const int64_t n_words = t->words[t->n_classes];
    for (int64_t r = 0; r < rows->n; r++) {
        const int64_t tile = rows->places[r] / LANES;
        const int64_t lane = rows->places[r] % LANES;
        for (int64_t row = rows->first[r]; row < rows->first[r + 1]; row++) {
            const int64_t plane = row - rows->first[r];
            bestk_copy_plane(
                t->bits + t->bits_at[tile], plane, lane, n_words, rows->bits + row * n_words);
            for (int64_t c = 0; c < t->n_classes; c++) {
                const int64_t at = (c * t->n_planes[tile] + plane) * LANES + lane;
                rows->margins[row * t->n_classes + c] = t->margins[t->margins_at[tile] + at];
            }
        }
    }
}

/* Sum the margins of each row, and the sizes of the classes, times the weights of the classes. */
static void join_margins(const Table *t, Rows *rows) {
    for (int64_t r = 0; r < rows->n; r++)
        for (int64_t row = rows->first[r]; row <= rows->first[r + 1]; row++) {
            uint32_t weight = 1;
            uint32_t *to = rows->joint + row + r;
            for (int64_t c = 0; c < t->n_classes; weight *= (uint32_t)t->sizes[c++] + 1)
                *to += weight * (row < rows->first[r + 1] ? rows->margins[row * t->n_classes + c]
                                                          : (uint32_t)t->sizes[c]);
        }
}

/* to[n] = table[n] + table[size - n]: the two cells of a margin, looked up by the smaller one. */
static uint64_t *fold_table(const uint64_t *table, int64_t size, uint64_t *to) {
    for (int64_t n = 0; n <= size / 2; n++) to[n] = table[n] + table[size - n];
    return to + size / 2 + 1;
}

/* Tables of a two-level row: for each class, and for the pair, of samples with its bit and those
   without; half the look-ups of its pairs with other two-level features. Made anew for each block
   of tiles, which takes less time than fetching them from beyond the cache. */
static void build_two_level(const Table *t, const Formula *f, const Rows *rows, int64_t r) {
    uint64_t *to = rows->two_level;
    int64_t with = 0;
    for (int64_t c = 0; c < t->n_classes; c++) {
        const int64_t row_margin = rows->margins[rows->first[r] * t->n_classes + c];
        to = fold_table(f->class_table, row_margin, to);
        to = fold_table(f->class_table, t->sizes[c] - row_margin, to);
        with += row_margin;
    }
    to = fold_table(f->pair_table, with, to);
    fold_table(f->pair_table, t->n_samples - with, to);
}

/* One table in place of those of all classes and of the pair: a cell with n_c samples of class c is
   at the sum of n_c times the weight of c, the product of sizes + 1 of the classes before it. */
void bestk_start_formula(Table *t, Formula *f, Room *room) {
    for (int64_t n = 0; n < least_of(16, t->n_samples + 1); n++) f->small[n] = f->class_table[n];
    int64_t length = 1;
    for (int64_t c = 0; c < t->n_classes && length <= MOST_JOINT; c++) length *= t->sizes[c] + 1;
    if (length > MOST_JOINT) return;
    uint64_t *joint = take(room, length, sizeof *joint);
    int64_t *totals = take(room, length, sizeof *totals);
    int64_t n_before = 1;
    for (int64_t c = 0; !room->status && c < t->n_classes; n_before *= t->sizes[c++] + 1)
        for (int64_t n = t->sizes[c]; n >= 0; n--)
            for (int64_t i = 0; i < n_before; i++) {
                joint[n * n_before + i] = joint[i] + f->class_table[n];
                totals[n * n_before + i] = totals[i] + n;
            }
    for (int64_t i = 0; !room->status && i < length; i++) joint[i] += f->pair_table[totals[i]];
    f->joint = joint;
    t->n_tables = 1;
}

/* Whether tables of two-level rows save more look-ups than they take, an entry being a third. */
static int folds(const Table *t, const Formula *f, int64_t n_tiles) {
    return !f->joint && n_tiles * LANES * 6 * (t->n_classes + 1) > two_level_length(t);
}

/* A sum and the terms of its pair, in nats. */
static inline double scaled(const Formula *f, uint64_t sum, int64_t row, int64_t column) {
    return higher(f->lowest, (double)(int64_t)(sum + (uint64_t)row + (uint64_t)column) * f->scale);
}

/* Whether n columns of the output lie side by side, as those of features in order do. */
static inline int side_by_side(const int64_t *to, int64_t n) {
    int64_t apart = to[0] < 0;
    for (int64_t i = 1; i < n; i++) apart |= to[i] ^ (to[0] + i);
    return !apart;
}

/* Scale n sums into a row of the output, at columns to[0..n-1]; in_order: these lie side by side.
   Columns below 0 are not wanted. */
static void write_line(const Formula *f, const Output *o, const uint64_t *sums, int64_t term,
    const int64_t *terms, int64_t row, const int64_t *to, int64_t n, int in_order) {
    if (in_order) {
        const int64_t at = row * o->step + to[0];
        for (int64_t i = 0; o->out && i < n; i++)
            o->out[at + i] = scaled(f, sums[i], term, terms[i]);
        for (int64_t i = 0; o->out32 && i < n; i++)
            o->out32[at + i] = (float)scaled(f, sums[i], term, terms[i]);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const double value = scaled(f, sums[i], term, terms[i]);
        if (to[i] < 0) continue;
        if (o->out)
            o->out[row * o->step + to[i]] = value;
        else
            o->out32[row * o->step + to[i]] = (float)value;
    }
}

/* Fetch the lines for n columns of the output, side by side from to[0] on, which are written soon,
   into the second cache: more of them can be under way than into the first. Always inlined: GCC
   drops calls of a function that only fetches. */
INLINE void fetch_line(const Output *o, int64_t row, const int64_t *to, int64_t n) {
    if (row < 0 || to[0] < 0) return;
    const int64_t at = row * o->step + to[0];
    const char *begin = o->out ? (char *)(o->out + at) : (char *)(o->out32 + at);
    const char *last = o->out ? (char *)(o->out + at + n - 1) : (char *)(o->out32 + at + n - 1);
    for (; begin < last; begin += 64) __builtin_prefetch(begin, 0, 1);
    __builtin_prefetch(last, 0, 1);
}

/* Write the sums of some tiles, and across the diagonal where that is asked for. */
static void write_tiles(const Table *t, const Formula *f, const Rows *rows, const Output *o,
    const int64_t *tiles, int64_t n_tiles, const uint64_t *sums) {
    uint8_t in_order[MOST_BLOCK];
    for (int64_t b = 0; b < n_tiles; b++) {
        const int64_t start = tiles[b] * LANES;
        const int64_t n = least_of(LANES, t->n_features - start);
        in_order[b] = !o->column_to || side_by_side(o->column_to + start, n);
    }
    for (int64_t r = 0; r < rows->n; r++)
        for (int64_t b = 0; b < n_tiles; b++) {
            const int64_t start = tiles[b] * LANES;
            const int64_t n = least_of(LANES, t->n_features - start);
            const int64_t *to = o->column_to ? o->column_to + start : &start;
            if (r + 1 < rows->n && in_order[b]) fetch_line(o, rows->to[r + 1], to, n);
            write_line(f, o, sums + (b * rows->n + r) * LANES, f->row_term[rows->places[r]],
                f->column_term + start, rows->to[r], to, n, in_order[b]);
        }
    const int rows_in_order = side_by_side(rows->to, rows->n);
    const int64_t n = rows->n;
    uint64_t *restrict turned = rows->turned;
    for (int64_t i = 0; o->mirror && i < n_tiles * LANES; i++) {
        const int64_t place = tiles[i / LANES] * LANES + i % LANES;
        const int64_t next = place + LANES;
        if (next < t->n_features && rows_in_order)
            fetch_line(o, o->column_to[next], rows->to, rows->n);
        if (place >= t->n_features || o->column_to[place] < 0) continue;
        const uint64_t *sums_of_place = sums + i / LANES * n * LANES + i % LANES;
        for (int64_t r = 0; r < n; r++) turned[r] = sums_of_place[r * LANES];
        write_line(f, o, turned, f->row_term[place], rows->column_terms, o->column_to[place],
            rows->to, n, rows_in_order);
    }
}

/* Fill block tiles of the same number of planes: count all, then sum row by row. */
static void fill_block(const Table *t, const Formula *f, Rows *rows, const Output *o,
    const int64_t *tiles, int64_t n_tiles) {
    const int64_t n_j = t->n_planes[tiles[0]];
    const int64_t step = rows->n_planes * n_j * LANES;
    for (int64_t b = 0; b < n_tiles && !f->joint; b++)
        bestk_count_rows(rows->bits, rows->n_planes, t->bits + t->bits_at[tiles[b]], n_j,
            t->words, t->n_classes, rows->counts + b * t->n_classes * step);
    for (int64_t r = 0; r < rows->n; r++) {
        const int64_t row = rows->first[r];
        const int64_t n_i = rows->first[r + 1] - row;
        Block block = {n_i, n_j, NULL, step, rows->margins + row * t->n_classes,
            rows->joint + row + r, NULL, NULL, rows->cells};
        if (n_i == 1 && n_j == 1 && folds(t, f, n_tiles)) {
            build_two_level(t, f, rows, r);
            block.two_level = rows->two_level;
        }
        for (int64_t b = 0; b < n_tiles; b++) {
            block.counts = rows->counts + b * t->n_classes * step + row * n_j * LANES;
            block.margins = t->margins + t->margins_at[tiles[b]];
            uint64_t *sums = rows->sums + (b * rows->n + r) * LANES;
            if (f->joint)
                bestk_sum_joint(t, f, &block, rows->bits + row * t->words[t->n_classes],
                    t->bits + t->bits_at[tiles[b]], sums);
            else if (block.two_level)
                bestk_sum_two_level(t, &block, sums);
            else
                bestk_sum_cells(t, f, &block, sums);
        }
    }
    write_tiles(t, f, rows, o, tiles, n_tiles, rows->sums);
}

/* Histograms visit the samples of a pair, not its cells: raising a count from t to t + 1 adds
   T[t + 1] - T[t]. Samples come grouped by the level of one feature. */

/* Order samples by level, then class; return how many (level, class) runs there are.
   row: samples sorted by class, class c at starts[c]:starts[c + 1]. ends: the end of each run,
   negated where the level ends with it. scratch: 2 * n_levels + 1 numbers. */
static int64_t group_samples(const uint16_t *row, int64_t n_samples, int64_t n_levels,
    const int64_t *starts, int64_t *scratch, uint32_t *order, int64_t *ends) {
    int64_t *at = scratch;
    int64_t *stop = scratch + n_levels + 1;
    int64_t n_runs = 0;
    int64_t begin = 0;
    memset(at, 0, (size_t)(n_levels + 1) * sizeof *at);
    for (int64_t i = 0; i < n_samples; i++) at[row[i] + 1]++;
    for (int64_t level = 0; level < n_levels; level++) stop[level] = at[level + 1] += at[level];
    for (int64_t i = 0; i < n_samples; i++) order[at[row[i]]++] = (uint32_t)i;
    for (int64_t level = 0; level < n_levels; level++) {
        int64_t c = 0;
        for (int64_t place = begin; place < stop[level]; place++) {
            while (order[place] >= starts[c + 1]) c++;
            if (place + 1 == stop[level])
                ends[n_runs++] = -stop[level];
            else if (order[place + 1] >= starts[c + 1])
                ends[n_runs++] = place + 1;
        }
        begin = stop[level];
    }
    return n_runs;
}

/* Sum the tables whose steps are given; in_level and in_run are zero, and stay so. */
static uint64_t sum_pair(const uint16_t *row, const uint32_t *order, const int64_t *ends,
    int64_t n_runs, const int64_t *pair_step, const int64_t *class_step, uint32_t *in_level,
    uint32_t *in_run) {
    uint64_t total = 0;
    int64_t level_begin = 0;
    int64_t begin = 0;
    for (int64_t run = 0; run < n_runs; run++) {
        const int64_t end = ends[run] < 0 ? -ends[run] : ends[run];
        if (end == begin + 1) { /* most runs, where there are more cells than samples */
            const uint16_t code = row[order[begin]];
            total += (uint64_t)class_step[0] + (uint64_t)pair_step[in_level[code]++];
        } else {
            for (int64_t place = begin; place < end; place++) {
                const uint16_t code = row[order[place]];
                total += (uint64_t)class_step[in_run[code]++];
                total += (uint64_t)pair_step[in_level[code]++];
            }
            for (int64_t place = begin; place < end; place++) in_run[row[order[place]]] = 0;
        }
        if (ends[run] < 0) {
            for (int64_t place = level_begin; place < end; place++) in_level[row[order[place]]] = 0;
            level_begin = end;
        }
        begin = end;
    }
    return total;
}

/* Fill one tile by histograms. */
static void fill_histograms(
    const Table *t, const Formula *f, Rows *rows, const Output *o, int64_t tile) {
    const int64_t n_lanes = least_of(LANES, t->n_features - tile * LANES);
    const int64_t m = t->n_samples;
    for (int64_t lane = 0; lane < n_lanes; lane++) {
        if (o->column_to && o->column_to[tile * LANES + lane] < 0) continue;
        const uint16_t *codes = t->codes + (tile * LANES + lane) * m;
        for (int64_t r = 0; r < rows->n; r++)
            rows->sums[r * LANES + lane] =
                sum_pair(codes, rows->order + r * m, rows->ends + r * m, rows->n_runs[r],
                    f->pair_step, f->class_step, rows->in_level, rows->in_run);
    }
    write_tiles(t, f, rows, o, &tile, 1, rows->sums);
}

/* Tiles whose counts fit the cache together. */
static int64_t block_length(const Table *t, const Rows *rows, int64_t tile) {
    const int64_t n_j = most_of(t->n_planes[tile], 1);
    const int64_t bytes = 4 * t->n_classes * rows->n_planes * n_j * LANES + 8 * rows->n * LANES;
    const int64_t room = n_j == 1 && rows->most_levels <= 2 ? FOLDED_BYTES : BLOCK_BYTES;
    return most_of(1, least_of(room / bytes, MOST_BLOCK));
}

/* Order the samples by the levels of each row, for histograms. */
static void group_rows(const Table *t, Rows *rows, Room *room) {
    const int64_t m = t->n_samples;
    int64_t most_levels = 0;
    for (int64_t i = 0; i < t->n_features; i++) most_levels = most_of(t->levels[i], most_levels);
    rows->order = take(room, rows->n * m, sizeof *rows->order);
    rows->ends = take(room, rows->n * m, sizeof *rows->ends);
    rows->n_runs = take(room, rows->n, sizeof *rows->n_runs);
    rows->in_level = take(room, most_levels, sizeof *rows->in_level);
    rows->in_run = take(room, most_levels, sizeof *rows->in_run);
    int64_t *scratch = take(room, 2 * most_levels + 2, sizeof *scratch);
    for (int64_t r = 0; r < rows->n && !room->status; r++)
        rows->n_runs[r] = group_samples(t->codes + rows->places[r] * m, m, most_levels, t->starts,
            scratch, rows->order + r * m, rows->ends + r * m);
}

/* Set what the rows of a task need to be counted against tiles. */
static void open_rows(const Table *t, const Formula *f, const int64_t *tiles, int64_t n_tiles,
    Rows *rows, Room *room) {
    int64_t by_codes = 0;
    int64_t most_counts = 0;
    int64_t most_tiles = 1;
    int64_t most_j = 0;
    rows->first = take(room, rows->n + 1, sizeof *rows->first);
    rows->column_terms = take(room, rows->n, sizeof *rows->column_terms);
    if (room->status) return;
    rows->have_planes = 1;
    for (int64_t r = 0; r < rows->n; r++) {
        const int64_t levels = t->levels[rows->places[r]];
        rows->first[r + 1] = rows->first[r] + levels - 1;
        rows->have_planes &= t->n_planes[rows->places[r] / LANES] >= 0;
        rows->most_levels = most_of(levels, rows->most_levels);
        rows->column_terms[r] = f->column_term[rows->places[r]];
    }
    rows->n_planes = rows->have_planes ? rows->first[rows->n] : 0;
    for (int64_t i = 0; i < n_tiles; i++) {
        const int64_t n_j = t->n_planes[tiles[i]];
        if (i && n_j == t->n_planes[tiles[i - 1]]) continue;
        const int64_t length = block_length(t, rows, tiles[i]);
        const int counted = by_planes(t, rows, tiles[i]);
        by_codes |= !counted;
        if (!counted) continue;
        most_counts = most_of(length * t->n_classes * rows->n_planes * n_j * LANES, most_counts);
        most_tiles = most_of(length, most_tiles);
        most_j = most_of(n_j, most_j);
    }
    const int64_t cells = 2 * (rows->most_levels + 2) * (most_j + 2) + 2 * t->n_classes;
    rows->bits = take_unset(room, rows->n_planes * t->words[t->n_classes], sizeof *rows->bits);
    rows->margins = take(room, rows->n_planes * t->n_classes, sizeof *rows->margins);
    rows->joint = take(room, rows->n_planes + rows->n, sizeof *rows->joint);
    rows->counts = take_unset(room, most_counts, sizeof *rows->counts);
    rows->cells = take_unset(room, cells * LANES, sizeof *rows->cells);
    if (folds(t, f, most_tiles))
        rows->two_level = take_unset(room, two_level_length(t), sizeof *rows->two_level);
    rows->sums = take_unset(room, most_tiles * rows->n * LANES, sizeof *rows->sums);
    rows->turned = take(room, rows->n, sizeof *rows->turned);
    if (room->status) return;
    if (rows->have_planes) copy_rows(t, rows);
    if (rows->have_planes && f->joint) join_margins(t, rows);
    if (by_codes) group_rows(t, rows, room);
}

/* Fill a task: rows against tiles, in blocks that are counted the same way. */
static int fill_task(const Table *t, const Formula *f, const Output *o, const int64_t *tiles,
    int64_t n_tiles, Rows *rows) {
    Room room = {0};
    open_rows(t, f, tiles, n_tiles, rows, &room);
    for (int64_t i = 0; !room.status && i < n_tiles;) {
        if (!by_planes(t, rows, tiles[i])) {
            fill_histograms(t, f, rows, o, tiles[i++]);
            continue;
        }
        const int64_t n_j = t->n_planes[tiles[i]];
        const int64_t begin = i;
        const int64_t stop = least_of(n_tiles, i + block_length(t, rows, tiles[i]));
        while (i < stop && t->n_planes[tiles[i]] == n_j) i++;
        fill_block(t, f, rows, o, tiles + begin, i - begin);
    }
    return release(&room);
}

int bestk_fill_row(const Table *t, const Formula *f, const int64_t *tiles, int64_t n_tiles,
    int64_t place, double *row) {
    const int64_t to = 0;
    const Output o = {NULL, 0, row, NULL, 0};
    Rows one = {.places = &place, .to = &to, .n = 1};
    return fill_task(t, f, &o, tiles, n_tiles, &one);
}

/* Whether the interaction of a row, [n_rows][word], and any feature of a tile, all of two levels,
   may exceed a limit in counts: reached[row][tile], 0 before.
   row_factors: [row][class, then all][4];
   tile_factors: [tile][class, then all][4][lane]; see bound_factors in _native.py. */
EXPORT int bestk_bound_pairs(const uint32_t *rows, int64_t n_rows, const uint32_t *bits,
    int64_t n_tiles, const int64_t *words, int64_t n_classes, const float *row_factors,
    const float *tile_factors, double limit, uint8_t *reached) {
    Room room = {0};
    uint32_t *counts = take(&room, n_classes * n_rows * LANES, sizeof *counts);
    for (int64_t tile = 0; !room.status && tile < n_tiles; tile++) {
        bestk_count_rows(
            rows, n_rows, bits + tile * words[n_classes] * LANES, 1, words, n_classes, counts);
        for (int64_t row = 0; row < n_rows; row++) {
            uint32_t all[LANES] = {0};
            float bounds[LANES] = {0};
            for (int64_t c = 0; c <= n_classes; c++) {
                const uint32_t *n = c < n_classes ? counts + (c * n_rows + row) * LANES : all;
                const float *row_factor = row_factors + (row * (n_classes + 1) + c) * 4;
                const float *tile_factor = tile_factors + (tile * (n_classes + 1) + c) * 4 * LANES;
                for (int i = 0; i < LANES; i++) {
                    const float d = (float)(int32_t)n[i] - row_factor[0] * tile_factor[i];
                    const float third = row_factor[2] * tile_factor[2 * LANES + i]
                        - d * (row_factor[3] * tile_factor[3 * LANES + i]);
                    bounds[i] += d * d * (row_factor[1] * tile_factor[LANES + i] - d * third);
                }
                for (int i = 0; i < LANES; i++) all[i] += n[i];
            }
            for (int i = 0; i < LANES; i++)
                reached[row * n_tiles + tile] |= bounds[i] > (float)limit;
        }
    }
    return release(&room);
}

/* Fill pairs of features: tasks[first:last], each rows begin:end against tiles begin:end.
   rows: places of the row features; row_to: their rows of the output; tiles: ascending;
   column_to: column of the output for each place, -1 for none; mirror: write both halves. */
EXPORT int bestk_fill_pairs(COUNTED, /* request */ const int64_t *rows, const int64_t *row_to,
    const int64_t *tiles, const int64_t *column_to, int64_t mirror, double *out, int64_t step,
    float *out32, int64_t step32, const int64_t *tasks, int64_t first, int64_t last) {
    Table t = TABLE;
    Formula f = FORMULA;
    const Output o = {column_to, mirror, out, out32, out ? step : step32};
    Room room = {0};
    bestk_start_formula(&t, &f, &room);
    for (int64_t task = first; !room.status && task < last; task++) {
        const int64_t *span = tasks + 4 * task;
        Rows rows_of_task = {
            .places = rows + span[0],
            .to = row_to + span[0],
            .n = span[1] - span[0],
        };
        room.status = fill_task(&t, &f, &o, tiles + span[2], span[3] - span[2], &rows_of_task);
    }
    return release(&room);
}
