/* CUDA kernels for pairs of features; each is compiled by itself, as -DKERNEL_PACK and so on.
   COUNT, VALUE: the types of counts and of results. PARTS: classes that are counted apart. */

#ifdef KERNEL_PACK

/* Planes of bits: where each feature has each of the first levels; [level][feature][word]. */
extern "C" __global__ void pack(const unsigned char *codes, int places, const long long *features,
    int n_features, int n_levels, const int *place, const int *length, int n_words,
    unsigned *bits) {
    int feature = blockIdx.x, word = blockIdx.y * blockDim.x + threadIdx.x;
    if (word >= n_words) return;
    const unsigned char *from = codes + features[feature] * places + place[word];
    int n = length[word];
    for (int level = 0; level < n_levels; level++) {
        unsigned found = 0;
        for (int i = 0; i < n; i++) found |= (unsigned)(from[i] == level) << i;
        bits[((long long)level * n_features + feature) * n_words + word] = found;
    }
}

#endif

#ifdef KERNEL_COUNT

#define SIDE 128
#define STAGES 4
#define WORDS 16 /* of a stage: four chunks of 16 bytes a row */
#define ROW_BYTES 144 /* of counts on their way out: rows begin in different banks */

__device__ __forceinline__ unsigned slot(int row, int chunk) {
    return (row * 4 + (chunk ^ ((row >> 1) & 3))) * 16; /* no two rows of a load share a bank */
}

__device__ __forceinline__ void load4(unsigned *r, unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
}

/* Ones that planes of two sides share, part by part: out[part][row][column]. A part ends before a
   step of 256 bits. Four warps, each with 64 x 64 pairs. */
extern "C" __global__ void __launch_bounds__(128, 2) count(const unsigned *left,
    const unsigned *right, int n_rows, int n_columns, int n_words, const int *ends, int n_parts,
    COUNT *out) {
    extern __shared__ __align__(128) unsigned char room[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(room);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int top = blockIdx.x * SIDE, first = blockIdx.y * SIDE;
    const int my_row = (warp & 1) * 64, my_column = (warp >> 1) * 64;
    int sums[4][8][4] = {};

    auto load = [&](int stage) {
        const unsigned to = base + (stage % STAGES) * 2 * SIDE * WORDS * 4;
        for (int side = 0; side < 2; side++) {
            const unsigned *from = side ? right : left;
            const int start = side ? first : top, last = (side ? n_columns : n_rows) - 1;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = i * 32 + (threadIdx.x >> 2), chunk = threadIdx.x & 3;
                const unsigned *source = from + (long long)min(start + row, last) * n_words
                    + stage * WORDS + chunk * 4;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                 to + side * SIDE * WORDS * 4 + slot(row, chunk)), "l"(source));
            }
        }
    };
    auto flush = [&](int part) {
        const int group = lane >> 2, t = lane & 3;
        const unsigned own = base + STAGES * 2 * SIDE * WORDS * 4 + warp * 16 * ROW_BYTES;
        COUNT *to = out + (long long)part * n_rows * n_columns;
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const int row = top + my_row + m * 16, column = first + my_column;
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
    };

    const int n_stages = n_words / WORDS;
    for (int stage = 0; stage < STAGES - 1; stage++) {
        if (stage < n_stages) load(stage);
        asm volatile("cp.async.commit_group;");
    }
    int part = 0, end = ends[0];
    for (int stage = 0; stage < n_stages; stage++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        if (stage + STAGES - 1 < n_stages) load(stage + STAGES - 1);
        asm volatile("cp.async.commit_group;");
        const unsigned a_at = base + (stage % STAGES) * 2 * SIDE * WORDS * 4;
        const unsigned b_at = a_at + SIDE * WORDS * 4;
        unsigned a[2][4][4], b[2][4][4]; /* of both steps of the stage */
        auto fetch = [&](int step) {
#pragma unroll
            for (int m = 0; m < 4; m++)
                load4(a[step][m],
                    a_at + slot(my_row + m * 16 + (lane & 15), 2 * step + (lane >> 4)));
#pragma unroll
            for (int n = 0; n < 4; n++)
                load4(b[step][n], b_at + slot(my_column + n * 16 + (lane & 7) + (lane >> 4) * 8,
                                             2 * step + ((lane >> 3) & 1)));
        };
        fetch(0);
#pragma unroll
        for (int step = 0; step < 2; step++) {
            if (step == 0) fetch(1); /* while the first is multiplied */
            if (2 * stage + step == end) {
                flush(part);
                end = ++part < n_parts ? ends[part] : -1;
            }
            if (part == n_parts) break;
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
        }
    }
    if (part < n_parts) flush(part);
}

