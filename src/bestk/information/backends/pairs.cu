/* CUDA kernels for pairs of features; each is compiled by itself, as -DKERNEL_PACK and so on.
   COUNT, VALUE: the types of counts and of results. PARTS: classes that are counted apart. */

#define SIDE 128 /* of a tile: four warps, each with 64 x 64 pairs */
#define MULTIPLIERS 128 /* threads */
#define WORDS 16 /* of a stage: four chunks of 16 bytes a row */
#define SIDE_BYTES (SIDE * WORDS * 4) /* of a stage */

__device__ __forceinline__ unsigned slot(int row, int chunk) {
    return (row * 4 + (chunk ^ ((row >> 1) & 3))) * 16; /* no two rows of a load share a bank */
}

#ifdef KERNEL_PACK

/* Planes of bits: where each feature has each of the first levels; rows of [level][feature], the
   last one again up to whole tiles, as [tile][stage][slot]. */
extern "C" __global__ void pack(const unsigned char *codes, int places, const long long *features,
    int n_features, int n_levels, const int *place, const int *length, int n_words,
    unsigned *bits) {
    const int row = blockIdx.x, word = blockIdx.y * blockDim.x + threadIdx.x;
    if (word >= n_words) return;
    const int known = min(row, n_levels * n_features - 1), level = known / n_features;
    const unsigned char *from = codes + features[known % n_features] * places + place[word];
    const int n = length[word];
    unsigned found = 0;
    for (int i = 0; i < n; i++) found |= (unsigned)(from[i] == level) << i;
    const long long stage = (long long)(row / SIDE) * (n_words / WORDS) + word / WORDS;
    bits[stage * SIDE * WORDS + slot(row % SIDE, word / 4 % 4) / 4 + word % 4] = found;
}

#endif

#if defined(KERNEL_COUNT) || defined(KERNEL_PAIRS)

__device__ __forceinline__ void load4(unsigned *r, unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}

/* A barrier of some of the threads. */
__device__ __forceinline__ void wait_for(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/* Ones that the planes of two sides of a tile share, from STAGES buffers at `base`;
   `begin(step)` comes before each step of 256 bits, and `turn` between two loops, before the stage
   `middle`: within a loop, the compiler would predicate its many short instructions. */
template <class Begin, class Turn>
__device__ __forceinline__ void multiply(const unsigned *left, const unsigned *right, int n_stages,
    int middle, unsigned base, int (&sums)[4][8][4], Begin begin, Turn turn) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned my_rows = slot((warp & 1) * 64 + (lane & 15), lane >> 4);
    const unsigned my_columns = SIDE_BYTES
        + slot((warp >> 1) * 64 + (lane & 7) + (lane >> 4) * 8, (lane >> 3) & 1);
    const char *sources[2] = {(const char *)(left + threadIdx.x * 4),
                              (const char *)(right + threadIdx.x * 4)};
    unsigned to = base + threadIdx.x * 16, at = base, a[2][4][4], b[2][4][4];
    auto next = [&](unsigned place) {
        return place - base < (STAGES - 1) * 2 * SIDE_BYTES
            ? place + 2 * SIDE_BYTES : place - (STAGES - 1) * 2 * SIDE_BYTES;
    };
    auto load = [&]() {
#pragma unroll
        for (int side = 0; side < 2; side++) {
#pragma unroll
            for (int i = 0; i < SIDE_BYTES; i += MULTIPLIERS * 16)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                 to + side * SIDE_BYTES + i), "l"(sources[side] + i));
            sources[side] += SIDE_BYTES;
        }
        to = next(to);
    };
    auto fetch = [&](int step) { /* the second step is two chunks on */
#pragma unroll
        for (int e = 0; e < 4; e++) {
            load4(a[step][e], at + ((my_rows + e * 16 * WORDS * 4) ^ (step * 32)));
            load4(b[step][e], at + ((my_columns + e * 16 * WORDS * 4) ^ (step * 32)));
        }
    };
    auto add = [&](int step) {
#pragma unroll
        for (int m = 0; m < 4; m++)
#pragma unroll
            for (int n = 0; n < 8; n++) {
                int *d = sums[m][n];
                const unsigned *left_of = a[step][m], *right_of = b[step][n >> 1] + (n & 1) * 2;
                asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                    "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                    : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                    : "r"(left_of[0]), "r"(left_of[1]), "r"(left_of[2]), "r"(left_of[3]),
                      "r"(right_of[0]), "r"(right_of[1]));
            }
    };
    auto arrive = [&]() {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        wait_for(1, MULTIPLIERS);
    };
    wait_for(1, MULTIPLIERS); /* the buffers are read */
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (stage < n_stages) load();
        asm volatile("cp.async.commit_group;");
    }
    arrive();
    fetch(0);
    for (int stage = 0, stop = middle; stage < n_stages; stop = n_stages) {
        for (; stage < stop; stage++) {
            fetch(1); /* while the first step is added, and so on */
            begin(2 * stage);
            add(0);
            if (stage + STAGES - 1 < n_stages) load();
            asm volatile("cp.async.commit_group;");
            arrive();
            at = next(at);
            if (stage + 1 < n_stages) fetch(0);
            begin(2 * stage + 1);
            add(1);
        }
        if (stop < n_stages) turn();
    }
}

