/* Tables of any number type: columns out of them, codes of their values, sums of their powers. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* The types in the order of TABLE_TYPES in _library.py. */
#define TYPES(F)                                                                    \
    F(0, double) F(1, float) F(2, int64_t) F(3, int32_t) F(4, int16_t) F(5, int8_t) \
    F(6, uint64_t) F(7, uint32_t) F(8, uint16_t) F(9, uint8_t) F(10, uint8_t)

enum { GROUP = 64 }; /* columns that are read together */
enum { LAST_FLOAT = 1, AHEAD = 32 }; /* of the types; rows that are fetched early */

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

/* Set block[j][i] = X[order[i], j], or X[i, j] without an order, for up to GROUP columns: a cache
   line of each at a time. */
static void read_group(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    const int64_t *order, int64_t n_samples, int64_t width, double *block, int64_t stride) {
    double lines[LINE][GROUP];
    for (int64_t start = 0; start < n_samples; start += LINE) {
        const int64_t depth = least_of(n_samples - start, LINE);
        for (int64_t i = start + AHEAD; order && i < least_of(n_samples, start + AHEAD + LINE); i++)
            __builtin_prefetch(data + order[i] * row_step);
        for (int64_t i = 0; i < depth; i++)
            bestk_read_numbers(data + (order ? order[start + i] : start + i) * row_step,
                column_step, NULL, width, type, lines[i]);
        for (int64_t j = 0; j < width; j++)
            for (int64_t i = 0; i < depth; i++) block[j * stride + start + i] = lines[i][j];
    }
}

/* The columns of a table as the rows of a block, samples in an order, or NULL for their own. */
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

/* Codes of the rows of a block by cuts; those of row j are cuts[starts[j]] up to starts[j + 1]. */
EXPORT int bestk_encode(const double *block, int64_t stride, int64_t n_rows, int64_t n,
    const double *cuts, const int64_t *starts, int16_t *codes, int64_t code_stride) {
    double values[LINE];
    int64_t found[LINE];
    for (int64_t j = 0; j < n_rows; j++, block += stride, codes += code_stride)
        for (int64_t start = 0; start < n; start += LINE) {
            const int64_t size = least_of(n - start, LINE);
            for (int64_t i = 0; i < LINE; i++) values[i] = block[start + least_of(i, size - 1)];
            code_line(values, cuts + starts[j], starts[j + 1] - starts[j], found);
            for (int64_t i = 0; i < size; i++) codes[start + i] = (int16_t)found[i];
        }
    return OK;
}

/* Codes in rows of a block, given in an order of the samples, in that of the samples themselves. */
EXPORT int bestk_reorder(const uint8_t *block, int64_t stride, int64_t n_rows, int64_t n,
    const int64_t *order, int16_t *codes, int64_t code_stride) {
    for (int64_t j = 0; j < n_rows; j++, block += stride, codes += code_stride)
        for (int64_t i = 0; i < n; i++) codes[order[i]] = block[i];
    return OK;
}

/* Up to GROUP columns of a table. */
typedef struct {
    const char *data;
    int64_t row_step, column_step, type, n_rows, width;
} Part;

/* How numbers of columns are written: NaN as fill, all times scale, less the first. */
typedef struct {
    double fill[GROUP], scale[GROUP], first[GROUP];
} Frame;

/* Up to LINE rows from top on, read along the table's memory: a line for each; how many. */
static int64_t read_lines(const Part *part, int64_t top, double lines[LINE][GROUP]) {
    const int64_t depth = least_of(part->n_rows - top, LINE), width = part->width;
    const int64_t down = part->row_step, right = part->column_step;
    const char *from = part->data + top * down;
    const int by_column = llabs(down) < llabs(right);
    for (int64_t i = 0; i < depth && !by_column; i++)
        bestk_read_numbers(from + i * down, right, NULL, width, part->type, lines[i]);
    for (int64_t j = 0; j < width && by_column; j++) {
        double column[LINE];
        bestk_read_numbers(from + j * right, down, NULL, depth, part->type, column);
        for (int64_t i = 0; i < depth; i++) lines[i][j] = column[i];
    }
    return depth;
}