#endif

#if defined(KERNEL_CELLS) || defined(KERNEL_COUPLES)

__device__ __forceinline__ VALUE measure(
    long long total, long long row, long long column, const double *scale_and_lowest) {
    return (VALUE)fmax((double)(total + row + column) * scale_and_lowest[0], scale_and_lowest[1]);
}

#endif

#ifdef KERNEL_CELLS

/* Any levels: sums of the tables over all cells, a pair for each thread. */
extern "C" __global__ void cells(const COUNT *counts, int n_i, int height, int n_j, int width,
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
                const long long row = ((long long)part * n_i + a) * height + i;
                const int count = counts[(row * n_j + b) * width + j];
                if (by_class) total += __ldg(class_table + count);
                pooled += count;
            }
            if (by_pair) total += __ldg(pair_table + pooled);
        }
    out[(long long)i * stride + j] = measure(total, i_row[i], j_column[j], scale_and_lowest);
    if (twice)
        other[(long long)i * other_stride + j] =
            measure(total, j_row[j], i_column[i], scale_and_lowest);
}

#endif

#ifdef KERNEL_COUPLES

#define SPLIT 268435456.0 /* 2^28 */

__device__ __forceinline__ int build(const long long *table, int mine, int size, long long *to) {
    const int n_first = mine / 2 + 1, n = n_first + (size - mine) / 2 + 1;
    for (int e = threadIdx.x; e < n; e += THREADS) {
        const int cell = e < n_first ? e : e - n_first;
        to[e] = __ldg(table + cell) + __ldg(table + (e < n_first ? mine : size - mine) - cell);
    }
    return size / 2 + 2;
}

__device__ __forceinline__ long long look_up(
    const long long *at, int both, int mine, int yours, int size) {
    const int only = yours - both;
    return at[min(both, mine - both)] + at[mine / 2 + 1 + min(only, size - mine - only)];
}

/* A float as an integer of the same order; of equal ones, the lowest feature has the largest. */
__device__ __forceinline__ unsigned long long key_of(float value, long long feature) {
    const unsigned bits = __float_as_uint(value);
    const unsigned order = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (unsigned long long)order << 32 | (0xffffffffu - (unsigned)feature);
}

__device__ __forceinline__ void keep(unsigned long long *best, unsigned long long key) {
    if ((unsigned)(key >> 32) >= __ldcg((const unsigned *)best + 1)) atomicMax(best, key);
}

/* Two levels: tables of couples for ROWS rows at a time, then a chunk of their columns.
   MODE 0: out and other get the values. MODE 1: out, [2][feature], gets row sums, and sums of the
   columns from `own` on. MODE 2: best, [group][feature], gets the best partners, and found the
   pairs of at least `least`; of the first `own` columns, which are the rows, each pair counts
   once. A thread has OWN columns at a time, a block apart. */
extern "C" __global__ void __launch_bounds__(THREADS) couples(
    const COUNT *__restrict__ counts, int height, int width, const int *__restrict__ mine_of,
    int i_step, const int *__restrict__ yours_of, int j_step, const int *__restrict__ sizes,
    const long long *pair_table, const long long *class_table, int by_pair, int by_class,
    const double *__restrict__ scale_and_lowest, const long long *__restrict__ i_row,
    const long long *__restrict__ i_column, const long long *__restrict__ j_row,
    const long long *__restrict__ j_column, int n_rows, int n_columns, int rows_at_once,
    int chunk, int length, VALUE *__restrict__ out, int stride, VALUE *other, int other_stride,
    int twice, const long long *__restrict__ i_at, const long long *__restrict__ j_at, int own,
    int n_features, const int *__restrict__ group, unsigned long long *best, double least,
    int *n_found, float *found, int *pairs, int max_found) {
    extern __shared__ long long tables[];
    const int begin = blockIdx.y * chunk, stop = min(begin + chunk, n_columns);
    const int last = min((int)(blockIdx.x + 1) * rows_at_once, n_rows);
    double high[OWN] = {}, low[OWN] = {};
    for (int top = blockIdx.x * rows_at_once; top < last; top += ROWS) {
        int mine[ROWS][PARTS], size[PARTS], all_mine[ROWS] = {}, all_size = 0;
        double row_high[ROWS] = {}, row_low[ROWS] = {};
        unsigned long long row_best[ROWS] = {};
        __syncthreads(); /* the tables of the rows before are read */
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int i = min(top + r, last - 1);
            long long *to = tables + r * length;
            all_size = 0;
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                mine[r][part] = mine_of[part * i_step + i];
                size[part] = sizes[part];
                if (by_class) to += build(class_table, mine[r][part], size[part], to);
                all_mine[r] += mine[r][part];
                all_size += size[part];
            }
            if (by_pair) build(pair_table, all_mine[r], all_size, to);
        }
        __syncthreads();
        for (int base = begin; base < stop; base += THREADS * OWN)
