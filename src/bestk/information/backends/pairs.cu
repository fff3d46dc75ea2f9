/* CUDA kernels for pairs of features; each is compiled by itself, as -DKERNEL_PACK and so on.

   Python passes the arguments of a kernel by the names of its parameters: see `launch` in
   _torch_kernels.py. Other settings are defined when a kernel is compiled:

   COUNT, VALUE  the types of counts and of results
   PARTS         classes that are counted apart; 1: all samples together
   STAGES        buffers of planes in shared memory */

/* Features, or planes, on each side of a tile: four warps, each with 64 x 64 pairs. */
#define SIDE 128

/* Threads that multiply planes. */
#define MULTIPLIERS 128

/* 32-bit words of each row in a stage: four chunks of 16 bytes. */
#define WORDS 16

/* Bytes of one side of a tile in a stage. */
#define SIDE_BYTES (SIDE * WORDS * 4)

/* Bytes of both sides of a tile in a stage. */
#define STAGE_BYTES (2 * SIDE_BYTES)

/* The byte of a stage where a chunk of a row is. The chunks of a row change places from row to row,
   so that no two rows of a load share a bank of shared memory. */
__device__ __forceinline__ unsigned slot(int row, int chunk) {
    const int place = chunk ^ ((row >> 1) & 3);
    return (row * 4 + place) * 16;
}

#ifdef KERNEL_PACK

/* Planes of bits: where each feature has each of the first levels.

   codes          a row of codes for each feature, `n_places` apart, samples in order of classes
   features       the features whose planes are wanted
   word_places    the place of the first code of each word of a plane
   word_lengths   how many codes the word has, at most 32
   bits           rows of [level][feature], the last one again up to whole tiles, which lie as
                  [tile][stage][slot]

   A block packs 128 words of a row, a word for each thread. */
extern "C" __global__ void pack(const unsigned char *codes, int n_places,
    const long long *features, int n_features, int n_levels, const int *word_places,
    const int *word_lengths, int n_words, unsigned *bits) {
    const int row = blockIdx.x;
    const int word = blockIdx.y * blockDim.x + threadIdx.x;
    if (word >= n_words) return;
    const int plane = min(row, n_levels * n_features - 1);
    const int level = plane / n_features;
    const long long feature = features[plane % n_features];
    const unsigned char *first_code = codes + feature * n_places + word_places[word];
    const int length = word_lengths[word];
    unsigned packed = 0;
    for (int i = 0; i < length; i++) packed |= (unsigned)(first_code[i] == level) << i;
    const int tile = row / SIDE;
    const int stages_of_tile = n_words / WORDS;
    const long long stage = (long long)tile * stages_of_tile + word / WORDS;
    const unsigned first_word = slot(row % SIDE, word / 4 % 4) / 4;
    bits[stage * SIDE * WORDS + first_word + word % 4] = packed;
}

#endif

#if defined(KERNEL_COUNT) || defined(KERNEL_PAIRS)

/* Load four 8 x 8 matrices of 16 bits from shared memory, as tensor cores take them. */
__device__ __forceinline__ void load_matrices(unsigned *registers, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(address));
}

/* Add to 16 x 8 sums the ones that 16 and 8 planes share in a step of 256 bits. */
__device__ __forceinline__ void multiply_step(int *sums, const unsigned *left,
    const unsigned *right) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