#endif

#ifdef KERNEL_COUNT

#define ROW_BYTES 144 /* of counts on their way out: rows begin in different banks */

/* Ones that planes of two sides share, part by part: out[part][row][column]. A part ends before a
   step. */
extern "C" __global__ void __launch_bounds__(MULTIPLIERS, 2) count(const unsigned *left,
    const unsigned *right, int n_rows, int n_columns, int n_words, const int *ends, int n_parts,
    COUNT *out) {
    extern __shared__ __align__(128) unsigned char room[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(room);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const long long tile_words = (long long)n_words * SIDE;
    int sums[4][8][4] = {}, part = 0, end = ends[0];
    auto flush = [&]() {
        const int group = lane >> 2, t = lane & 3;
        const int top = blockIdx.x * SIDE + (warp & 1) * 64;
        const int column = blockIdx.y * SIDE + (warp >> 1) * 64;
        const unsigned own = base + STAGES * 2 * SIDE_BYTES + warp * 16 * ROW_BYTES;
        COUNT *to = out + (long long)part * n_rows * n_columns;
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const int row = top + m * 16;
#pragma unroll
            for (int n = 0; n < 8; n++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    int *two = sums[m][n] + 2 * half;
                    const int i = half * 8 + group, j = n * 8 + t * 2;
                    if (sizeof(COUNT) == 2) /* through shared memory: long stores */
                        asm volatile("st.shared.b32 [%0], %1;" ::"r"(own + i * ROW_BYTES + j * 2),
                                     "r"(two[0] | two[1] << 16));
                    else if (row + i < n_rows && column + j < n_columns)
                        *(int2 *)(to + (long long)(row + i) * n_columns + column + j) =
                            make_int2(two[0], two[1]);
                    two[0] = two[1] = 0;
                }
            if (sizeof(COUNT) > 2) continue;
            __syncwarp();
#pragma unroll
            for (int q = 0; q < 4; q++) {
                const int i = q * 4 + (lane >> 3), j = (lane & 7) * 8;
                uint4 found;
                asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                             : "=r"(found.x), "=r"(found.y), "=r"(found.z), "=r"(found.w)
                             : "r"(own + i * ROW_BYTES + j * 2));
                if (row + i < n_rows && column + j < n_columns)
                    *(uint4 *)(to + (long long)(row + i) * n_columns + column + j) = found;
            }
            __syncwarp();
        }
        end = ++part < n_parts ? ends[part] : -1;
    };
    left += blockIdx.x * tile_words;
    right += blockIdx.y * tile_words;
    auto check = [&](int step) {
        if (step == end) flush();
    };
    multiply(left, right, n_words / WORDS, n_words / WORDS, base, sums, check, []() {});
    if (part < n_parts) flush();
}

#endif

#ifdef KERNEL_CELLS

__device__ __forceinline__ VALUE measure(long long total, const double *scale_and_lowest) {
    return (VALUE)fmax((double)total * scale_and_lowest[0], scale_and_lowest[1]);
}

/* Any levels: sums of the tables over all cells, a pair for each thread. Of features of two
   levels, BINARY, only the first is counted: the others follow from its margins. */
