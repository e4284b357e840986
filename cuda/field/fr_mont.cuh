// Fr in Montgomery form, 8 words of 32 bits: the yardstick of benches, used by nothing else.
#pragma once

#include "field/wide.cuh"

namespace czk {

struct alignas(16) fr_mont_t {
    uint32_t w[8];
};

// r. Benches read it from memory: the compiler splits products by literals into halves, which costs a sixth.
CZK_FN fr_mont_t fr_mont_modulus() {
    return fr_mont_t{{0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402, 0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753}};
}

// even, odd += m r with m = -even[0], as r = 1 mod 2^32: word 0 becomes 0. even[k] has weight 2^(32 k), odd[k] one word
// more.
CZK_FN void fr_mont_clear(uint32_t even[8], uint32_t odd[8], const fr_mont_t &r) {
    uint32_t m = 0 - even[0];
    mad_wide_cc(odd[0], odd[1], r.w[1], m);
    for (int k = 2; k < 8; k += 2) madc_wide_cc(odd[k], odd[k + 1], r.w[k + 1], m);
    mad_wide_cc(even[0], even[1], r.w[0], m);
    for (int k = 2; k < 8; k += 2) madc_wide_cc(even[k], even[k + 1], r.w[k], m);
    odd[7] = addc(odd[7], 0);
}

// Divides by 2^32, which swaps the roles of the two sums (odd[0] is the word that is lost), and adds a b.
CZK_FN void fr_mont_row(uint32_t even[8], uint32_t odd[8], const uint32_t a[8], uint32_t b,
                        const fr_mont_t &r) {
    even[0] = add_cc(even[0], odd[1]);
    for (int k = 0; k < 6; k += 2) {
        uint32_t lo = odd[k + 2], hi = odd[k + 3];
        madc_wide_cc(lo, hi, a[k + 1], b);
        odd[k] = lo;
        odd[k + 1] = hi;
    }
    odd[6] = odd[7] = 0;
    madc_wide(odd[6], odd[7], a[7], b);
    mad_wide_cc(even[0], even[1], a[0], b);
    for (int k = 2; k < 8; k += 2) madc_wide_cc(even[k], even[k + 1], a[k], b);
    odd[7] = addc(odd[7], 0);
    fr_mont_clear(even, odd, r);
}

// a b 2^-256 mod r, below r for inputs below r.
CZK_FN fr_mont_t fr_mont_mul(const fr_mont_t &a, const fr_mont_t &b, const fr_mont_t &r) {
    uint32_t even[8], odd[8];
    for (int k = 0; k < 8; k += 2) {
        mul_wide(even[k], even[k + 1], a.w[k], b.w[0]);
        mul_wide(odd[k], odd[k + 1], a.w[k + 1], b.w[0]);
    }
    fr_mont_clear(even, odd, r);
    for (int k = 1; k < 8; k += 2) {
        fr_mont_row(odd, even, a.w, b.w[k], r);
        if (k < 7) fr_mont_row(even, odd, a.w, b.w[k + 1], r);
    }
    fr_mont_t sum, out;
    sum.w[0] = add_cc(even[0], odd[1]);
    for (int k = 1; k < 7; k++) sum.w[k] = addc_cc(even[k], odd[k + 1]);
    sum.w[7] = addc(even[7], 0);
    out.w[0] = sub_cc(sum.w[0], r.w[0]);
    for (int k = 1; k < 8; k++) out.w[k] = subc_cc(sum.w[k], r.w[k]);
    uint32_t below = subc(0, 0);
    for (int k = 0; k < 8; k++) out.w[k] = below ? sum.w[k] : out.w[k];
    return out;
}

} // namespace czk
