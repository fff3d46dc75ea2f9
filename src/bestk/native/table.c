/* Tables of any number type: columns out of them, and codes of their values. */
#include <math.h>

#include "bestk.h"

/* The types in the order of TABLE_TYPES in _library.py. */
#define TYPES(F)                                                                    \
    F(0, double) F(1, float) F(2, int64_t) F(3, int32_t) F(4, int16_t) F(5, int8_t) \
    F(6, uint64_t) F(7, uint32_t) F(8, uint16_t) F(9, uint8_t) F(10, uint8_t)

enum { GROUP = 64, AHEAD = 32 }; /* columns that are read together; rows that are fetched early */

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
        for (int64_t i = start + AHEAD; i < least_of(n_samples, start + AHEAD + LINE); i++)
            __builtin_prefetch(data + order[i] * row_step);
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

/* Codes of a part of a table by cuts; those of column j are cuts[starts[j]] up to starts[j + 1].
   NaN takes the code after the last. Rung r holds cut r of each column, infinity if it has fewer;
   more than SCAN cuts are searched. */
EXPORT int bestk_encode(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    int64_t n_rows, int64_t n_columns, const double *cuts, const int64_t *starts, int16_t *codes,
    int64_t stride) {
    const int by_column = llabs(row_step) < llabs(column_step);
    const int64_t n_groups = (n_columns + GROUP - 1) / GROUP;
    Room room = {0};
    double *rungs = take(&room, SCAN * n_columns, sizeof *rungs), values[GROUP];
    int64_t *heights = take(&room, n_groups, sizeof *heights);
    for (int64_t pass = 0; pass < 2 && !room.status; pass++)
        for (int64_t j = 0; j < n_columns; j++) {
            const int64_t count = starts[j + 1] - starts[j], n = count <= SCAN ? count : 0;
            if (pass == 0) heights[j / GROUP] = most_of(n, heights[j / GROUP]);
            for (int64_t r = 0; pass == 1 && r < heights[j / GROUP]; r++)
                rungs[r * n_columns + j] = r < n ? cuts[starts[j] + r] : INFINITY;
        }
    for (int64_t t = 0; t < n_rows * n_groups && !room.status; t++) { /* as the table lies */
        const int64_t i = by_column ? t % n_rows : t / n_groups;
        const int64_t group = by_column ? t / n_rows : t % n_groups, first = group * GROUP;
        const int64_t width = least_of(n_columns - first, GROUP);
        const char *from = data + i * row_step + first * column_step;
        int64_t below[GROUP] = {0};
        bestk_read_numbers(from, column_step, NULL, width, type, values);
        for (int64_t r = 0; r < heights[group]; r++)
            for (int64_t j = 0; j < width; j++)
                below[j] += values[j] > rungs[r * n_columns + first + j];
        for (int64_t j = 0; j < width; j++) {
            const int64_t start = starts[first + j], n = starts[first + j + 1] - start;
            if (n > SCAN) below[j] = search_cuts(cuts + start, n, values[j]);
            codes[i * stride + first + j] = (int16_t)(values[j] == values[j] ? below[j] : n + 1);
        }
    }
    return release(&room);
}
