// Fp, the base field of BLS12-381, on the device: type and operations. fp_reduce.cuh says how and why.
//
// Rules: any six 64-bit digits may enter any operation; every operation returns digits below 0.83 * 2^64. An element has
// several forms, so bytes are compared by eq and is_zero alone. Nothing outside field/ and curve/ looks at w.
// Costs are in WIDE (a 32 x 32 + 64 bit multiply-add, quarter rate on sm_90) and other instructions (one each).
#pragma once

#include "field/fp_reduce.cuh"

namespace czk {

// value = a W for the element a, W = 2^64; words 2 i and 2 i + 1 are digit i. In memory 48 bytes, aligned for 16-byte loads.
struct alignas(16) fp_t {
    uint32_t w[12];
};
static_assert(sizeof(fp_t) == 48, "one coordinate");

// For code over F = fp_t or fp2_t: zero<F>(), one<F>(), and the b of F's curve y^2 = x^3 + b.
template <typename F> struct constants_t;
template <typename F> CZK_FN F zero() { return constants_t<F>::zero(); }
template <typename F> CZK_FN F one() { return constants_t<F>::one(); }
template <typename F> CZK_FN F curve_b() { return constants_t<F>::curve_b(); }

template <> struct constants_t<fp_t> {
    CZK_FN fp_t zero() { return fp_t{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}; }
    // W - X + 1 * X
    CZK_FN fp_t one() { return fp_t{{0xffff0000u, 0x2dfeffffu, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}}; }
    // 4 (W - X) + 4 * X
    CZK_FN fp_t curve_b() { return fp_t{{0xfffc0000u, 0xb7fbffffu, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}}; }
};

// a b. 144 WIDE for the columns, 25 to divide by W, and about 270 others: 48 in the quotients, 100 in folding, the rest
// carries.
CZK_FN fp_t mul_inline(const fp_t &a, const fp_t &b) {
    column_t c[6];
    digits96_t d;
    fp_t r;
    int160_t c6 = product_columns(c, a.w, b.w);
    divide_by_w<false>(d, c, c6);
    normalise(r.w, d);
    return r;
}

// a b, as a call: products inlined by the dozen fall out of the instruction cache.
CZK_CALL fp_t mul(fp_t a, fp_t b) { return mul_inline(a, b); }

// a^2. 78 WIDE for the columns, 25 to divide by W, about 280 others.
CZK_FN fp_t sqr_inline(const fp_t &a) {
    column_t c[6];
    digits96_t d;
    fp_t r;
    int160_t c6 = square_columns(c, a.w);
    divide_by_w<true>(d, c, c6);
    normalise(r.w, d);
    return r;
}

CZK_CALL fp_t sqr(fp_t a) { return sqr_inline(a); }

// a^2 - b - c: what is subtracted enters before the quotients, which are taken once.
CZK_CALL fp_t sqr_sub(fp_t a, fp_t b, fp_t c);

// a b - c, likewise.
CZK_CALL fp_t mul_sub(fp_t a, fp_t b, fp_t c);

// d = a + b, digit by digit. 3 instructions each.
CZK_FN void digits_sum(digits96_t &d, const fp_t &a, const fp_t &b) {
    CZK_UNROLL
    for (int i = 0; i < 6; i++) {
        d.w[i][0] = add_cc(a.w[2 * i], b.w[2 * i]);
        d.w[i][1] = addc_cc(a.w[2 * i + 1], b.w[2 * i + 1]);
        d.w[i][2] = addc(0, 0);
    }
}

// d = a - b, digit by digit.
CZK_FN void digits_difference(digits96_t &d, const fp_t &a, const fp_t &b) {
    CZK_UNROLL
    for (int i = 0; i < 6; i++) {
        d.w[i][0] = sub_cc(a.w[2 * i], b.w[2 * i]);
        d.w[i][1] = subc_cc(a.w[2 * i + 1], b.w[2 * i + 1]);
        d.w[i][2] = subc(0, 0);
    }
}

// d -= a, digit by digit.
CZK_FN void digits_sub(digits96_t &d, const fp_t &a) {
    CZK_UNROLL
    for (int i = 0; i < 6; i++) {
        d.w[i][0] = sub_cc(d.w[i][0], a.w[2 * i]);
        d.w[i][1] = subc_cc(d.w[i][1], a.w[2 * i + 1]);
        d.w[i][2] = subc(d.w[i][2], 0);
    }
}

CZK_FN fp_t add(const fp_t &a, const fp_t &b) {
    digits96_t d;
    fp_t r;
    digits_sum(d, a, b);
    normalise(r.w, d);
    return r;
}

CZK_FN fp_t sub(const fp_t &a, const fp_t &b) {
    digits96_t d;
    fp_t r;
    digits_difference(d, a, b);
    normalise(r.w, d);
    return r;
}

// a - b - c.
CZK_FN fp_t sub_sum(const fp_t &a, const fp_t &b, const fp_t &c) {
    digits96_t d;
    fp_t r;
    digits_difference(d, a, b);
    digits_sub(d, c);
    normalise(r.w, d);
    return r;
}

// The digits of M = 3 p less a's, not 0 less a's: wide.cuh says why.
CZK_FN fp_t neg(const fp_t &a) {
    return sub(fp_t{{0x00000001u, 0x00000000u, 0x0000ffffu, 0xd2010000u, 0x0000ffffu, 0xd2010000u, 0x0000fffdu,
                     0xd2010000u, 0x0000ffffu, 0xd2010000u, 0x00010001u, 0xd2010000u}},
               a);
}

CZK_FN fp_t dbl(const fp_t &a) { return add(a, a); }

CZK_CALL fp_t sqr_sub(fp_t a, fp_t b, fp_t c) {
    column_t s[6];
    digits96_t d;
    fp_t r;
    int160_t s6 = square_columns(s, a.w);
    divide_by_w<true>(d, s, s6);
    digits_sub(d, b);
    digits_sub(d, c);
    normalise(r.w, d);
    return r;
}

CZK_CALL fp_t mul_sub(fp_t a, fp_t b, fp_t c) {
    column_t s[6];
    digits96_t d;
    fp_t r;
    int160_t s6 = product_columns(s, a.w, b.w);
    divide_by_w<false>(d, s, s6);
    digits_sub(d, c);
    normalise(r.w, d);
    return r;
}

// Whether the digits a[i] - b[i] are those of k p, |k| <= 3, exactly: carries by X must come out even.
CZK_CALL bool is_multiple_of_p(fp_t a, fp_t b, int k) {
    // p = X / 3 * (…): the digits of p in base X
    const uint64_t p[6] = {0x460055555555aaabull, 0x460055555555aaaaull, 0x8c00aaaaaaab5555ull,
                           0x8c00aaaaaaab5554ull, 0x460055555555aaaaull, 0x460055555555aaabull};
    const __int128 x = uint64_t(x_hi) << 32 | x_lo;
    __int128 carry = 0;
    for (int i = 0; i < 6; i++) {
        __int128 t = carry + (uint64_t(a.w[2 * i + 1]) << 32 | a.w[2 * i]);
        t -= uint64_t(b.w[2 * i + 1]) << 32 | b.w[2 * i];
        t -= k * __int128(p[i]);
        carry = -4;
        while (carry <= 4 && carry * x != t) carry++;
        if (carry > 4) return false;
    }
    return carry == 0;
}

// Whether all bytes are zero, the mark of infinity in memory; a zero in another form has other bytes.
CZK_FN bool is_blank(const fp_t &a) {
    uint32_t any = 0;
    CZK_UNROLL
    for (int i = 0; i < 12; i++) any |= a.w[i];
    return any == 0;
}

// Whether a = 0. Six 64-bit digits are worth less than 3.66 p, so only 0, p, 2 p and 3 p can be zero; modulo 2^32 the value
// is d[0] + 2^16 d[1], which times p^-1 = 0x30003 gives k if it is k p. Anything else costs 3 instructions.
CZK_FN bool is_zero(const fp_t &a) {
    uint32_t k = (a.w[0] + (a.w[2] << 16)) * 0x00030003u;
    return k <= 3 && is_multiple_of_p(a, zero<fp_t>(), int(k));
}

// Whether a = b: the same for the difference, whose k is -3 … 3.
CZK_FN bool eq(const fp_t &a, const fp_t &b) {
    int32_t k = int32_t((a.w[0] - b.w[0] + ((a.w[2] - b.w[2]) << 16)) * 0x00030003u);
    return k >= -3 && k <= 3 && is_multiple_of_p(a, b, k);
}

} // namespace czk