#pragma unroll
            for (int k = 0; k < OWN; k++) {
                const int j = base + k * THREADS + threadIdx.x;
                if (j >= stop) continue;
                int yours[PARTS], all_yours = 0;
#pragma unroll
                for (int part = 0; part < PARTS; part++)
                    all_yours += yours[part] = yours_of[part * j_step + j];
                const long long column_term = j_column[j], b = MODE == 2 ? j_at[j] : 0;
                unsigned long long column_best = 0;
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    const int i = top + r;
                    if (i >= last || (MODE == 2 && j < own && j <= i)) continue;
                    const long long *at = tables + r * length;
                    long long total = 0;
                    int all_both = 0;
#pragma unroll
                    for (int part = 0; part < PARTS; part++) {
                        const int both = counts[((long long)part * height + i) * width + j];
                        if (by_class) {
                            total += look_up(at, both, mine[r][part], yours[part], size[part]);
                            at += size[part] / 2 + 2;
                        }
                        all_both += both;
                    }
                    if (by_pair) total += look_up(at, all_both, all_mine[r], all_yours, all_size);
                    const VALUE value = measure(total, i_row[i], column_term, scale_and_lowest);
                    if (MODE == 0) {
                        out[(long long)i * stride + j] = value;
                        if (twice)
                            other[(long long)i * other_stride + j] =
                                measure(total, j_row[j], i_column[i], scale_and_lowest);
                    } else if (MODE == 1) {
                        const double above = j < own && j == i ? 0.0 : floor(value * (1.0 / SPLIT));
                        const double rest = j < own && j == i ? 0.0 : value - above * SPLIT;
                        row_high[r] += above;
                        row_low[r] += rest;
                        high[k] += above; /* used from `own` on */
                        low[k] += rest;
                    } else {
                        const long long a = i_at[i];
                        if (GROUPED) {
                            keep(best + (long long)group[b] * n_features + a, key_of(value, b));
                            keep(best + (long long)group[a] * n_features + b, key_of(value, a));
                        } else {
                            row_best[r] = max(row_best[r], key_of(value, b));
                            column_best = max(column_best, key_of(value, a));
                        }
                        if (value >= least) {
                            const int place = atomicAdd(n_found, 1);
                            if (place < max_found) {
                                found[place] = value;
                                pairs[place] = (int)a;
                                pairs[max_found + place] = (int)b;
                            }
                        }
                    }
                }
                if (MODE == 2 && !GROUPED && column_best) keep(best + b, column_best);
            }
#pragma unroll
        for (int r = 0; r < ROWS && MODE; r++) {
            const int i = top + r;
            if (i >= last) break;
            for (int step = 16; step; step /= 2) {
                row_high[r] += __shfl_xor_sync(~0u, row_high[r], step);
                row_low[r] += __shfl_xor_sync(~0u, row_low[r], step);
                row_best[r] = max(row_best[r], __shfl_xor_sync(~0u, row_best[r], step));
            }
            if (threadIdx.x % 32) continue;
            if (MODE == 1) {
                atomicAdd((double *)out + i_at[i], row_high[r]);
                atomicAdd((double *)out + n_features + i_at[i], row_low[r]);
            } else if (!GROUPED && row_best[r]) {
                keep(best + i_at[i], row_best[r]);
            }
        }
    }
    if (MODE == 1)
#pragma unroll
        for (int k = 0; k < OWN; k++) {
            const int j = begin + k * THREADS + threadIdx.x;
            if (j < own || j >= stop) continue;
            atomicAdd((double *)out + j_at[j], high[k]);
            atomicAdd((double *)out + n_features + j_at[j], low[k]);
        }
}

#endif

#ifdef KERNEL_TURN

/* Write a tile across the diagonal. */
extern "C" __global__ void turn(
    const VALUE *from, int from_stride, int n_rows, int n_columns, VALUE *to, int to_stride) {
    __shared__ VALUE tile[32][33];
    const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) {
        const int row = blockIdx.y * 32 + k;
        if (row < n_rows && j < n_columns)
            tile[k][threadIdx.x] = from[(long long)row * from_stride + j];
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) {
        const int column = blockIdx.x * 32 + k;
        if (column < n_columns && i < n_rows)
            to[(long long)column * to_stride + i] = tile[threadIdx.x][k];
    }
}

#endif