/* Wait until so many threads have come to a barrier of the block. */
__device__ __forceinline__ void wait_for(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/* Count the ones that the planes of the two sides of a tile share: `sums` of a thread, for each of
   the 16 x 8 pieces of its warp's 64 x 64 pairs, as tensor cores lay them out.

   Stages travel through STAGES buffers from the shared address `buffers`: while one is multiplied,
   the others are filled. A stage has two steps of 256 bits. `begin(step)` is called before each
   step, and `turn` between two loops, before the stage `middle`: within a loop, the compiler would
   predicate its many short instructions. */
template <class Begin, class Turn>
__device__ __forceinline__ void multiply(const unsigned *left, const unsigned *right, int n_stages,
    int middle, unsigned buffers, int (&sums)[32][4], Begin begin, Turn turn) {
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int first_row = (warp & 1) * 64;
    const int first_column = (warp >> 1) * 64;
    const unsigned my_rows = slot(first_row + (lane & 15), lane >> 4);
    const unsigned my_columns =
        SIDE_BYTES + slot(first_column + (lane & 7) + (lane >> 4) * 8, (lane >> 3) & 1);
    const char *sources[2] = {
        (const char *)(left + threadIdx.x * 4), (const char *)(right + threadIdx.x * 4)};
    unsigned destination = buffers + threadIdx.x * 16;
    unsigned current = buffers;
    unsigned left_planes[2][4][4];
    unsigned right_planes[2][4][4];
    auto next_buffer = [&](unsigned address) {
        return address - buffers < (STAGES - 1) * STAGE_BYTES
            ? address + STAGE_BYTES
            : address - (STAGES - 1) * STAGE_BYTES;
    };
    auto start_copy = [&]() { /* of the next stage from global memory */
#pragma unroll
        for (int side = 0; side < 2; side++) {
#pragma unroll
            for (int i = 0; i < SIDE_BYTES; i += MULTIPLIERS * 16)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                 destination + side * SIDE_BYTES + i), "l"(sources[side] + i));
            sources[side] += SIDE_BYTES;
        }
        destination = next_buffer(destination);
    };
    auto fetch = [&](int step) { /* to registers; the second step is two chunks on */
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int rows_before = e * 16 * WORDS * 4;
            load_matrices(left_planes[step][e], current + ((my_rows + rows_before) ^ (step * 32)));
            load_matrices(
                right_planes[step][e], current + ((my_columns + rows_before) ^ (step * 32)));
        }
    };
    auto add = [&](int step) {
#pragma unroll
        for (int m = 0; m < 4; m++)
#pragma unroll
            for (int n = 0; n < 8; n++) {
                const unsigned *right_pair = right_planes[step][n >> 1] + (n & 1) * 2;
                multiply_step(sums[m * 8 + n], left_planes[step][m], right_pair);
            }
    };
    auto wait_for_copy = [&]() {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        wait_for(1, MULTIPLIERS);
    };
    wait_for(1, MULTIPLIERS); /* until the buffers of the tile before are read */
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (stage < n_stages) start_copy();
        asm volatile("cp.async.commit_group;");
    }
    wait_for_copy();
    fetch(0);
    for (int stage = 0, stop = middle; stage < n_stages; stop = n_stages) {
        for (; stage < stop; stage++) {
            fetch(1); /* while the first step is added, and so on */
            begin(2 * stage);
            add(0);
            if (stage + STAGES - 1 < n_stages) start_copy();
            asm volatile("cp.async.commit_group;");
            wait_for_copy();
            current = next_buffer(current);
            if (stage + 1 < n_stages) fetch(0);
            begin(2 * stage + 1);
            add(1);
        }
        if (stop < n_stages) turn();
    }
}

#endif

#ifdef KERNEL_COUNT

/* Bytes of a row of counts on its way out: rows begin in different banks. */
#define ROW_BYTES 144

/* Ones that planes of two sides share, part by part: counts[part][row][column].

   left_bits, right_bits   planes of `pack`, of n_rows and n_columns rows
   part_ends               the step of 256 bits where each part ends

   A block counts a tile, and writes its sums whenever a part ends. */
extern "C" __global__ void __launch_bounds__(MULTIPLIERS, 2) count(const unsigned *left_bits,
    const unsigned *right_bits, int n_rows, int n_columns, int n_words, const int *part_ends,
    int n_parts, COUNT *counts) {
    extern __shared__ __align__(128) unsigned char room[];
    const unsigned buffers = (unsigned)__cvta_generic_to_shared(room);
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const long long tile_words = (long long)n_words * SIDE;
    int sums[32][4] = {};
    int part = 0;
    int end = part_ends[0];
    auto write_part = [&]() { /* and begin the next with sums of 0 */
        const int row_of_lane = lane >> 2;
        const int column_of_lane = (lane & 3) * 2;
        const int first_row = blockIdx.x * SIDE + (warp & 1) * 64;
        const int column = blockIdx.y * SIDE + (warp >> 1) * 64;
        const unsigned room_of_warp = buffers + STAGES * STAGE_BYTES + warp * 16 * ROW_BYTES;
        COUNT *out = counts + (long long)part * n_rows * n_columns;
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const int row = first_row + m * 16;
#pragma unroll
            for (int n = 0; n < 8; n++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    int *two = sums[m * 8 + n] + 2 * half;
                    const int i = half * 8 + row_of_lane;
                    const int j = n * 8 + column_of_lane;
                    if (sizeof(COUNT) == 2) /* through shared memory: long stores */
                        asm volatile("st.shared.b32 [%0], %1;" ::"r"(
                                         room_of_warp + i * ROW_BYTES + j * 2),
                                     "r"(two[0] | two[1] << 16));
                    else if (row + i < n_rows && column + j < n_columns)
                        *(int2 *)(out + (long long)(row + i) * n_columns + column + j) =
                            make_int2(two[0], two[1]);
                    two[0] = 0;
                    two[1] = 0;
                }
            if (sizeof(COUNT) > 2) continue;
            __syncwarp();
#pragma unroll
            for (int q = 0; q < 4; q++) {
                const int i = q * 4 + (lane >> 3);
                const int j = (lane & 7) * 8;
                uint4 eight;
                asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
                             : "=r"(eight.x), "=r"(eight.y), "=r"(eight.z), "=r"(eight.w)
                             : "r"(room_of_warp + i * ROW_BYTES + j * 2));
                if (row + i < n_rows && column + j < n_columns)
                    *(uint4 *)(out + (long long)(row + i) * n_columns + column + j) = eight;
            }
            __syncwarp();
        }
        part++;
        end = part < n_parts ? part_ends[part] : -1;
    };
    auto write_if_part_ends = [&](int step) {
        if (step == end) write_part();
    };
    const unsigned *left = left_bits + blockIdx.x * tile_words;
    const unsigned *right = right_bits + blockIdx.y * tile_words;
    const int n_stages = n_words / WORDS;
    multiply(left, right, n_stages, n_stages, buffers, sums, write_if_part_ends, []() {});
    if (part < n_parts) write_part();
}

