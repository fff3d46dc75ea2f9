/* Columns of whole numbers turned into rows of dense codes. */
#include <string.h>

#include "bestk.h"

enum { LARGEST = 65534, VALUES = LARGEST + 2, PIECE = 64, MISSING = 1 << 20 }; /* PIECE: rows */

/* Up to PIECE numbers, a step of bytes apart, as whole numbers plus 1, 0 where NaN; odd: whether
   one is neither NaN nor whole and at most LARGEST. type: see TABLE_TYPES in _library.py. */
INLINE void shift_whole(
    const char *data, int64_t step, int64_t n, int64_t type, uint16_t *restrict to, uint8_t *odd) {
    int32_t whole[PIECE], misfit = 0;
    double values[PIECE];
#define READ(number, T)                                                           \
    case number:                                                                  \
        for (int64_t i = 0; i < n; i++) whole[i] = *(const T *)(data + i * step); \
        break;
    switch (type) {
        READ(4, int16_t)
        READ(5, int8_t)
        READ(8, uint16_t)
        READ(9, uint8_t)
        READ(10, uint8_t)
    default:
        bestk_read_numbers(data, step, NULL, n, type, values);
        for (int64_t i = 0; i < n; i++) {
            const double value = values[i];
            const int fits = (value >= 0.0) & (value <= (double)LARGEST);
            whole[i] = fits ? (int32_t)value : value == value ? -1 : MISSING;
            misfit |= fits & ((double)whole[i] != value);
        }
    }
#undef READ
    for (int64_t i = 0; i < n; i++) {
        const int32_t fits = (whole[i] >= 0) & (whole[i] <= LARGEST);
        misfit |= !fits & (whole[i] != MISSING);
        to[i] = (uint16_t)(fits ? whole[i] + 1 : 0);
    }
    *odd |= (uint8_t)misfit;
}

/* Number the values that occur 0, 1, ... in order, missing (0) last; set how many occur.
   code: VALUES numbers of scratch. One of codes8 and codes16 is given. */
static void renumber(const uint16_t *raw, int64_t n, uint16_t *code, uint8_t *restrict codes8,
    uint16_t *restrict codes16, int64_t *levels) {
    uint16_t most = 0;
    uint32_t seen = 0;
    for (int64_t i = 0; i < n; i++) most = raw[i] > most ? raw[i] : most;
    memset(code, 0, ((size_t)most + 1) * sizeof *code);
    if (most < 32) {
        for (int64_t i = 0; i < n; i++) seen |= (uint32_t)1 << raw[i];
        for (int value = 0; value <= most; value++) code[value] = seen >> value & 1;
    } else {
        for (int64_t i = 0; i < n; i++) code[raw[i]] = 1;
    }
    int64_t count = 0;
    for (int64_t value = 1; value <= most; value++)
        if (code[value]) code[value] = (uint16_t)count++;
    const int dense = !code[0] && count == most; /* then the codes are the values less 1 */
    if (code[0]) code[0] = (uint16_t)count++;
    for (int64_t i = 0; i < n && codes8 && dense; i++) codes8[i] = (uint8_t)(raw[i] - 1);
    for (int64_t i = 0; i < n && codes8 && !dense; i++) codes8[i] = (uint8_t)code[raw[i]];
    for (int64_t i = 0; i < n && !codes8; i++) codes16[i] = code[raw[i]];
    *levels = count;
}

/* Write the codes of columns first:last of a table, column j to row places[j], their number to
   levels[j], and to odd[j] whether it has other values than whole numbers up to LARGEST or NaN. */
EXPORT int bestk_write_codes(const char *data, int64_t row_step, int64_t column_step, int64_t type,
    int64_t n_rows, const int64_t *places, uint8_t *codes8, int64_t step8, uint16_t *codes16,
    int64_t step16, int64_t *levels, uint8_t *odd, int64_t first, int64_t last) {
    Room room = {0};
    uint16_t *code = take(&room, VALUES, sizeof *code);
    uint16_t *raw = take(&room, (last - first) * n_rows, sizeof *raw);
    for (int64_t start = 0; start < n_rows && !room.status; start += PIECE)
        for (int64_t j = first; j < last; j++) { /* all columns of some rows: lines stay in cache */
            const char *from = data + start * row_step + j * column_step;
            uint16_t *to = raw + (j - first) * n_rows + start;
            if (n_rows - start >= PIECE) /* a loop of known length */
                shift_whole(from, row_step, PIECE, type, to, odd + j);
            else
                shift_whole(from, row_step, n_rows - start, type, to, odd + j);
        }
    for (int64_t j = first; j < last && !room.status; j++)
        renumber(raw + (j - first) * n_rows, n_rows, code,
            codes8 ? codes8 + places[j] * step8 : NULL,
            codes8 ? NULL : codes16 + places[j] * step16, levels + j);
    return release(&room);
}