/* Set fill to the mean of what is not NaN, and scale to a power of 2 that brings the largest number
   near 1, so that no power of it overflows; to NaN where a number is infinite. */
static void find_scale(const Part *part, Frame *frame) {
    double lines[LINE][GROUP], known[GROUP] = {0}, sum[GROUP] = {0}, peak[GROUP] = {0};
    for (int64_t top = 0; top < part->n_rows; top += LINE) {
        const int64_t depth = read_lines(part, top, lines);
        for (int64_t i = 0; i < depth; i++)
            for (int64_t j = 0; j < part->width; j++) {
                const double x = lines[i][j], size = fabs(x);
                known[j] += x == x ? 1.0 : 0.0;
                sum[j] += x == x ? x : 0.0;
                peak[j] = size > peak[j] ? size : peak[j];
            }
    }
    for (int64_t j = 0; j < part->width; j++) {
        int exponent = 0;
        frexp(peak[j], &exponent);
        frame->fill[j] = higher(-peak[j], lower(sum[j] / higher(known[j], 1.0), peak[j]));
        frame->scale[j] = isinf(peak[j]) ? NAN : ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
    }
}

/* Add a row to the four totals of each column, and times a weight to the two sums of a class. */
INLINE void add_line(const double *restrict line, const Frame *restrict frame, int64_t width,
    double weight, double (*restrict totals)[GROUP], double *restrict sum, double *restrict square) {
    for (int64_t j = 0; j < width; j++) {
        const double known = line[j] == line[j] ? line[j] : frame->fill[j];
        const double x = known * frame->scale[j] - frame->first[j], xx = x * x;
        totals[0][j] += x;
        totals[1][j] += xx;
        totals[2][j] += x * xx;
        totals[3][j] += xx * xx;
        sum[j] += weight * x;
        square[j] += weight * xx;
    }
}

/* Of columns begin:end of n, numbers less the first: set totals[p][j] to the sum of x^(p + 1), and
   sums[p][c][j] to that of weight x^(p + 1) over the rows of class c. */
EXPORT int bestk_add_powers(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    int64_t n_rows, int64_t n, const int64_t *classes, const double *weights, int64_t n_classes,
    double *totals, double *sums, int64_t begin, int64_t end) {
    Room room = {0};
    double(*own)[GROUP] = take(&room, 4, sizeof *own), lines[LINE][GROUP];
    double(*by_class)[GROUP] = take(&room, 2 * n_classes, sizeof *by_class);
    for (int64_t start = begin; start < end && !room.status; start += GROUP) {
        const Part part = {data + start * column_step, row_step, column_step, type, n_rows,
            least_of(end - start, GROUP)};
        Frame frame = {.fill = {0.0}, .first = {0.0}};
        for (int64_t j = 0; j < GROUP; j++) frame.scale[j] = 1.0;
        if (type <= LAST_FLOAT) find_scale(&part, &frame);
        memset(own, 0, 4 * sizeof *own);
        memset(by_class, 0, (size_t)(2 * n_classes) * sizeof *by_class);
        for (int64_t top = 0; top < n_rows; top += LINE) {
            const int64_t depth = read_lines(&part, top, lines);
            for (int64_t j = 0; j < part.width && !top; j++)
                frame.first[j] =
                    (lines[0][j] == lines[0][j] ? lines[0][j] : frame.fill[j]) * frame.scale[j];
            for (int64_t i = 0; i < depth; i++) {
                double(*sum)[GROUP] = by_class + classes[top + i];
                add_line(lines[i], &frame, part.width, weights[top + i], own, *sum,
                    *(sum + n_classes));
            }
        }
        const size_t bytes = (size_t)part.width * sizeof(double);
        for (int64_t p = 0; p < 4; p++) memcpy(totals + p * n + start, own[p], bytes);
        for (int64_t c = 0; c < 2 * n_classes; c++)
            memcpy(sums + c * n + start, by_class[c], bytes);
    }
    return release(&room);
}
