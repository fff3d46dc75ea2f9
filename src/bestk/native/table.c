/* Tables of any number type: columns out of them, and codes of their values. */
#include "bestk.h"

#include <math.h>
#include <string.h>

/* The types in the order of TABLE_TYPES in _library.py. */
#define TYPES(F)                                                                    \
    F(0, double) F(1, float) F(2, int64_t) F(3, int32_t) F(4, int16_t) F(5, int8_t) \
    F(6, uint64_t) F(7, uint32_t) F(8, uint16_t) F(9, uint8_t) F(10, uint8_t)

enum { LINE = 8, GROUP = 64, TILE = 256, SCAN = 64 }; /* columns of more cuts are searched */

void bestk_read_numbers(
    const char *data, int64_t step, const int64_t *order, int64_t n, int64_t type, double *out) {
#define READ(number, T)                                                                            \
    case number:                                                                                   \
        if (order)                                                                                 \
            for (int64_t i = 0; i < n; i++) out[i] = (double)*(const T *)(data + order[i] * step); \
        else if (step == (int64_t)sizeof(T))                                                       \
            for (int64_t i = 0; i < n; i++) out[i] = (double)((const T *)data)[i];                 \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++) out[i] = (double)*(const T *)(data + i * step);        \
        break;
    switch (type) { TYPES(READ) }
#undef READ
}

/* Set block[j][i] = X[order[i], j] for up to GROUP columns: a cache line of each at a time. */
static void read_group(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    const int64_t *order, int64_t n_samples, int64_t width, double *block, int64_t stride) {
    double lines[LINE][GROUP];
    for (int64_t start = 0; start < n_samples; start += LINE) {
        const int64_t depth = least_of(n_samples - start, LINE);
        for (int64_t i = 0; i < depth; i++)
            bestk_read_numbers(
                data + order[start + i] * row_step, column_step, NULL, width, type, lines[i]);
        for (int64_t j = 0; j < width; j++)
            for (int64_t i = 0; i < depth; i++) block[j * stride + start + i] = lines[i][j];
    }
}

/* The columns of a table as the rows of a block, samples in that order. */
EXPORT int bestk_read_columns(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    const int64_t *order, int64_t n_samples, double *block, int64_t stride, int64_t width) {
    const int by_column = llabs(row_step) < llabs(column_step);
    for (int64_t j = 0; j < width; j += by_column ? 1 : GROUP) {
        const char *from = data + j * column_step;
        if (by_column)
            bestk_read_numbers(from, row_step, order, n_samples, type, block + j * stride);
        else
            read_group(from, row_step, column_step, type, order, n_samples,
                least_of(width - j, GROUP), block + j * stride, stride);
    }
    return OK;
}

/* The cuts of a tile of columns on rungs, padded with infinity, and how many columns have. */
typedef struct {
    double rungs[SCAN][TILE];
    int64_t n_cuts[TILE];
    int64_t width, heights[TILE / LINE]; /* heights: the most rungs of columns in a line */
    int searched; /* whether some column has more cuts than there are rungs */
} Ladder;

/* Put the cuts of so many columns on the rungs. */
static void set_ladder(Ladder *ladder, const double *cuts, const int64_t *starts, int64_t width) {
    ladder->width = width;
    ladder->searched = 0;
    for (int64_t j = 0; j < TILE; j++) {
        int64_t *height = ladder->heights + j / LINE;
        const int64_t n = j < width ? starts[j + 1] - starts[j] : 0, few = n > SCAN ? 0 : n;
        ladder->n_cuts[j] = n;
        ladder->searched |= n > SCAN;
        *height = j % LINE && *height > few ? *height : few;
    }
    for (int64_t j = 0; j < width; j++)
        for (int64_t rung = 0; rung < ladder->heights[j / LINE]; rung++)
            ladder->rungs[rung][j] = rung < ladder->n_cuts[j] ? cuts[starts[j] + rung] : INFINITY;
}

/* Codes of a row of values, in whole lines: count the cuts below each, rung by rung. NaN takes the
   code after the last. */
INLINE void climb(const Ladder *ladder, const double *values, int16_t *codes) {
    double below[TILE]; /* whole numbers: vectors of the same width as the values */
    for (int64_t j = 0; j < ladder->width; j += LINE) {
        double found[LINE] = {0};
        for (int64_t rung = 0; rung < ladder->heights[j / LINE]; rung++)
#pragma omp simd
            for (int i = 0; i < LINE; i++)
                found[i] += values[j + i] > ladder->rungs[rung][j + i] ? 1.0 : 0.0;
        for (int i = 0; i < LINE; i++) below[j + i] = found[i];
    }
    for (int64_t j = 0; j < ladder->width; j++)
        codes[j] =
            (int16_t)(values[j] == values[j] ? (int32_t)below[j] : (int32_t)ladder->n_cuts[j] + 1);
}
FOR_EACH_CPU(
    climb, (const Ladder *ladder, const double *values, int16_t *codes), (ladder, values, codes))

/* Codes of a part of a table: for each value the number of cuts of its column that are below it.
   Those of column j are cuts[starts[j]] up to starts[j + 1]. */
EXPORT int bestk_encode(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    int64_t n_rows, int64_t n_columns, const double *cuts, const int64_t *starts, int16_t *codes,
    int64_t stride) {
    Ladder *ladder = calloc(1, sizeof *ladder);
    double room[TILE] = {0};
    if (!ladder) return NO_MEMORY;
    for (int64_t first = 0; first < n_columns; first += TILE) {
        const int64_t width = n_columns - first < TILE ? n_columns - first : TILE;
        const int plain = type == 0 && column_step == sizeof(double) && width % LINE == 0;
        set_ladder(ladder, cuts, starts + first, width);
        for (int64_t i = 0; i < n_rows; i++) {
            const char *from = data + i * row_step + first * column_step;
            const double *values = plain ? (const double *)from : room;
            int16_t *row = codes + i * stride + first;
            if (!plain) bestk_read_numbers(from, column_step, NULL, width, type, room);
            climb_best(ladder, values, row);
            for (int64_t j = 0; j < width && ladder->searched; j++)
                if (ladder->n_cuts[j] > SCAN && values[j] == values[j])
                    row[j] = (int16_t)count_below(
                        cuts + starts[first + j], ladder->n_cuts[j], values[j]);
        }
    }
    free(ladder);
    return OK;
}
