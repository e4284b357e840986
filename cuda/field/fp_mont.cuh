// Fp in Montgomery form with twelve 32-bit words and factor 2^384: the yardstick of the benches. Nothing else uses it.
#pragma once

#include "field/wide.cuh"

namespace czk {

struct alignas(16) fp_mont_t {
    uint32_t w[12];
};

struct fp_mont_constants_t {
    CZK_FN uint32_t p(int i) {
        const uint32_t words[12] = {0xffffaaabu, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu, 0xf6b0f624u, 0x6730d2a0u,
                                    0xf38512bfu, 0x64774b84u, 0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau};
        return words[i];
    }
    static constexpr uint32_t minus_inverse = 0xfffcfffdu; // -p^-1 mod 2^32
};

// even, odd += p q for the two carry chains: even[i] has weight 2^(32 i), odd[i] 2^(32 (i + 1)).
CZK_FN void mont_add_multiple_of_p(uint32_t *even, uint32_t *odd, uint32_t q) {
    mad_wide_cc(odd[0], odd[1], fp_mont_constants_t::p(1), q);
    CZK_UNROLL
    for (int j = 2; j < 12; j += 2) madc_wide_cc(odd[j], odd[j + 1], fp_mont_constants_t::p(j + 1), q);
    mad_wide_cc(even[0], even[1], fp_mont_constants_t::p(0), q);
    CZK_UNROLL
    for (int j = 2; j < 12; j += 2) madc_wide_cc(even[j], even[j + 1], fp_mont_constants_t::p(j), q);
    odd[11] = addc(odd[11], 0);
}

// One row: shifts the sum right by a word, adds a b. The word that a shift loses is 0. What was even is odd afterwards.
CZK_FN void mont_row(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b) {
    even[0] = add_cc(even[0], odd[1]);
    CZK_UNROLL
    for (int j = 0; j < 10; j += 2) {
        uint32_t lo = odd[j + 2], hi = odd[j + 3];
        madc_wide_cc(lo, hi, a[j + 1], b);
        odd[j] = lo;
        odd[j + 1] = hi;
    }
    odd[10] = odd[11] = 0;
    madc_wide(odd[10], odd[11], a[11], b);
    mad_wide_cc(even[0], even[1], a[0], b);
    CZK_UNROLL
    for (int j = 2; j < 12; j += 2) madc_wide_cc(even[j], even[j + 1], a[j], b);
    odd[11] = addc(odd[11], 0);
    mont_add_multiple_of_p(even, odd, even[0] * fp_mont_constants_t::minus_inverse);
}

// a b / 2^384 mod p, below p. 288 WIDE.
CZK_FN fp_mont_t mul_inline(const fp_mont_t &a, const fp_mont_t &b) {
    uint32_t even[12], odd[12];
    CZK_UNROLL
    for (int j = 0; j < 12; j += 2) {
        mul_wide(even[j], even[j + 1], a.w[j], b.w[0]);
        mul_wide(odd[j], odd[j + 1], a.w[j + 1], b.w[0]);
    }
    mont_add_multiple_of_p(even, odd, even[0] * fp_mont_constants_t::minus_inverse);
    CZK_UNROLL
    for (int i = 1; i < 12; i += 2) {
        mont_row(odd, even, a.w, b.w[i]);
        if (i < 11) mont_row(even, odd, a.w, b.w[i + 1]);
    }
    // after an odd number of rows the chains have changed places; one more shift brings the sum below 2 p
    fp_mont_t r, s;
    r.w[0] = add_cc(even[0], odd[1]);
    CZK_UNROLL
    for (int j = 1; j < 11; j++) r.w[j] = addc_cc(even[j], odd[j + 1]);
    r.w[11] = addc(even[11], 0);
    s.w[0] = sub_cc(r.w[0], fp_mont_constants_t::p(0));
    CZK_UNROLL
    for (int j = 1; j < 12; j++) s.w[j] = subc_cc(r.w[j], fp_mont_constants_t::p(j));
    bool below = subc(0, 0) != 0;
    CZK_UNROLL
    for (int j = 0; j < 12; j++) r.w[j] = below ? r.w[j] : s.w[j];
    return r;
}

CZK_CALL fp_mont_t mul(fp_mont_t a, fp_mont_t b) { return mul_inline(a, b); }

} // namespace czk
