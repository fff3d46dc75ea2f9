/* Columns of whole numbers turned into rows of dense codes. */
#include <string.h>

#include "bestk.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { GROUP = 256, BAND = 64, DEPTH = 16 }; /* columns, and rows, that are read, and are turned */
enum { LARGEST = 65534, VALUES = LARGEST + 2, PIECE = 64 }; /* PIECE: rows */

/* Up to PIECE numbers, a step of bytes apart, as whole numbers plus 1, 0 where NaN; odd: whether
   one is neither NaN nor whole and at most LARGEST. order, type: see bestk_read_numbers. */
static void shift_whole(const char *data, int64_t step, const int64_t *order, int64_t n,
    int64_t type, uint16_t *to, uint8_t *odd) {
    int misfit = 0;
    double values[PIECE];
    bestk_read_numbers(data, step, order, n, type, values);
    for (int64_t i = 0; i < n; i++) {
        const double value = values[i];
        const int fits = (value >= 0.0) & (value <= (double)LARGEST);
        const int32_t whole = fits ? (int32_t)value : -1;
        misfit |= fits ? (double)whole != value : value == value;
        to[i] = (uint16_t)(whole + 1);
    }
    *odd |= (uint8_t)misfit;
}

/* Number the values that occur 0, 1, ... in order, missing (0) last; set how many occur.
   code: VALUES numbers of scratch. One of codes8 and codes16 is given. */
static void renumber(const uint16_t *raw, int64_t n, uint16_t *code, uint8_t *restrict codes8,
    uint16_t *restrict codes16, int64_t *levels) {
    uint16_t largest = 0;
    uint32_t seen = 0;
    for (int64_t i = 0; i < n; i++) largest = raw[i] > largest ? raw[i] : largest;
    memset(code, 0, ((size_t)largest + 1) * sizeof *code);
    if (largest < 32) {
        for (int64_t i = 0; i < n; i++) seen |= (uint32_t)1 << raw[i];
        for (int value = 0; value <= largest; value++) code[value] = seen >> value & 1;
    } else {
        for (int64_t i = 0; i < n; i++) code[raw[i]] = 1;
    }
    int64_t count = 0;
    for (int64_t value = 1; value <= largest; value++)
        if (code[value]) code[value] = (uint16_t)count++;
    const int dense = !code[0] && count == largest; /* then the codes are the values less 1 */
    if (code[0]) code[0] = (uint16_t)count++;
    for (int64_t i = 0; i < n && codes8 && dense; i++) codes8[i] = (uint8_t)(raw[i] - 1);
    for (int64_t i = 0; i < n && codes8 && !dense; i++) codes8[i] = (uint8_t)code[raw[i]];
    for (int64_t i = 0; i < n && !codes8; i++) codes16[i] = code[raw[i]];
    *levels = count;
}

/* The lowest bytes of n numbers, a step of bytes apart; add their bits to those seen so far. Return
   whether they are contiguous integers. */
INLINE int narrow(const char *data, int64_t step, int64_t n, int64_t type, uint8_t *restrict to,
    uint64_t *seen) {
#define READ(number, T)                                      \
    case number: {                                           \
        T any = 0;                                           \
        if (step != (int64_t)sizeof(T)) return 0;            \
        for (int64_t i = 0; i < n; i++) {                    \
            any |= ((const T *)data)[i];                     \
            to[i] = (uint8_t)((const T *)data)[i];           \
        }                                                    \
        *seen |= (uint64_t)(int64_t)any;                     \
        return 1;                                            \
    }
    switch (type) {
        READ(2, int64_t)
        READ(3, int32_t)
        READ(4, int16_t)
        READ(5, int8_t)
        READ(8, uint16_t)
        READ(9, uint8_t)
        READ(10, uint8_t)
    default: return 0;
    }
#undef READ
}

/* Sixteen columns of sixteen rows, from column j on: bytes i and on of a row for each. */
static void turn(uint8_t (*from)[GROUP], int64_t j, uint8_t (*to)[BAND], int64_t i) {
#if defined(__SSE2__)
    __m128i x[DEPTH], y[DEPTH];
    for (int r = 0; r < DEPTH; r++) x[r] = _mm_loadu_si128((const __m128i *)(from[r] + j));
    for (int round = 0; round < 4; round++) {
        for (int r = 0; r < DEPTH / 2; r++) {
            y[2 * r] = _mm_unpacklo_epi8(x[r], x[r + DEPTH / 2]);
            y[2 * r + 1] = _mm_unpackhi_epi8(x[r], x[r + DEPTH / 2]);
        }
        for (int r = 0; r < DEPTH; r++) x[r] = y[r];
    }
    for (int c = 0; c < DEPTH; c++) _mm_storeu_si128((__m128i *)(to[c] + i), x[c]);
#else
    for (int c = 0; c < DEPTH; c++)
        for (int r = 0; r < DEPTH; r++) to[c][i + r] = from[r][j + c];
#endif
}