#endif

#ifdef KERNEL_CELLS

/* Any levels: sums of the tables over all cells of a pair, a pair for each thread.

   counts               [part][level and row][level and column] of n_row_levels, height rows,
                        n_column_levels and width columns; where the features have two levels,
                        BINARY, only the first is counted, and the others follow from the margins
   row_margins, column_margins   samples at the first level, [part][feature], steps apart
   sizes                all samples of each part
   pair_table           what a cell of 0, 1, ... samples of all parts adds, if by_pair
   class_table          what a cell of 0, 1, ... samples of one part adds, if by_class
   row_terms, column_terms       what a feature adds as xi and as xj
   scale_and_lowest     of out = max((sum + terms) * scale, lowest), rows out_stride apart */
extern "C" __global__ void cells(const COUNT *counts, int n_row_levels, int height,
    int n_column_levels, int width, const int *row_margins, int row_margin_step,
    const int *column_margins, int column_margin_step, const int *sizes,
    const long long *pair_table, const long long *class_table, int by_pair, int by_class,
    const double *scale_and_lowest, const long long *row_terms, const long long *column_terms,
    int n_columns, VALUE *out, int out_stride) {
    const int i = blockIdx.x;
    const int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n_columns) return;
    long long total = 0;
    for (int a = 0; a < n_row_levels; a++)
        for (int b = 0; b < n_column_levels; b++) {
            int of_all_parts = 0;
            for (int part = 0; part < PARTS; part++) {
                long long row = (long long)part * height + i;
                if (!BINARY)
                    row = (((long long)part * n_row_levels + a) * height + i) * n_column_levels + b;
                int count = counts[row * width + j];
                if (BINARY) {
                    const int in_row = row_margins[part * row_margin_step + i];
                    const int in_column = column_margins[part * column_margin_step + j];
                    if (a && b)
                        count += sizes[part] - in_row - in_column;
                    else if (a || b)
                        count = (a ? in_column : in_row) - count;
                }
                if (by_class) total += __ldg(class_table + count);
                of_all_parts += count;
            }
            if (by_pair) total += __ldg(pair_table + of_all_parts);
        }
    total = total + row_terms[i] + column_terms[j];
    const double value = fmax((double)total * scale_and_lowest[0], scale_and_lowest[1]);
    out[(long long)i * out_stride + j] = (VALUE)value;
}

#endif

#if defined(KERNEL_PAIRS) || defined(KERNEL_HIGH)

/* The bits of the largest float below 2. */
#define TOP 0x3fffffff

/* The count n as n / 2^k, exactly. `marked` is 4 n + mark, and mark has the bits of 2^(21 - k):
   as a float, that is 2^(21 - k) + n / 2^k. */
__device__ __forceinline__ float share_of(unsigned marked, unsigned mark) {
    return __fadd_rn(__uint_as_float(marked), -__uint_as_float(mark));
}

/* About x log2 x in units of 2^-23, and TOP. It is the same for a count wherever it is computed, so
   that a table of what it lacks makes it exact. Of 0 it is not a number, whose bits are TOP and
   2^30. */
__device__ __forceinline__ int high_part(float x) {
    float log2_x;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log2_x) : "f"(x));
    return __float_as_int(__fmaf_rn(x, log2_x, __int_as_float(TOP)));
}

/* A sum of high parts without TOP: multiples of 2^30, from counts of 0, are cut off. */
__device__ __forceinline__ int without_zeros(unsigned sum) { return (int)(sum << 2) >> 2; }

#endif

#ifdef KERNEL_HIGH

/* The high part of the counts 0, 1, ... n - 1, from which the tables of `pairs` are made. */
extern "C" __global__ void high(int n, unsigned mark, long long *out) {
    const int count = blockIdx.x * blockDim.x + threadIdx.x;
    if (count >= n) return;
    const float share = share_of(4 * count + mark, mark);
    out[count] = without_zeros(high_part(share) - TOP);
}

#endif

