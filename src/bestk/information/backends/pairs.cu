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
    int middle, unsigned base, int (&sums)[32][4], Begin begin, Turn turn) {
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
                int *d = sums[m * 8 + n];
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
    int sums[32][4] = {}, part = 0, end = ends[0];
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
                    int *two = sums[m * 8 + n] + 2 * half;
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
    const double *scale_and_lowest, const long long *i_row, const long long *j_column,
    int n_columns, VALUE *out, int stride) {
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
#define SWAP(row) (((row) << 3 | ((row) & 31) >> 2) & 31) /* spreads columns over the banks */
#define PIECES 16 /* of a tile, 32 x 32 pairs each, for a warp that looks up */
#define GROUP (128 / (int)sizeof(VALUE)) /* rows that are turned together */

#ifdef __CUDA_ARCH_FEAT_SM90_ALL /* threads that multiply take registers of the others */
#define SET_REGISTERS(how, count) asm volatile("setmaxnreg." how ".sync.aligned.u32 " count ";")
#define OWN 2 /* pairs that a thread looks up at once */
#define TRY "mbarrier.try_wait"
#else
#define SET_REGISTERS(how, count)
#define OWN 4
#define TRY "mbarrier.test_wait"
#endif
#define SEEKERS (32 / OWN) /* warps that look up */
#define THREADS (MULTIPLIERS + SEEKERS * 32)

/* A barrier in shared memory, 8 bytes: a turn of it ends with so many arrivals of warps. */
__device__ __forceinline__ void set_barrier(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" ::"r"(barrier)
                     : "memory");
}

__device__ __forceinline__ void wait_for_turn(unsigned barrier, unsigned turn) {
    asm volatile("{.reg .pred p; AGAIN: " TRY ".parity.shared.b64 p, [%0], %1; @!p bra AGAIN;}" ::
                     "r"(barrier), "r"(turn & 1) : "memory");
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL /* tensor cores that read shared memory by themselves */

#define FOUR(d) "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])
#define SIXTEEN(d) FOUR((d)[0]), FOUR((d)[1]), FOUR((d)[2]), FOUR((d)[3])

/* Adds a step to 64 x 128 sums. */
__device__ __forceinline__ void add_step(int (*d)[4], unsigned left, unsigned right) {
    const unsigned long long slots = 2ull << 62 | 32ull << 32 | 1 << 16; /* their 64-byte swizzle */
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
        "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
        "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
        "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1;"
        : SIXTEEN(d), SIXTEEN(d + 4), SIXTEEN(d + 8), SIXTEEN(d + 12)
        : "l"(slots | left >> 4), "l"(slots | right >> 4));
}

/* The same as `multiply`; a turn of the barrier `ready` + 8 b ends when planes are in buffer b. */
template <class Turn>
__device__ __forceinline__ void multiply_wide(const unsigned *left, const unsigned *right,
    int n_stages, int middle, unsigned base, unsigned ready, unsigned &used, int (&sums)[32][4],
    Turn turn) {
    auto load = [&](int stage) {
        const unsigned buffer = (used + stage) % STAGES, barrier = ready + 8 * buffer;
        const unsigned *sides[2] = {left, right};
        if (threadIdx.x || stage >= n_stages) return;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier),
                     "n"(2 * SIDE_BYTES) : "memory");
#pragma unroll
        for (int side = 0; side < 2; side++)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%0], [%1], %2, [%3];" ::"r"(base + (2 * buffer + side) * SIDE_BYTES),
                         "l"(sides[side] + (long long)stage * SIDE * WORDS), "n"(SIDE_BYTES),
                         "r"(barrier) : "memory");
    };
    wait_for(1, MULTIPLIERS); /* the buffers are read */
    for (int stage = 0; stage < STAGES - 1; stage++) load(stage);
    for (int stage = 0; stage < n_stages; stage++) {
        const unsigned buffer = (used + stage) % STAGES, at = base + buffer * 2 * SIDE_BYTES;
        if (stage == middle) {
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            turn();
        }
        wait_for_turn(ready + 8 * buffer, (used + stage) / STAGES);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int e = 0; e < 4; e++)
            add_step(sums + e % 2 * 16, at + e % 2 * SIDE_BYTES / 2 + e / 2 * 32,
                     at + SIDE_BYTES + e / 2 * 32);
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;" ::
                         : "memory");
        wait_for(1, MULTIPLIERS); /* the stage before is read */
        load(stage + STAGES - 1);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    used += n_stages;
}

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
   leaves. STAGED: values that are turned have a buffer of their own. Look-ups take most of what
   shared memory gives, so other ways through it are short, and no warp that looks up waits for
   another. Facts of a row are its count, its place and its term.
   MODE 0: out gets the values and back, if there is one, those across the diagonal.
   MODE 1: sums_of, [2][feature], gets row sums, and if `triangle` sums of columns.
   MODE 2: best, [group][feature], gets the best partners, and found the pairs of at least `least`.
   `triangle`: both sides are the same, and each pair of tiles is worked on once. */