/* Number the values that occur, of which none is above `largest`, 0, 1, ... in order, in place;
   return how many
   occur. Most occur soon. */
static int64_t renumber_small(uint8_t *codes, int64_t n, int largest) {
    uint8_t code[UINT8_MAX + 1] = {0};
    int64_t count = 0;
    int64_t last = 0;
    for (int value = 0; value <= largest; value++)
        if (memchr(codes, value, (size_t)n)) {
            code[value] = (uint8_t)count++;
            last = value;
        }
    for (int64_t i = 0; last >= count && i < n; i++) codes[i] = code[codes[i]];
    return count;
}

/* Write the codes of some columns of small integers, column j to rows[j]; return whether they are.
   spare: room for a column, where rows come in an order. */
static int write_small(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    const int64_t *order, int64_t n_rows, int64_t width, uint8_t *spare, uint8_t **rows,
    int64_t *levels) {
    uint8_t small[BAND][GROUP] = {{0}};
    uint8_t turned[DEPTH][BAND];
    uint64_t seen = 0;
    const int by_column = llabs(row_step) < llabs(column_step);
    for (int64_t j = 0; by_column && j < width; j++) {
        uint8_t *to = order ? spare : rows[j];
        if (!narrow(data + j * column_step, row_step, n_rows, type, to, &seen)) return 0;
        for (int64_t i = 0; order && i < n_rows; i++) rows[j][i] = spare[order[i]];
    }
    for (int64_t start = 0; !by_column && start < n_rows; start += BAND) {
        const int64_t depth = least_of(n_rows - start, BAND);
        for (int64_t i = 0; i < depth; i++) {
            const char *from = data + (order ? order[start + i] : start + i) * row_step;
            if (!narrow(from, column_step, width, type, small[i], &seen)) return 0;
        }
        for (int64_t j = 0; j < width; j += DEPTH) {
            for (int64_t i = 0; i < depth; i += DEPTH) turn(small + i, j, turned, i);
            for (int64_t c = 0; c < least_of(width - j, DEPTH); c++)
                if (depth == BAND)
                    memcpy(rows[j + c] + start, turned[c], BAND);
                else
                    memcpy(rows[j + c] + start, turned[c], (size_t)depth);
        }
    }
    for (int64_t j = 0; seen < UINT8_MAX && j < width; j++)
        levels[j] = renumber_small(rows[j], n_rows, (int)seen);
    return seen < UINT8_MAX;
}

/* Write the codes of columns first:last of a table, column j to row places[j], their number to
   levels[j], and to odd[j] whether it has other values than whole numbers up to LARGEST or NaN.
   order: of the rows, or NULL for their own. */
EXPORT int bestk_write_codes(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    const int64_t *order, int64_t n_rows, const int64_t *places, uint8_t *codes8, int64_t step8,
    uint16_t *codes16, int64_t step16, int64_t *levels, uint8_t *odd, int64_t first, int64_t last) {
    Room room = {0};
    uint8_t *spare = take(&room, n_rows, 1);
    for (int small = codes8 && spare; small && first < last; first += small ? GROUP : 0) {
        uint8_t *rows[GROUP];
        const int64_t width = least_of(last - first, GROUP);
        for (int64_t j = 0; j < width; j++) rows[j] = codes8 + places[first + j] * step8;
        small = write_small(data + first * column_step, row_step, column_step, type, order, n_rows,
            width, spare, rows, levels + first);
    }
    if (first >= last) return release(&room);
    uint16_t *code = take(&room, VALUES, sizeof *code);
    uint16_t *raw = take(&room, (last - first) * n_rows, sizeof *raw);
    for (int64_t start = 0; start < n_rows && !room.status; start += PIECE)
        for (int64_t j = first; j < last; j++) { /* all columns of some rows: lines stay in cache */
            const char *from = data + (order ? 0 : start) * row_step + j * column_step;
            uint16_t *to = raw + (j - first) * n_rows + start;
            shift_whole(from, row_step, order ? order + start : NULL,
                least_of(n_rows - start, PIECE), type, to, odd + j);
        }
    for (int64_t j = first; j < last && !room.status; j++)
        renumber(raw + (j - first) * n_rows, n_rows, code,
            codes8 ? codes8 + places[j] * step8 : NULL,
            codes8 ? NULL : codes16 + places[j] * step16, levels + j);
    return release(&room);
}