#ifdef KERNEL_PAIRS
/* Rows of tiles that are worked on together. */
#define BAND 8

/* The low 21 bits. */
#define LOW 2097151

/* What columns are exclusive-ored with in a row of counts: it spreads them over the banks. */
#define SWAP(row) (((row) << 3 | ((row) & 31) >> 2) & 31)

/* Pieces of a tile, 32 x 32 pairs each, for a warp that looks up. */
#define PIECES 16

/* Rows that are turned together: 128 bytes of values. */
#define GROUP (128 / (int)sizeof(VALUE))

/* Whether values across the diagonal go through shared memory. */
#define TURNS (STAGED || sizeof(VALUE) == 4)

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
/* Threads that multiply take registers of the others, which look up fewer pairs at once. */
#define SET_REGISTERS(how, count) asm volatile("setmaxnreg." how ".sync.aligned.u32 " count ";")
#define PAIRS_AT_ONCE 2
#define TRY "mbarrier.try_wait"
#else
#define SET_REGISTERS(how, count)
#define PAIRS_AT_ONCE 4
#define TRY "mbarrier.test_wait"
#endif

/* Warps that look up, and all threads. */
#define SEEKERS (32 / PAIRS_AT_ONCE)
#define THREADS (MULTIPLIERS + SEEKERS * 32)

/* A barrier in shared memory, 8 bytes: a turn of it ends with so many arrivals of warps. */
__device__ __forceinline__ void set_barrier(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/* This warp has arrived. */
__device__ __forceinline__ void arrive(unsigned barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" ::"r"(barrier)
                     : "memory");
}

/* Wait until a turn of a barrier has ended; turns count from 0. */
__device__ __forceinline__ void wait_for_turn(unsigned barrier, unsigned turn) {
    asm volatile("{.reg .pred p; AGAIN: " TRY ".parity.shared.b64 p, [%0], %1; @!p bra AGAIN;}" ::
                     "r"(barrier), "r"(turn & 1) : "memory");
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL /* tensor cores that read shared memory by themselves */

#define FOUR(d) "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])
#define SIXTEEN(d) FOUR((d)[0]), FOUR((d)[1]), FOUR((d)[2]), FOUR((d)[3])

/* Add to 64 x 128 sums the ones that planes at two shared addresses share in a step of 256 bits. */
__device__ __forceinline__ void add_step(int (*sums)[4], unsigned left, unsigned right) {
    /* Chunks change places as `slot` says: the 64-byte swizzle of tensor cores. */
    const unsigned long long layout = 2ull << 62 | 32ull << 32 | 1 << 16;
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
        "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
        "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
        "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1;"
        : SIXTEEN(sums), SIXTEEN(sums + 4), SIXTEEN(sums + 8), SIXTEEN(sums + 12)
        : "l"(layout | left >> 4), "l"(layout | right >> 4));
}

/* The same as `multiply`, for 128 x 128 pairs of four warps together. A turn of the barrier
   `ready` + 8 b ends when planes are in buffer b; `n_used` counts the stages of all tiles. */
template <class Turn>
__device__ __forceinline__ void multiply_wide(const unsigned *left, const unsigned *right,
    int n_stages, int middle, unsigned buffers, unsigned ready, unsigned &n_used,
    int (&sums)[32][4], Turn turn) {
    auto start_copy = [&](int stage) {
        const unsigned buffer = (n_used + stage) % STAGES;
        const unsigned barrier = ready + 8 * buffer;
        const unsigned *sides[2] = {left, right};
        if (threadIdx.x || stage >= n_stages) return;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier),
                     "n"(STAGE_BYTES) : "memory");
#pragma unroll
        for (int side = 0; side < 2; side++) {
            const unsigned destination = buffers + (2 * buffer + side) * SIDE_BYTES;
            const unsigned *source = sides[side] + (long long)stage * SIDE * WORDS;
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%0], [%1], %2, [%3];" ::"r"(destination), "l"(source),
                         "n"(SIDE_BYTES), "r"(barrier) : "memory");
        }
    };
    wait_for(1, MULTIPLIERS); /* until the buffers of the tile before are read */
    for (int stage = 0; stage < STAGES - 1; stage++) start_copy(stage);
    for (int stage = 0; stage < n_stages; stage++) {
        const unsigned buffer = (n_used + stage) % STAGES;
        const unsigned left_planes = buffers + buffer * STAGE_BYTES;
        if (stage == middle) {
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            turn();
        }
        wait_for_turn(ready + 8 * buffer, (n_used + stage) / STAGES);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int half = e % 2; /* of the rows */
            const int step = e / 2 * 32; /* bytes of two chunks */
            add_step(sums + half * 16, left_planes + half * SIDE_BYTES / 2 + step,
                left_planes + SIDE_BYTES + step);
        }
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;" ::
                         : "memory");
        wait_for(1, MULTIPLIERS); /* the stage before is read */
        start_copy(stage + STAGES - 1);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    n_used += n_stages;
}