extern "C" __global__ void cells(const COUNT *counts, int n_i, int height, int n_j, int width,
    const int *mine, int i_step, const int *yours, int j_step, const int *sizes,
    const long long *pair_table, const long long *class_table, int by_pair, int by_class,
    const double *scale_and_lowest, const long long *i_row, const long long *i_column,
    const long long *j_row, const long long *j_column, int n_columns, VALUE *out, int stride,
    VALUE *other, int other_stride, int twice) {
    const int i = blockIdx.x, j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n_columns) return;
    long long total = 0;
    for (int a = 0; a < n_i; a++)
        for (int b = 0; b < n_j; b++) {
            int pooled = 0;
            for (int part = 0; part < PARTS; part++) {
                long long row = (long long)part * height + i;
                if (!BINARY) row = (((long long)part * n_i + a) * height + i) * n_j + b;
                int count = counts[row * width + j];
                if (BINARY) {
                    const int in_row = mine[part * i_step + i];
                    const int in_column = yours[part * j_step + j];
                    if (a && b)
                        count += sizes[part] - in_row - in_column;
                    else if (a || b)
                        count = (a ? in_column : in_row) - count;
                }
                if (by_class) total += __ldg(class_table + count);
                pooled += count;
            }
            if (by_pair) total += __ldg(pair_table + pooled);
        }
    out[(long long)i * stride + j] = measure(total + i_row[i] + j_column[j], scale_and_lowest);
    if (twice)
        other[(long long)i * other_stride + j] =
            measure(total + j_row[j] + i_column[i], scale_and_lowest);
}

#endif

#if defined(KERNEL_PAIRS) || defined(KERNEL_HIGH)

#define TOP 0x3fffffff /* the bits of the largest float below 2 */

/* n / 2^k, exactly, of a count n; marked: 4 n + mark. mark: the bits of 2^(21 - k). */
__device__ __forceinline__ float share_of(unsigned marked, unsigned mark) {
    return __fadd_rn(__uint_as_float(marked), -__uint_as_float(mark));
}

/* About x log x in units of 2^-23, and TOP: the same for a count wherever it is computed, so that
   a table of the rest makes it exact. Of 0 it is not a number, whose bits are TOP and 2^30. */
__device__ __forceinline__ int high_part(float x) {
    float log;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(x));
    return __float_as_int(__fmaf_rn(x, log, __int_as_float(TOP)));
}

/* A sum of high parts without TOP, from its last 30 bits. */
__device__ __forceinline__ int without_zeros(unsigned sum) { return (int)(sum << 2) >> 2; }

#endif

#ifdef KERNEL_HIGH

extern "C" __global__ void high(int n, unsigned mark, long long *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = without_zeros(high_part(share_of(4 * i + mark, mark)) - TOP);
}

#endif

#ifdef KERNEL_PAIRS

#define BAND 8 /* rows of tiles that are worked on together */
#define LOW 2097151 /* 21 bits */
#define SWAP(row) (((row) & 7) << 2 | ((row) >> 3 & 1) << 1) /* spreads columns over the banks */
#define OWN 4 /* columns of a thread that looks up */
#define THREADS (MULTIPLIERS + 1024 / OWN)
#define GROUP (64 / sizeof(VALUE)) /* rows that are turned together */
#define FULL 2 /* barriers: counts are there, */
#define FREE 4 /* and counts are read */

#ifdef __CUDA_ARCH_FEAT_SM90_ALL /* threads that multiply take registers of the others */
#define SET_REGISTERS(how, count) asm volatile("setmaxnreg." how ".sync.aligned.u32 " count ";")
#else
#define SET_REGISTERS(how, count)
#endif

/* Counts of PARTS classes that share a word, with `mark` added to each. */
__device__ __forceinline__ void separate(unsigned counts, unsigned mark, unsigned (&out)[PARTS]) {
    out[0] = (PARTS == 2 ? counts & 65535 : counts) + mark;
    if (PARTS == 2) out[PARTS - 1] = (counts >> 16) + mark;
}

__device__ __forceinline__ unsigned look_up(unsigned at) {
    unsigned found;
    asm("ld.shared.u32 %0, [%1];" : "=r"(found) : "r"(at));
    return found;
}

__device__ __forceinline__ void tell(int barrier) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(THREADS) : "memory");
}

