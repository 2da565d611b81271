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
// Generic Polynomials Using PCLMULQDQ", Intel 2009). The lanes that are left have the sum of all.
#if defined(__x86_64__)
__attribute__((target("pclmul,sse4.1")))
static inline unsigned long quire_crc32_by_64(unsigned long sum, const unsigned char *bytes, size_t count) {
  const __m128i factors = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  __m128i lanes[4];
  for (int i = 0; i < 4; i++) lanes[i] = _mm_loadu_si128((const __m128i *)bytes + i);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)~(unsigned)sum));
  for (const unsigned char *next = bytes + 64; next < bytes + count; next += 64)
    for (int i = 0; i < 4; i++) {
      __m128i low = _mm_clmulepi64_si128(lanes[i], factors, 0x00);
      __m128i high = _mm_clmulepi64_si128(lanes[i], factors, 0x11);
      lanes[i] = _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128((const __m128i *)next + i));
    }
  return crc32_z(0xffffffff, (const unsigned char *)lanes, 64);
}

__attribute__((target("vpclmulqdq,avx512f")))
static inline unsigned long quire_crc32_by_256(unsigned long sum, const unsigned char *bytes, size_t count) {
  const __m512i factors = _mm512_broadcast_i32x4(_mm_set_epi64x(0x1322d1430, 0x11542778a));
  __m512i lanes[4];
  for (int i = 0; i < 4; i++) lanes[i] = _mm512_loadu_si512((const __m512i *)bytes + i);
  lanes[0] = _mm512_xor_si512(lanes[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~(unsigned)sum)));
  for (const unsigned char *next = bytes + 256; next < bytes + count; next += 256)
    for (int i = 0; i < 4; i++) {
      __m512i low = _mm512_clmulepi64_epi128(lanes[i], factors, 0x00);
      __m512i high = _mm512_clmulepi64_epi128(lanes[i], factors, 0x11);
      lanes[i] = _mm512_xor_si512(_mm512_xor_si512(low, high), _mm512_loadu_si512((const __m512i *)next + i));
    }
  return quire_crc32_by_64(0xffffffff, (const unsigned char *)lanes, 256);
}
#endif

// Adds bytes to a sum as zlib's crc32_z does.
static inline unsigned long quire_crc32(unsigned long sum, const unsigned char *bytes, size_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
    int is_wide = __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f");
    size_t folded = count - count % (is_wide ? 256 : 64);
    if (folded > 0) sum = (is_wide ? quire_crc32_by_256 : quire_crc32_by_64)(sum, bytes, folded);
    bytes += folded;
    count -= folded;
  }
#endif
  // Of no bytes it would begin anew.
  return count > 0 ? crc32_z(sum, bytes, count) : sum;
}
