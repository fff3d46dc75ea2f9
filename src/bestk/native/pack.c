/* A discrete table made ready for counting: sorted by class, cut into planes of bits, tiled. */
#include <string.h>

#include "counting.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* One bit for each of 32 bytes: whether it equals the given one. */
static uint32_t equal_bits(const uint8_t *bytes, int64_t byte) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8((char)byte);
    const __m128i low = _mm_loadu_si128((const __m128i *)bytes);
    const __m128i high = _mm_loadu_si128((const __m128i *)(bytes + 16));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, wanted)) |
           (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, wanted)) << 16;
#else
    uint32_t bits = 0;
    for (int i = 0; i < WORD; i++) bits |= (uint32_t)(bytes[i] == byte) << i;
    return bits;
#endif
}

/* Cut the codes of one feature into planes; one of row8 and row16 is given.
   low, high: scratch for the bytes of the codes sorted by class, each class padded to whole words
   with the last level, which has no plane. to: [plane][word][lane], at the lane of the feature. */
static void pack_feature(const uint8_t *row8, const uint16_t *row16, const uint32_t *samples,
    const int64_t *words, const int64_t *sizes, int64_t n_classes, int64_t last, uint8_t *low,
    uint8_t *high, uint32_t *to) {
    const int64_t n_words = words[n_classes];
    memset(low, (int)(last & 0xff), (size_t)(n_words * WORD));
    memset(high, (int)(last >> 8), (size_t)(n_words * WORD));
    for (int64_t c = 0; c < n_classes; samples += sizes[c++]) {
        uint8_t *own = low + words[c] * WORD, *upper = high + words[c] * WORD;
        for (int64_t i = 0; row8 && i < sizes[c]; i++) own[i] = row8[samples[i]];
        for (int64_t i = 0; !row8 && i < sizes[c]; i++) {
            own[i] = (uint8_t)row16[samples[i]];
            upper[i] = (uint8_t)(row16[samples[i]] >> 8);
        }
    }
    for (int64_t plane = 0; plane < last; plane++)
        for (int64_t w = 0; w < n_words; w++) {
            uint32_t bits = equal_bits(low + w * WORD, plane & 0xff);
            if (!row8) bits &= equal_bits(high + w * WORD, plane >> 8);
            to[(plane * n_words + w) * LANES] = bits;
        }
}

/* The codes of one feature, samples sorted by class, to its lane of [sample][lane]. */
static void copy_codes(const uint8_t *row8, const uint16_t *row16, const uint32_t *samples,
    int64_t n, uint8_t *to) {
    for (int64_t i = 0; row8 && i < n; i++) to[i * LANES] = row8[samples[i]];
    for (int64_t i = 0; !row8 && i < n; i++) to[i * LANES] = (uint8_t)row16[samples[i]];
}

/* Pack tiles first:last of sixteen features each, those from first_bytes on as bytes, and count the
   samples of each plane and class. One of values8 and values16 is given, features by samples;
   order: features by their place; samples: sorted by class; tiles of n_planes < 1 have no planes. */
EXPORT int bestk_pack_planes(const uint8_t *values8, int64_t step8, const uint16_t *values16,
    int64_t step16, const int64_t *order, const uint32_t *samples, const int64_t *n_planes,
    const int64_t *bits_at, const int64_t *margins_at, const int64_t *words, const int64_t *sizes,
    const int64_t *levels, int64_t n_features, int64_t n_classes, int64_t first_bytes,
    uint32_t *bits, uint8_t *bytes, uint32_t *margins, int64_t first, int64_t last) {
    const int64_t n_words = words[n_classes];
    int64_t n_samples = 0, most = 0;
    for (int64_t c = 0; c < n_classes; c++) n_samples += sizes[c];
    for (int64_t tile = first; tile < last; tile++) most = most_of(n_planes[tile], most);
    Room room = {0};
    uint8_t *low = take(&room, n_words * WORD, 1), *high = take(&room, n_words * WORD, 1);
    uint32_t *everyone = take(&room, n_words, sizeof *everyone);
    uint32_t *every = take(&room, n_samples, sizeof *every);
    uint16_t *cells = take(&room, (most + 1) * LANES, sizeof *cells);
    if (!room.status) memset(everyone, 0xff, (size_t)n_words * sizeof *everyone);
    for (int64_t i = 0; !room.status && i < n_samples; i++) every[i] = (uint32_t)i;
    for (int64_t tile = first; !room.status && tile < last; tile++) {
        const int64_t n_j = n_planes[tile], in_bytes = tile >= first_bytes;
        uint8_t *own = bytes + (tile - first_bytes) * n_samples * LANES;
        uint32_t *to = margins + margins_at[tile];
        if (n_j < 1) continue;
        for (int64_t lane = 0; lane < LANES && tile * LANES + lane < n_features; lane++) {
            const int64_t from = order[tile * LANES + lane], top = levels[tile * LANES + lane] - 1;
            const uint8_t *row8 = values8 ? values8 + from * step8 : NULL;
            const uint16_t *row16 = values8 ? NULL : values16 + from * step16;
            if (in_bytes)
                copy_codes(row8, row16, samples, n_samples, own + lane);
            else
                pack_feature(row8, row16, samples, words, sizes, n_classes, top, low, high,
                    bits + bits_at[tile] + lane);
        }
        if (!in_bytes) bestk_count_rows(everyone, 1, bits + bits_at[tile], n_j, words, n_classes, to);
        for (int64_t c = 0, begin = 0; in_bytes && c < n_classes; begin += sizes[c++]) {
            bestk_count_run(own, every + begin, sizes[c], n_j, cells);
            for (int64_t at = 0; at < n_j * LANES; at++) to[c * n_j * LANES + at] = cells[at];
        }
    }
    return release(&room);
}