/* A float as an integer of the same order. */
__device__ __forceinline__ unsigned order_of(float value) {
    const unsigned bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ void keep(unsigned long long *best, unsigned long long key) {
    if ((unsigned)(key >> 32) >= __ldcg((const unsigned *)best + 1)) atomicMax(best, key);
}

/* Two levels, PARTS classes of less than 2^14 samples: counts, look-ups and what becomes of the
   values. Counts are four times as large, places in a table of 32-bit numbers, and those of two
   classes share a word; mine, yours, size: as many samples at the first level, and of all.
   EXACT: tables of 64 bits, also in global memory, or else of what `unit` times the high part
   leaves. STAGED: values that are turned have a buffer of their own.
   MODE 0: out gets the values and back, if there is one, those across the diagonal.
   MODE 1: sums_of, [2][feature], gets row sums, and if `triangle` sums of columns.
   MODE 2: best, [group][feature], gets the best partners, and found the pairs of at least `least`.
   `triangle`: both sides are the same, and each pair of tiles is worked on once. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) pairs(const unsigned *left,
    const unsigned *right, int n_rows, int n_columns, int n_words, int second, const int *mine,
    const int *yours, int n_yours, int size, const uint4 *tables, int table_bytes, int pair_at,
    unsigned mark, int unit, long long constant, const double *scale_and_lowest,
    const long long *i_row, const long long *i_column, const long long *j_row,
    const long long *j_column, int triangle,
    int first_tile, int last_tile, VALUE *out, int stride, VALUE *back, int back_stride,
    const long long *i_at, const long long *j_at, int n_features, double *sums_of,
    const int *group, unsigned long long *best, double least, int *n_found, float *found,
    int *pairs_found, int max_found) {
    extern __shared__ __align__(128) unsigned char room[];
    unsigned *counts = (unsigned *)(room + table_bytes);
    const int lane = threadIdx.x & 31, warp = (threadIdx.x >> 5) - MULTIPLIERS / 32;
    const long long tile_words = (long long)n_words * SIDE;
    const int across = (n_columns + SIDE - 1) / SIDE;
    int block = blockIdx.x, band = first_tile, tile_row, tile_column;
    auto next_tile = [&]() { /* whether there is one more for this block */
        for (;;) {
            const int from = triangle ? band : 0;
            if (band >= last_tile) return false;
            if (block >= (across - from) * BAND) {
                block -= (across - from) * BAND;
                band += BAND;
                continue;
            }
            tile_row = band + block % BAND;
            tile_column = from + block / BAND;
            block += gridDim.x;
            if (tile_row < last_tile && !(triangle && tile_column < tile_row)) return true;
        }
    };
    for (int e = threadIdx.x; e < table_bytes / 16; e += THREADS) ((uint4 *)room)[e] = tables[e];
    __syncthreads();

    if (threadIdx.x < MULTIPLIERS) {
        SET_REGISTERS("inc", "224");
        const unsigned stages = (unsigned)__cvta_generic_to_shared(
            counts + (BUFFERS + STAGED) * SIDE * SIDE);
        for (int turn = 0; next_tile(); turn++) {
            const int buffer = turn % BUFFERS;
            int sums[4][8][4] = {};
            auto shift = [&]() {
#pragma unroll
                for (int e = 0; e < 128; e++) sums[e / 4 % 4][e / 16][e % 4] <<= 16;
            };
            multiply(left + tile_row * tile_words, right + tile_column * tile_words,
                     n_words / WORDS, PARTS == 2 ? second : n_words / WORDS, stages, sums,
                     [](int) {}, shift);
            if (turn >= BUFFERS) wait_for(FREE + buffer, THREADS);
#pragma unroll
            for (int m = 0; m < 4; m++)
#pragma unroll
                for (int e = 0; e < 16; e++) {
                    const int i = (e & 1) * 8 + (lane >> 2), me = threadIdx.x >> 5;
                    const int row = (me & 1) * 64 + m * 16 + i;
                    const int column = (me >> 1) * 64 + (e >> 1) * 8 + (lane & 3) * 2;
                    const int *two = sums[m][e >> 1] + 2 * (e & 1);
                    *(uint2 *)(counts + (buffer * SIDE + row) * SIDE + (column ^ SWAP(i))) =
                        make_uint2(two[0] << 2, two[1] << 2);
                }
            __threadfence_block();
            tell(FULL + buffer);
        }
        return;
    }

    SET_REGISTERS("dec", "136");
    const double scale = scale_and_lowest[0];
    const VALUE lowest = (VALUE)scale_and_lowest[1];
    const int above = warp * OWN / 4 * 16, before = warp * OWN % 4 * 32; /* in a tile */
    const unsigned char *exact = table_bytes ? room : (const unsigned char *)tables;
    const unsigned rests = (unsigned)__cvta_generic_to_shared(room) - mark;
    const unsigned pair_rests = PARTS == 2 ? rests - mark : rests;
    unsigned sizes[PARTS];
    separate(size, 0, sizes);
    for (int turn = 0; next_tile(); turn++) {
        const int buffer = turn % BUFFERS;
        const bool on_diagonal = triangle && tile_column == tile_row;
        const int row = tile_row * SIDE + above, first = tile_column * SIDE + before;
        const int height = min(16, n_rows - row), width = min(32 * OWN, n_columns - first);
        unsigned *own = counts + (buffer * SIDE + above) * SIDE + before;
        VALUE *values = (VALUE *)own; /* of floats: where their counts were */
        if (STAGED) values = (VALUE *)(counts + SIDE * SIDE) + above / 16 * GROUP * SIDE + before;
        unsigned in_column[OWN][PARTS];
        int b[OWN];
        long long column_term[OWN], column_as_row[OWN], column_high[OWN] = {}, column_low[OWN] = {};
        unsigned long long column_best[OWN] = {};
#pragma unroll
        for (int k = 0; k < OWN; k++) {
            const int j = min(first + lane + 32 * k, n_columns - 1);
            separate(yours[min(first + lane + 32 * k, n_yours - 1)], 2 * mark, in_column[k]);
            column_term[k] = j_column[j];
            if (TWICE) column_as_row[k] = j_row[j];
            b[k] = MODE ? (int)j_at[j] : 0;
        }
        const int i_of_lane = min(row + (lane & 15), n_rows - 1);
        const int row_counts = mine[i_of_lane], a_of_lane = MODE ? (int)i_at[i_of_lane] : 0;
        const long long row_terms = i_row[i_of_lane] + constant;
        const long long as_columns = TWICE ? i_column[i_of_lane] + constant : 0;
        long long row_high = 0, row_low = 0;
        unsigned long long row_best = 0;
        wait_for(FULL + buffer, THREADS);
#pragma unroll 1
        for (int i = 0; i < height; i++) {
            unsigned in_row[PARTS], outside[PARTS];
            separate(__shfl_sync(~0u, row_counts, i), 2 * mark, in_row);
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                outside[part] = sizes[part] + 4 * mark - in_row[part];
            const long long row_term = __shfl_sync(~0u, row_terms, i);
            const long long row_as_column = TWICE ? __shfl_sync(~0u, as_columns, i) : 0;
            const int a = MODE ? __shfl_sync(~0u, a_of_lane, i) : 0;
            VALUE *to = out + (long long)(row + i) * stride + first + lane;
            const int swapped = lane ^ SWAP(i);
            const unsigned *place = own + i * SIDE + swapped;
            VALUE value[OWN], other[OWN];
#pragma unroll
            for (int k = 0; k < OWN; k++) {
                unsigned cell[4][PARTS];
                separate(place[32 * k], mark, cell[0]);
#pragma unroll
                for (int part = 0; part < PARTS; part++) {
                    cell[1][part] = in_row[part] - cell[0][part];
                    cell[2][part] = in_column[k][part] - cell[0][part];
                    cell[3][part] = outside[part] - in_column[k][part] + cell[0][part];
                }
                long long total = row_term + column_term[k];
                unsigned long long rest = 0, pair_rest = 0;
                unsigned high = BY_CLASS ? (BY_PAIR ? -4u : -8u) * TOP : -4u * TOP;
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const unsigned one = cell[c][0], two = PARTS == 2 ? cell[c][PARTS - 1] : 0;
                    if (EXACT) {
                        if (BY_CLASS)
                            total += *(const long long *)(exact + 2 * one)
                                + *(const long long *)(exact + 2 * two);
                        if (BY_PAIR)
                            total += *(const long long *)(exact + pair_at + 2 * (one + two));
                        continue;
                    }
                    const float x = share_of(one, mark), y = share_of(two, mark);
                    const float z = PARTS == 2 ? __fadd_rn(x, y) : x;
                    if (BY_CLASS) {
                        high += high_part(x) + high_part(y);
                        rest += look_up(one + rests);
                        rest += look_up(two + rests);
                    }
                    if (BY_PAIR) {
                        high += BY_CLASS ? -high_part(z) : high_part(z);
                        pair_rest += look_up(one + two + pair_rests);
                    }
                }
                if (!EXACT) {
                    total += rest + (BY_CLASS ? -pair_rest : pair_rest);
                    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(total)
                        : "r"(without_zeros(high)), "r"(unit));
                }
                other[k] = value[k] = max((VALUE)((double)total * scale), lowest);
                if (TWICE) {
                    total += column_as_row[k] + row_as_column - row_term - column_term[k];
                    other[k] = max((VALUE)((double)total * scale), lowest);
                }
            }
            int pieces[3] = {};
            unsigned order[OWN] = {}, most = 0, lowest_b = 0;