extern "C" __global__ void __launch_bounds__(THREADS, 1) pairs(const unsigned *left,
    const unsigned *right, int n_rows, int n_columns, int n_words, int second, const int *mine,
    int n_mine, const int *yours, int n_yours, int size, const uint4 *tables, int table_bytes,
    int pair_at, unsigned mark, int unit, long long constant, const double *scale_and_lowest,
    const long long *i_row, const long long *i_column, const long long *j_row,
    const long long *j_column, int triangle, int first_tile, int last_tile, VALUE *out, int stride,
    VALUE *back, int back_stride, const long long *i_at, const long long *j_at, int n_features,
    double *sums_of, const int *group, unsigned long long *best, double least, int *n_found,
    float *found, int *pairs_found, int max_found) {
    extern __shared__ __align__(1024) unsigned char room[];
    unsigned *counts = (unsigned *)(room + STAGES * 2 * SIDE_BYTES);
    uint4 *facts = (uint4 *)(counts + (BUFFERS + STAGED) * SIDE * SIDE);
    uint4 *own_tables = facts + BUFFERS * SIDE + 8; /* behind the barriers */
    const unsigned ready = (unsigned)__cvta_generic_to_shared(own_tables - 8);
    const unsigned full = ready + 8 * STAGES, empty = full + 8 * BUFFERS; /* of counts */
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
    for (int e = threadIdx.x; e < table_bytes / 16; e += THREADS) own_tables[e] = tables[e];
    if (threadIdx.x == 0) {
        for (int e = 0; e < STAGES; e++) set_barrier(ready + 8 * e, 1);
        for (int e = 0; e < BUFFERS; e++) {
            set_barrier(full + 8 * e, MULTIPLIERS / 32);
            set_barrier(empty + 8 * e, PIECES);
        }
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        asm volatile("fence.proxy.async;" ::: "memory");
#endif
    }
    __syncthreads();

    if (threadIdx.x < MULTIPLIERS) {
        SET_REGISTERS("inc", "160");
        const unsigned stages = (unsigned)__cvta_generic_to_shared(room);
        const int n_stages = n_words / WORDS, middle = PARTS == 2 ? second : n_stages;
        [[maybe_unused]] unsigned used = 0;
        for (int turn = 0; next_tile(); turn++) {
            const int buffer = turn % BUFFERS, me = threadIdx.x >> 5;
            int sums[32][4] = {};
            auto shift = [&]() {
#pragma unroll
                for (int e = 0; e < 128; e++) sums[e / 4][e % 4] <<= 16;
            };
            const unsigned *above = left + tile_row * tile_words;
            const unsigned *before = right + tile_column * tile_words;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
            multiply_wide(above, before, n_stages, middle, stages, ready, used, sums, shift);
            const int top = me * 16, start = 0, next = 64, wide = 16; /* of a thread's sums */
#else
            multiply(above, before, n_stages, middle, stages, sums, [](int) {}, shift);
            const int top = (me & 1) * 64, start = (me >> 1) * 64, next = 16, wide = 8;
#endif
            const int place = tile_row * SIDE + threadIdx.x, i = min(place, n_rows - 1);
            const long long term = i_row[i] + constant;
            const uint4 fact = {(unsigned)mine[min(place, n_mine - 1)],
                MODE ? (unsigned)i_at[i] : 0, (unsigned)term, (unsigned)(term >> 32)};
            if (turn >= BUFFERS) wait_for_turn(empty + 8 * buffer, turn / BUFFERS - 1);
            facts[buffer * SIDE + threadIdx.x] = fact;
#pragma unroll
            for (int e = 0; e < 64; e++) {
                const int row = top + e / 2 / wide * next + (e & 1) * 8 + (lane >> 2);
                const int column = start + e / 2 % wide * 8 + (lane & 3) * 2;
                const int one = sums[e / 2][2 * (e & 1)] << 2;
                const int two = sums[e / 2][2 * (e & 1) + 1] << 2, odd = SWAP(row) & 1;
                *(uint2 *)(counts + (buffer * SIDE + row) * SIDE + (column ^ SWAP(row) ^ odd)) =
                    make_uint2(odd ? two : one, odd ? one : two);
            }
            arrive(full + 8 * buffer);
        }
        return;
    }

    SET_REGISTERS("dec", "80");
    const double scale = scale_and_lowest[0];
    const VALUE lowest = (VALUE)scale_and_lowest[1];
    const unsigned char *exact = (const unsigned char *)(table_bytes ? own_tables : tables);
    const unsigned rests = (unsigned)__cvta_generic_to_shared(own_tables) - mark;
    const unsigned pair_rests = PARTS == 2 ? rests - mark : rests;
    unsigned sizes[PARTS];
    separate(size, 0, sizes);
    int turn = -1;
    for (int number = warp;; number += SEEKERS) { /* of the pieces of all tiles */
        for (; turn < number / PIECES; turn++)
            if (!next_tile()) return;
        const int piece = number % PIECES, above = piece / 4 * 32, before = piece % 4 * 32;
        const int row = tile_row * SIDE + above, first = tile_column * SIDE + before;
        const int height = min(32, n_rows - row), width = min(32, n_columns - first);
        const int buffer = turn % BUFFERS, pitch = STAGED ? 32 : SIDE;
        const bool on_diagonal = triangle && tile_column == tile_row;
        const uint4 *rows = facts + buffer * SIDE + above;
        unsigned *own = counts + (buffer * SIDE + above) * SIDE + before;
        VALUE *values = (VALUE *)own; /* of floats: where their counts were */
        if (STAGED) values = (VALUE *)(counts + BUFFERS * SIDE * SIDE) + piece * GROUP * pitch;
        const int j = min(first + lane, n_columns - 1), b = MODE ? (int)j_at[j] : 0;
        const long long column_term = j_column[j], column_as_row = TWICE ? j_row[j] : 0;
        const long long as_columns = TWICE ? i_column[min(row + lane, n_rows - 1)] + constant : 0;
        unsigned in_column[PARTS];
        separate(yours[min(first + lane, n_yours - 1)], 2 * mark, in_column);
        long long row_high = 0, row_low = 0, column_high = 0, column_low = 0;
        unsigned long long row_best = 0, column_best = 0;
        VALUE *to = out + (long long)row * stride + first + lane;
        wait_for_turn(full + 8 * buffer, turn / BUFFERS);
        const int a_of_lane = MODE ? rows[lane].y : 0;
#pragma unroll 1
        for (int i = 0; i < height; i += OWN, to += OWN * (long long)stride) {
            const int swapped = lane ^ SWAP(i);
            VALUE value[OWN], other[OWN];
            int a[OWN];
#pragma unroll
            for (int k = 0; k < OWN; k++) {
                const uint4 fact = rows[i + k];
                unsigned in_row[PARTS], outside[PARTS];
                separate(fact.x, 2 * mark, in_row);
#pragma unroll
                for (int part = 0; part < PARTS; part++)
                    outside[part] = sizes[part] + 4 * mark - in_row[part];
                const long long row_term = (long long)fact.w << 32 | fact.z;
                const long long row_as_column = TWICE ? __shfl_sync(~0u, as_columns, i + k) : 0;
                a[k] = fact.y;
                unsigned cell[4][PARTS];
                separate(own[(i + k) * SIDE + (swapped ^ SWAP(k))], mark, cell[0]);
#pragma unroll
                for (int part = 0; part < PARTS; part++) {
                    cell[1][part] = in_row[part] - cell[0][part];
                    cell[2][part] = in_column[part] - cell[0][part];
                    cell[3][part] = outside[part] - in_column[part] + cell[0][part];
                }
                long long total = row_term + column_term;
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
                    total += column_as_row + row_as_column - row_term - column_term;
                    other[k] = max((VALUE)((double)total * scale), lowest);
                }
            }
#pragma unroll
            for (int k = 0; k < OWN; k++) {
                const bool valid = lane < width && (k == 0 || i + k < height);
                const bool is_new = valid && !(on_diagonal && before + lane <= above + i + k);
                if (MODE == 0) {
                    if (valid) __stcs(to + k * (long long)stride, value[k]);
                    if (STAGED || sizeof(VALUE) == 4)
                        values[(i + k) % GROUP * pitch + (swapped ^ SWAP(k))] = other[k];
                    else if (back && valid && !on_diagonal)
                        back[(long long)(first + lane) * back_stride + row + i + k] = other[k];
                } else if (MODE == 1) {
                    const long long v = valid && a[k] != b ? (long long)value[k] : 0;
                    const long long low = __reduce_add_sync(~0u, (int)(v & LOW));
                    const long long middle = __reduce_add_sync(~0u, (int)(v >> 21 & LOW));
                    const long long high = __reduce_add_sync(~0u, (int)(v >> 42));
                    if (lane == i + k) {
                        row_high = (middle >> 7) + (high << 14);
                        row_low = low + ((middle & 127) << 21);
                    }
                    column_high += v >> 28;
                    column_low += v & 268435455;
                } else {
                    const unsigned order = is_new ? order_of((float)value[k]) : 0;
                    const unsigned long long key = (unsigned long long)order << 32;
                    if (!GROUPED) {
                        const unsigned most = __reduce_max_sync(~0u, order);
                        const unsigned mine_is = order == most ? (unsigned)~b : 0;
                        const unsigned lowest_b = __reduce_max_sync(~0u, mine_is);
                        if (lane == i + k && most)
                            row_best = (unsigned long long)most << 32 | lowest_b;
                        if (is_new) column_best = max(column_best, key | (unsigned)~a[k]);
                    } else if (is_new) {
                        keep(best + (long long)group[b] * n_features + a[k], key | (unsigned)~b);
                        keep(best + (long long)group[a[k]] * n_features + b, key | (unsigned)~a[k]);
                    }
                    if (is_new && (double)value[k] >= least) {
                        const int at = atomicAdd(n_found, 1);
                        if (at < max_found) {
                            found[at] = (float)value[k];
                            pairs_found[at] = a[k];
                            pairs_found[max_found + at] = b;
                        }
                    }
                }
            }
            const bool is_last = (i + OWN) % GROUP == 0 || i + OWN >= height;
            if (MODE == 0 && (STAGED || sizeof(VALUE) == 4) && is_last && back && !on_diagonal) {
                const int mine_is = i / GROUP * GROUP + lane % GROUP, swap = SWAP(mine_is);
                const VALUE *from = values + lane % GROUP * pitch;
                VALUE *turned = back + (long long)(first + lane / GROUP) * back_stride;
                turned += row + mine_is;
                __syncwarp();
                if (mine_is < height)
#pragma unroll 8
                    for (int j = lane / GROUP; j < width; j += 32 / GROUP) {
                        __stcs(turned, from[j ^ swap]);
                        turned += (32 / GROUP) * (long long)back_stride;
                    }
                __syncwarp();
            }
        }
        arrive(empty + 8 * buffer);
        if (MODE == 1 && lane < height) {
            atomicAdd(sums_of + a_of_lane, (double)row_high);
            atomicAdd(sums_of + n_features + a_of_lane, (double)row_low);
        } else if (MODE == 2 && row_best) {
            keep(best + a_of_lane, row_best);
        }
        if (MODE == 1 && triangle && !on_diagonal && lane < width && height > 0) {
            atomicAdd(sums_of + b, (double)column_high);
            atomicAdd(sums_of + n_features + b, (double)column_low);
        } else if (MODE == 2 && column_best) {
            keep(best + b, column_best);
        }
    }
}

#endif
