#pragma once
#include <zlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// inflateInit2 and deflateInit2 are macros, which Swift does not see.
static inline int quire_inflate_init(z_stream *stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}

static inline int quire_deflate_init(z_stream *stream, int level, int window_bits) {
  return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

// Sums are of every byte that an export writes, and zlib's own crc32 takes 3 % of an export's time. Where the
// processor multiplies without carries, lanes of 128 bits are folded on top of what follows them: 64 or 256 bytes
// further on, by the remainders of x^(distance + 32) and x^(distance - 32) (Gopal et al., "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ", Intel 2009). The lanes that are left have the sum of all. Each is a variable
// of its own: of an array in a loop, every step would be written to memory and read again.
#if defined(__x86_64__)
__attribute__((target("pclmul,avx")))
static inline __m128i quire_fold_128(__m128i lane, __m128i factors, const unsigned char *next) {
  __m128i low = _mm_clmulepi64_si128(lane, factors, 0x00);
  __m128i high = _mm_clmulepi64_si128(lane, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128((const __m128i *)next));
}

__attribute__((target("pclmul,avx")))
static inline unsigned long quire_crc32_by_64(unsigned long sum, const unsigned char *bytes, size_t count) {
  const __m128i factors = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i *first = (const __m128i *)bytes;
  __m128i a = _mm_loadu_si128(first), b = _mm_loadu_si128(first + 1);
  __m128i c = _mm_loadu_si128(first + 2), d = _mm_loadu_si128(first + 3);
  a = _mm_xor_si128(a, _mm_cvtsi32_si128((int)~(unsigned)sum));
  for (const unsigned char *next = bytes + 64; next < bytes + count; next += 64) {
    a = quire_fold_128(a, factors, next);
    b = quire_fold_128(b, factors, next + 16);
    c = quire_fold_128(c, factors, next + 32);
    d = quire_fold_128(d, factors, next + 48);
  }
  const __m128i lanes[4] = {a, b, c, d};
  return crc32_z(0xffffffff, (const unsigned char *)lanes, 64);
}

__attribute__((target("vpclmulqdq,avx2")))
static inline __m256i quire_fold_256(__m256i lane, __m256i factors, const unsigned char *next) {
  __m256i low = _mm256_clmulepi64_epi128(lane, factors, 0x00);
  __m256i high = _mm256_clmulepi64_epi128(lane, factors, 0x11);
  return _mm256_xor_si256(_mm256_xor_si256(low, high), _mm256_loadu_si256((const __m256i *)next));
}

__attribute__((target("vpclmulqdq,avx2")))
static inline unsigned long quire_crc32_by_256(unsigned long sum, const unsigned char *bytes, size_t count) {
  const __m256i factors = _mm256_set_epi64x(0x1322d1430, 0x11542778a, 0x1322d1430, 0x11542778a);
  const __m256i *first = (const __m256i *)bytes;
  __m256i a = _mm256_loadu_si256(first), b = _mm256_loadu_si256(first + 1);
  __m256i c = _mm256_loadu_si256(first + 2), d = _mm256_loadu_si256(first + 3);
  __m256i e = _mm256_loadu_si256(first + 4), f = _mm256_loadu_si256(first + 5);
  __m256i g = _mm256_loadu_si256(first + 6), h = _mm256_loadu_si256(first + 7);
  a = _mm256_xor_si256(a, _mm256_zextsi128_si256(_mm_cvtsi32_si128((int)~(unsigned)sum)));
  for (const unsigned char *next = bytes + 256; next < bytes + count; next += 256) {
    a = quire_fold_256(a, factors, next);
    b = quire_fold_256(b, factors, next + 32);
    c = quire_fold_256(c, factors, next + 64);
    d = quire_fold_256(d, factors, next + 96);
    e = quire_fold_256(e, factors, next + 128);
    f = quire_fold_256(f, factors, next + 160);
    g = quire_fold_256(g, factors, next + 192);
    h = quire_fold_256(h, factors, next + 224);
  }
  const __m256i lanes[8] = {a, b, c, d, e, f, g, h};
  return quire_crc32_by_64(0xffffffff, (const unsigned char *)lanes, 256);
}
#endif

// Adds bytes to a sum as zlib's crc32_z does.
static inline unsigned long quire_crc32(unsigned long sum, const unsigned char *bytes, size_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("pclmul") && __builtin_cpu_supports("avx")) {
    int is_wide = __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2");
    size_t folded = count - count % (is_wide ? 256 : 64);
    if (folded > 0) sum = (is_wide ? quire_crc32_by_256 : quire_crc32_by_64)(sum, bytes, folded);
    bytes += folded;
    count -= folded;
  }
#endif
  // Of no bytes it would begin anew.
  return count > 0 ? crc32_z(sum, bytes, count) : sum;
}