#endif

/* Counts of PARTS classes that share a word, with `mark` added to each. */
__device__ __forceinline__ void separate(unsigned counts, unsigned mark, unsigned (&out)[PARTS]) {
    out[0] = (PARTS == 2 ? counts & 65535 : counts) + mark;
    if (PARTS == 2) out[PARTS - 1] = (counts >> 16) + mark;
}

/* A word at an address in shared memory. */
__device__ __forceinline__ unsigned look_up(unsigned address) {
    unsigned word;
    asm("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
    return word;
}

/* A float as an integer of the same order. */
__device__ __forceinline__ unsigned order_of(float value) {
    const unsigned bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* Keep the larger of two keys; one that is clearly smaller takes no atomic operation. */
__device__ __forceinline__ void keep(unsigned long long *best, unsigned long long key) {
    if ((unsigned)(key >> 32) >= __ldcg((const unsigned *)best + 1)) atomicMax(best, key);
}

/* Pairs of features of two levels, over PARTS classes of less than 2^14 samples each: planes are
   multiplied, counts looked up, and values written, added up or compared.

   Some warps multiply the planes of a tile and put its counts in shared memory; the others look
   up the counts of the tile before. Each pair needs one count, c, of samples at the first level of
   both features: with a and b at the first level of each and n in all, its cells are c, a - c,
   b - c and n - a - b + c. The value is max((sum of the entries of all cells + terms) * scale,
   lowest).

   Counts are four times as large, which makes them places in a table of 32-bit numbers, and those
   of two classes share a word: so are row_margins, column_margins and size, the samples at the
   first level of each feature, and all samples. Look-ups take most of what shared memory gives, so
   other ways through it are short, and no warp that looks up waits for another.

   left_bits, right_bits   planes of `pack`, of n_rows and n_columns features, n_words each
   second_stage            the stage where the second class begins
   tables                  EXACT: entries of 64 bits, also in global memory. Otherwise, of 32 bits:
                           what `unit` times the high part of a count leaves of its entry
   table_bytes             of tables in shared memory; 0: they stay in global memory
   pair_table_at           EXACT: the byte where the table of cells of both classes begins
   mark                    the bits of the float 2^(21 - k), where counts are at most 2^k
   constant                what is added for every pair
   row_terms, row_terms_as_column         what row features add as xi, and as xj
   column_terms_as_row, column_terms      what column features add as xi, and as xj
   triangle                both sides are the same, and each pair of tiles is worked on once
   first_tile, last_tile   the rows of tiles that are worked on
   row_places, column_places              the feature, of n_features, at each row and column

   MODE 0   out gets the values and back, if there is one, those across the diagonal; rows are
            out_stride and back_stride apart. TWICE: those across the diagonal differ. STAGED:
            values that are turned have a buffer of their own
   MODE 1   sums, [high or low][feature], gets row sums in two parts and, if `triangle`, the sums of
            columns: each value is high * 2^28 + low
   MODE 2   best, [group][feature], gets a key for the best partner of each feature in each group,
            the value in order and then ~partner; kept_values and kept_pairs, [2][kept_room], get
            the n_kept pairs of at least the threshold, as far as there is room. GROUPED: there are
            several groups */
extern "C" __global__ void __launch_bounds__(THREADS, 1) pairs(const unsigned *left_bits,
    const unsigned *right_bits, int n_rows, int n_columns, int n_words, int second_stage,
    const int *row_margins, int n_row_margins, const int *column_margins, int n_column_margins,
    int size, const uint4 *tables, int table_bytes, int pair_table_at, unsigned mark, int unit,
    long long constant, const double *scale_and_lowest, const long long *row_terms,
    const long long *row_terms_as_column, const long long *column_terms_as_row,
    const long long *column_terms, int triangle, int first_tile, int last_tile, VALUE *out,
    int out_stride, VALUE *back, int back_stride, const long long *row_places,
    const long long *column_places, int n_features, double *sums, const int *groups,
    unsigned long long *best, double threshold, int *n_kept, float *kept_values, int *kept_pairs,
    int kept_room) {
    /* Shared memory: stages of planes, tiles of counts (and of values), facts of their rows,
       barriers, and tables. The facts of a row are its margin, its feature and its term. */
    extern __shared__ __align__(1024) unsigned char room[];
    unsigned *counts = (unsigned *)(room + STAGES * STAGE_BYTES);
    uint4 *facts = (uint4 *)(counts + (BUFFERS + STAGED) * SIDE * SIDE);
    uint4 *shared_tables = facts + BUFFERS * SIDE + 8;
    const unsigned ready = (unsigned)__cvta_generic_to_shared(shared_tables - 8);
    const unsigned full = ready + 8 * STAGES; /* barriers of tiles of counts */
    const unsigned empty = full + 8 * BUFFERS;
    const int lane = threadIdx.x & 31;
    const int seeker = (threadIdx.x >> 5) - MULTIPLIERS / 32;
    const long long tile_words = (long long)n_words * SIDE;
    const int tiles_across = (n_columns + SIDE - 1) / SIDE;
    int block = blockIdx.x;
    int band = first_tile;
    int tile_row;
    int tile_column;
    auto next_tile = [&]() { /* Go to the next tile of this block; false: there is none. */
        for (;;) {
            const int first_column = triangle ? band : 0;
            const int tiles_of_band = (tiles_across - first_column) * BAND;
            if (band >= last_tile) return false;
            if (block >= tiles_of_band) {
                block -= tiles_of_band;
                band += BAND;
                continue;
            }
            tile_row = band + block % BAND;
            tile_column = first_column + block / BAND;
            block += gridDim.x;
            if (tile_row < last_tile && !(triangle && tile_column < tile_row)) return true;
        }
    };
    for (int e = threadIdx.x; e < table_bytes / 16; e += THREADS) shared_tables[e] = tables[e];
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

    /* Warps that multiply: each turn puts the counts of a tile in a buffer. */
    if (threadIdx.x < MULTIPLIERS) {
        SET_REGISTERS("inc", "160");
        const unsigned stages = (unsigned)__cvta_generic_to_shared(room);
        const int n_stages = n_words / WORDS;
        const int middle = PARTS == 2 ? second_stage : n_stages;
        const int warp = threadIdx.x >> 5;
        [[maybe_unused]] unsigned n_used = 0;
        for (int turn = 0; next_tile(); turn++) {
            const int buffer = turn % BUFFERS;
            int ones[32][4] = {};
            auto make_room = [&]() { /* for the second class, in the low half of the words */
#pragma unroll
                for (int e = 0; e < 128; e++) ones[e / 4][e % 4] <<= 16;
            };
            const unsigned *left = left_bits + tile_row * tile_words;
            const unsigned *right = right_bits + tile_column * tile_words;
            /* Where the counts of a thread are: as tensor cores lay them out. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
            multiply_wide(
                left, right, n_stages, middle, stages, ready, n_used, ones, make_room);
            const int first_row = warp * 16;
            const int first_column = 0;
            const int rows_apart = 64;
            const int pieces_across = 16;
#else
            multiply(left, right, n_stages, middle, stages, ones, [](int) {}, make_room);
            const int first_row = (warp & 1) * 64;
            const int first_column = (warp >> 1) * 64;
            const int rows_apart = 16;
            const int pieces_across = 8;
#endif
            const int place = tile_row * SIDE + threadIdx.x;
            const int i = min(place, n_rows - 1);
            const long long term = row_terms[i] + constant;
            const uint4 fact = {(unsigned)row_margins[min(place, n_row_margins - 1)],
                MODE ? (unsigned)row_places[i] : 0, (unsigned)term, (unsigned)(term >> 32)};
            if (turn >= BUFFERS) wait_for_turn(empty + 8 * buffer, turn / BUFFERS - 1);
            facts[buffer * SIDE + threadIdx.x] = fact;
#pragma unroll
            for (int e = 0; e < 64; e++) {
                const int piece = e / 2;
                const int half = e & 1;
                const int row =
                    first_row + piece / pieces_across * rows_apart + half * 8 + (lane >> 2);
                const int column = first_column + piece % pieces_across * 8 + (lane & 3) * 2;
                const int one = ones[piece][2 * half] << 2;
                const int two = ones[piece][2 * half + 1] << 2;
                const int is_odd = SWAP(row) & 1;
                const int place_of_both = column ^ SWAP(row) ^ is_odd;
                *(uint2 *)(counts + (buffer * SIDE + row) * SIDE + place_of_both) =
                    make_uint2(is_odd ? two : one, is_odd ? one : two);
            }
            arrive(full + 8 * buffer);
        }
        return;
    }

    /* Warps that look up: each takes a piece of a tile at a time, a lane for each column. */
    SET_REGISTERS("dec", "80");
    const double scale = scale_and_lowest[0];
    const VALUE lowest = (VALUE)scale_and_lowest[1];
    const unsigned char *exact = (const unsigned char *)(table_bytes ? shared_tables : tables);
    /* Addresses to which marked counts are added: of one class, and of the sum of two. */
    const unsigned residuals = (unsigned)__cvta_generic_to_shared(shared_tables) - mark;
    const unsigned pair_residuals = PARTS == 2 ? residuals - mark : residuals;
    unsigned sizes[PARTS];
    separate(size, 0, sizes);
    int turn = -1;
    for (int number = seeker;; number += SEEKERS) { /* of the pieces of all tiles */
        for (; turn < number / PIECES; turn++)
            if (!next_tile()) return;
        const int piece = number % PIECES;
        const int row_in_tile = piece / 4 * 32;
        const int column_in_tile = piece % 4 * 32;
        const int first_row = tile_row * SIDE + row_in_tile;
        const int first_column = tile_column * SIDE + column_in_tile;
        const int height = min(32, n_rows - first_row);
        const int width = min(32, n_columns - first_column);
        const int buffer = turn % BUFFERS;
        const bool on_diagonal = triangle && tile_column == tile_row;
        const uint4 *facts_of_rows = facts + buffer * SIDE + row_in_tile;
        unsigned *counts_of_piece = counts + (buffer * SIDE + row_in_tile) * SIDE + column_in_tile;
        /* Values that are turned: where their counts were, if they are floats. */
        const int pitch = STAGED ? 32 : SIDE;
        VALUE *values = (VALUE *)counts_of_piece;
        if (STAGED) values = (VALUE *)(counts + BUFFERS * SIDE * SIDE) + piece * GROUP * pitch;
        const int j = min(first_column + lane, n_columns - 1);
        const int b = MODE ? (int)column_places[j] : 0; /* the feature of the column */
        const long long column_term = column_terms[j];
        const long long column_as_row = TWICE ? column_terms_as_row[j] : 0;
        const int row_of_lane = min(first_row + lane, n_rows - 1);
        const long long rows_as_column = TWICE ? row_terms_as_column[row_of_lane] + constant : 0;
        unsigned in_column[PARTS];
        separate(column_margins[min(first_column + lane, n_column_margins - 1)], 2 * mark,
            in_column);
        long long row_high = 0;
        long long row_low = 0;
        long long column_high = 0;
        long long column_low = 0;
        unsigned long long row_best = 0;
        unsigned long long column_best = 0;
        VALUE *to = out + (long long)first_row * out_stride + first_column + lane;
        wait_for_turn(full + 8 * buffer, turn / BUFFERS);
        const int a_of_lane = MODE ? facts_of_rows[lane].y : 0; /* the feature of a row */
#pragma unroll 1
        for (int i = 0; i < height;
             i += PAIRS_AT_ONCE, to += PAIRS_AT_ONCE * (long long)out_stride) {
            const int swapped = lane ^ SWAP(i);
            VALUE value[PAIRS_AT_ONCE];
            VALUE across[PAIRS_AT_ONCE]; /* the value across the diagonal */
            int a[PAIRS_AT_ONCE];
#pragma unroll
            for (int k = 0; k < PAIRS_AT_ONCE; k++) {
                const uint4 fact = facts_of_rows[i + k];
                unsigned in_row[PARTS];
                unsigned not_in_row[PARTS];
                separate(fact.x, 2 * mark, in_row);
#pragma unroll
                for (int part = 0; part < PARTS; part++)
                    not_in_row[part] = sizes[part] + 4 * mark - in_row[part];
                const long long row_term = (long long)fact.w << 32 | fact.z;
                const long long row_as_column = TWICE ? __shfl_sync(~0u, rows_as_column, i + k) : 0;
                a[k] = fact.y;
                unsigned cell[4][PARTS]; /* counts, each with a mark */
                separate(counts_of_piece[(i + k) * SIDE + (swapped ^ SWAP(k))], mark, cell[0]);
#pragma unroll
                for (int part = 0; part < PARTS; part++) {
                    cell[1][part] = in_row[part] - cell[0][part];
                    cell[2][part] = in_column[part] - cell[0][part];
                    cell[3][part] = not_in_row[part] - in_column[part] + cell[0][part];
                }
                long long total = row_term + column_term;
                unsigned long long class_residual = 0;
                unsigned long long pair_residual = 0;
                unsigned high = BY_CLASS ? (BY_PAIR ? -4u : -8u) * TOP : -4u * TOP;
#pragma unroll
                for (int c = 0; c < 4; c++) {
                    const unsigned one = cell[c][0];
                    const unsigned two = PARTS == 2 ? cell[c][PARTS - 1] : 0;
                    if (EXACT) { /* mark is 0, and entries take twice as many bytes */
                        if (BY_CLASS)
                            total += *(const long long *)(exact + 2 * one)
                                + *(const long long *)(exact + 2 * two);
                        if (BY_PAIR)
                            total += *(const long long *)(exact + pair_table_at + 2 * (one + two));
                        continue;
                    }
                    const float x = share_of(one, mark);
                    const float y = share_of(two, mark);
                    const float x_and_y = PARTS == 2 ? __fadd_rn(x, y) : x;
                    if (BY_CLASS) {
                        high += high_part(x) + high_part(y);
                        class_residual += look_up(one + residuals);
                        class_residual += look_up(two + residuals);
                    }
                    if (BY_PAIR) {
                        high += BY_CLASS ? -high_part(x_and_y) : high_part(x_and_y);
                        pair_residual += look_up(one + two + pair_residuals);
                    }
                }
                if (!EXACT) {
                    total += class_residual + (BY_CLASS ? -pair_residual : pair_residual);
                    asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(total)
                        : "r"(without_zeros(high)), "r"(unit));
                }
                value[k] = max((VALUE)((double)total * scale), lowest);
                across[k] = value[k];
                if (TWICE) {
                    total += column_as_row + row_as_column - row_term - column_term;
                    across[k] = max((VALUE)((double)total * scale), lowest);
                }
            }
#pragma unroll
            for (int k = 0; k < PAIRS_AT_ONCE; k++) {
                const bool is_valid = lane < width && (k == 0 || i + k < height);
                /* On the diagonal, each pair is met twice, and each feature with itself. */
                const bool is_new =
                    is_valid && !(on_diagonal && column_in_tile + lane <= row_in_tile + i + k);
                if (MODE == 0) {
                    if (is_valid) __stcs(to + k * (long long)out_stride, value[k]);
                    if (TURNS)
                        values[(i + k) % GROUP * pitch + (swapped ^ SWAP(k))] = across[k];
                    else if (back && is_valid && !on_diagonal)
                        back[(long long)(first_column + lane) * back_stride + first_row + i + k] =
                            across[k];
                } else if (MODE == 1) {
                    /* Sums over the lanes, in three parts that 32 values do not overflow. */
                    const long long v = is_valid && a[k] != b ? (long long)value[k] : 0;
                    const long long low = __reduce_add_sync(~0u, (int)(v & LOW));
                    const long long middle = __reduce_add_sync(~0u, (int)(v >> 21 & LOW));
                    const long long top = __reduce_add_sync(~0u, (int)(v >> 42));
                    if (lane == i + k) {
                        row_high = (middle >> 7) + (top << 14);
                        row_low = low + ((middle & 127) << 21);
                    }
                    column_high += v >> 28;
                    column_low += v & 268435455;
                } else {
                    const unsigned order = is_new ? order_of((float)value[k]) : 0;
                    const unsigned long long key = (unsigned long long)order << 32;
                    if (!GROUPED) {
                        const unsigned largest = __reduce_max_sync(~0u, order);
                        const unsigned candidate = order == largest ? (unsigned)~b : 0;
                        const unsigned lowest_b = __reduce_max_sync(~0u, candidate);
                        if (lane == i + k && largest)
                            row_best = (unsigned long long)largest << 32 | lowest_b;
                        if (is_new) column_best = max(column_best, key | (unsigned)~a[k]);
                    } else if (is_new) {
                        keep(best + (long long)groups[b] * n_features + a[k], key | (unsigned)~b);
                        keep(best + (long long)groups[a[k]] * n_features + b,
                            key | (unsigned)~a[k]);
                    }
                    if (is_new && (double)value[k] >= threshold) {
                        const int place = atomicAdd(n_kept, 1);
                        if (place < kept_room) {
                            kept_values[place] = (float)value[k];
                            kept_pairs[place] = a[k];
                            kept_pairs[kept_room + place] = b;
                        }
                    }
                }
            }
            /* Write a group of rows of values as columns, across the diagonal. */
            const bool is_last_of_group =
                (i + PAIRS_AT_ONCE) % GROUP == 0 || i + PAIRS_AT_ONCE >= height;
            if (MODE == 0 && TURNS && is_last_of_group && back && !on_diagonal) {
                const int row = i / GROUP * GROUP + lane % GROUP;
                const int swap = SWAP(row);
                const VALUE *from = values + lane % GROUP * pitch;
                VALUE *turned = back + (long long)(first_column + lane / GROUP) * back_stride;
                turned += first_row + row;
                __syncwarp();
                if (row < height)
#pragma unroll 8
                    for (int column = lane / GROUP; column < width; column += 32 / GROUP) {
                        __stcs(turned, from[column ^ swap]);
                        turned += (32 / GROUP) * (long long)back_stride;
                    }
                __syncwarp();
            }
        }
        arrive(empty + 8 * buffer);
        if (MODE == 1 && lane < height) {
            atomicAdd(sums + a_of_lane, (double)row_high);
            atomicAdd(sums + n_features + a_of_lane, (double)row_low);
        } else if (MODE == 2 && row_best) {
            keep(best + a_of_lane, row_best);
        }
        if (MODE == 1 && triangle && !on_diagonal && lane < width && height > 0) {
            atomicAdd(sums + b, (double)column_high);
            atomicAdd(sums + n_features + b, (double)column_low);
        } else if (MODE == 2 && column_best) {
            keep(best + b, column_best);
        }
    }
}

#endif
