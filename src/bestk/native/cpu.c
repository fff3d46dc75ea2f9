/* Which instruction sets the processor has, by CPUID. */
#include "bestk.h"

enum { BASELINE, AVX2, AVX512 };

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

/* Whether the operating system saves these registers (XCR0). */
static int saves(uint32_t mask) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & mask) == mask;
}

/* The highest level of this processor. */
EXPORT int bestk_cpu_level(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return BASELINE;
    const unsigned first = (1u << 27) | (1u << 23); /* OSXSAVE, POPCNT */
    if ((c & first) != first || !saves(0x6)) return BASELINE;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return BASELINE;
    const unsigned avx2 = (1u << 5) | (1u << 3) | (1u << 8); /* AVX2, BMI1, BMI2 */
    if ((b & avx2) != avx2) return BASELINE;
    const unsigned avx512 = (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31); /* F, DQ, BW, VL */
    if ((b & avx512) != avx512 || !(c & (1u << 14)) || !saves(0xe6)) return AVX2; /* VPOPCNTDQ */
    return AVX512;
}
#else
EXPORT int bestk_cpu_level(void) { return BASELINE; }
#endif
