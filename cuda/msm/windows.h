// How a scalar is cut into signed digits. Plain index logic, for host and device.
//
// A canonical scalar s < r is replaced by r - s, with its point negated, when s > (r - 1) / 2: what is left fits 254 bits,
// and 255 bits are shared out among the windows, one more than the scalar has, for the sign. Adding the constant
//     K = sum over all windows but the last of 2^(low + width - 1)
// beforehand turns carries into plain bit fields: digit = ((s + K) >> low mod 2^width) - 2^(width - 1), in
// [-2^(width - 1), 2^(width - 1)). The last window has no K and its digit is not negative: at most
// floor(2^width r / 2^256) + 1, which is at most 2^(width - 1) for width >= 5 (r / 2^256 < 0.453).
// So a window of `width` bits needs 2^(width - 1) buckets, one for each |digit| > 0.
#pragma once

#include <stdint.h>

#include "field/wide.cuh"

#ifdef __CUDACC__
#define CZK_INDEX __host__ __device__ __forceinline__
#else
#define CZK_INDEX inline
#endif

namespace czk {

constexpr uint32_t msm_bits = 255;
constexpr uint32_t msm_windows_min = 8;  // widths up to 32 bits: bucket numbers fit a word
constexpr uint32_t msm_windows_max = 51; // widths from 5 bits on

// 256 bits, lowest word first.
struct scalar_words_t {
    uint32_t word[8];
};

// The windows of one MSM: `count` of them, the first 255 mod count one bit wider than the rest.
struct windows_t {
    uint32_t count;

    CZK_INDEX uint32_t wide() const { return msm_bits % count; }
    CZK_INDEX uint32_t width(uint32_t window) const { return msm_bits / count + (window < wide() ? 1 : 0); }
    CZK_INDEX uint32_t low(uint32_t window) const {
        return window * (msm_bits / count) + (window < wide() ? window : wide());
    }
    CZK_INDEX uint32_t buckets(uint32_t window) const { return 1u << (width(window) - 1); }
    // Buckets of the windows [first, last), which are numbered one after the other.
    CZK_INDEX uint64_t buckets(uint32_t first, uint32_t last) const {
        uint64_t total = 0;
        for (uint32_t window = first; window < last; window++) total += buckets(window);
        return total;
    }
};

// r, lowest word first.
CZK_INDEX uint32_t order_word(int i) {
    switch (i) {
    case 0: return 0x00000001;
    case 1: return 0xffffffff;
    case 2: return 0xfffe5bfe;
    case 3: return 0x53bda402;
    case 4: return 0x09a1d805;
    case 5: return 0x3339d808;
    case 6: return 0x299d7d48;
    default: return 0x73eda753;
    }
}

// K above, for these windows.
inline scalar_words_t digit_offset(windows_t windows) {
    scalar_words_t offset{};
    for (uint32_t window = 0; window + 1 < windows.count; window++) {
        uint32_t bit = windows.low(window) + windows.width(window) - 1;
        offset.word[bit / 32] |= 1u << bit % 32;
    }
    return offset;
}

// s becomes min(s, r - s) for canonical s; true if that was r - s. r is odd, so the two differ.
CZK_FN bool halve_range(scalar_words_t &s) {
    scalar_words_t other;
    other.word[0] = sub_cc(order_word(0), s.word[0]);
    CZK_UNROLL
    for (int i = 1; i < 8; i++) other.word[i] = subc_cc(order_word(i), s.word[i]);
    (void)sub_cc(other.word[0], s.word[0]);
    CZK_UNROLL
    for (int i = 1; i < 8; i++) (void)subc_cc(other.word[i], s.word[i]);
    const bool negate = subc(0, 0) != 0;
    CZK_UNROLL
    for (int i = 0; i < 8; i++) s.word[i] = negate ? other.word[i] : s.word[i];
    return negate;
}

CZK_FN void add_offset(scalar_words_t &s, const scalar_words_t &offset) {
    s.word[0] = add_cc(s.word[0], offset.word[0]);
    CZK_UNROLL
    for (int i = 1; i < 7; i++) s.word[i] = addc_cc(s.word[i], offset.word[i]);
    s.word[7] = addc(s.word[7], offset.word[7]);
}

// Bits [low, low + width) of s + K, width <= 32. The words are picked by comparing, so that they stay in registers.
CZK_INDEX uint32_t bit_field(const scalar_words_t &s, uint32_t low, uint32_t width) {
    uint32_t first = low / 32, shift = low % 32;
    uint32_t lower = 0, upper = 0;
    for (uint32_t i = 0; i < 8; i++) {
        lower = i == first ? s.word[i] : lower;
        upper = i == first + 1 ? s.word[i] : upper;
    }
    uint64_t both = uint64_t(upper) << 32 | lower;
    return uint32_t(both >> shift) & uint32_t((uint64_t(1) << width) - 1);
}

// Where word 0 of scalar `at` of `count` is, in words, when they are in planes (planes.cuh); word i is i · stride further.
struct plane_place_t {
    uint64_t first;
    uint32_t stride;
};

constexpr uint32_t plane_tile = 512;

CZK_INDEX plane_place_t plane_place(uint64_t at, uint64_t count) {
    const uint64_t tile = at / plane_tile * plane_tile;
    const uint32_t stride = count - tile < plane_tile ? uint32_t(count - tile) : plane_tile;
    return {8 * tile + (at - tile), stride};
}

// The digit whose bits in s + K are `field`.
CZK_INDEX int32_t digit_of_field(uint32_t field, windows_t windows, uint32_t window) {
    return int32_t(window + 1 < windows.count ? field - (1u << (windows.width(window) - 1)) : field);
}

// Digit of `window` of a scalar to which the offset was added.
CZK_INDEX int32_t signed_digit(const scalar_words_t &s, windows_t windows, uint32_t window) {
    return digit_of_field(bit_field(s, windows.low(window), windows.width(window)), windows, window);
}

// Bucket of a digit other than 0, within its window.
CZK_INDEX uint32_t bucket_of_digit(int32_t digit) { return (digit < 0 ? 0u - uint32_t(digit) : uint32_t(digit)) - 1; }

} // namespace czk