#pragma unroll
            for (int k = 0; k < OWN; k++) {
                const bool valid = lane + 32 * k < width;
                if (MODE == 0) {
                    if (valid) __stcs(to + 32 * k, value[k]);
                    if (STAGED || sizeof(VALUE) == 4)
                        values[i % GROUP * SIDE + swapped + 32 * k] = other[k];
                    else if (back && valid && !on_diagonal)
                        back[(long long)(first + lane + 32 * k) * back_stride + row + i] = other[k];
                } else if (MODE == 1) {
                    const long long v = valid && a != b[k] ? (long long)value[k] : 0;
                    pieces[0] += (int)(v & LOW);
                    pieces[1] += (int)(v >> 21 & LOW);
                    pieces[2] += (int)(v >> 42);
                    column_high[k] += v >> 28;
                    column_low[k] += v & 268435455;
                } else if (valid && !(on_diagonal && before + lane + 32 * k <= above + i)) {
                    order[k] = order_of((float)value[k]);
                    const unsigned long long key = (unsigned long long)order[k] << 32;
                    if (GROUPED) {
                        keep(best + (long long)group[b[k]] * n_features + a,
                             key | (unsigned)~b[k]);
                        keep(best + (long long)group[a] * n_features + b[k], key | (unsigned)~a);
                    } else {
                        column_best[k] = max(column_best[k], key | (unsigned)~a);
                        most = max(most, order[k]);
                    }
                    if ((double)value[k] >= least) {
                        const int at = atomicAdd(n_found, 1);
                        if (at < max_found) {
                            found[at] = (float)value[k];
                            pairs_found[at] = a;
                            pairs_found[max_found + at] = b[k];
                        }
                    }
                }
            }
            if (MODE == 1) {
                long long sum[3];
#pragma unroll
                for (int p = 0; p < 3; p++) sum[p] = __reduce_add_sync(~0u, pieces[p]);
                if (lane == i) {
                    row_high = (sum[1] >> 7) + (sum[2] << 14);
                    row_low = sum[0] + ((sum[1] & 127) << 21);
                }
            } else if (MODE == 2 && !GROUPED) {
                most = __reduce_max_sync(~0u, most);
#pragma unroll
                for (int k = 0; k < OWN; k++)
                    if (order[k] == most) lowest_b = max(lowest_b, (unsigned)~b[k]);
                lowest_b = __reduce_max_sync(~0u, lowest_b);
                if (lane == i && most) row_best = (unsigned long long)most << 32 | lowest_b;
            }
            const bool is_last = i % GROUP == GROUP - 1 || i == height - 1;
            if (MODE == 0 && (STAGED || sizeof(VALUE) == 4) && is_last && back && !on_diagonal) {
                const int start = i / GROUP * GROUP, mine_is = start + lane % GROUP;
                const VALUE *from = values + lane % GROUP * SIDE;
                const long long further = (32 / GROUP) * (long long)back_stride;
                VALUE *turned = back + row + mine_is;
                turned += (long long)(first + lane / GROUP) * back_stride;
                __syncwarp();
                if (mine_is < height)
#pragma unroll 8
                    for (int j = lane / GROUP; j < width; j += 32 / GROUP, turned += further)
                        __stcs(turned, from[j ^ SWAP(mine_is)]);
                __syncwarp();
            }
        }
        tell(FREE + buffer);
        if (MODE == 1 && lane < height) {
            atomicAdd(sums_of + a_of_lane, (double)row_high);
            atomicAdd(sums_of + n_features + a_of_lane, (double)row_low);
        } else if (MODE == 2 && row_best) {
            keep(best + a_of_lane, row_best);
        }
#pragma unroll
        for (int k = 0; k < OWN && height > 0; k++) {
            if (lane + 32 * k >= width) break;
            if (MODE == 1 && triangle && !on_diagonal) {
                atomicAdd(sums_of + b[k], (double)column_high[k]);
                atomicAdd(sums_of + n_features + b[k], (double)column_low[k]);
            } else if (MODE == 2 && column_best[k]) {
                keep(best + b[k], column_best[k]);
            }
        }
    }
}

#endif
