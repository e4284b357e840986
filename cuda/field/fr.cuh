// Fr, the scalar field of BLS12-381, in base X: the type, its digits, sums and differences.
//
// For someone who knows only Montgomery form
// ------------------------------------------
// The modulus is a polynomial in the curve's parameter X = 0xd201000000010000: r = X^4 - X^2 + 1. So modulo r the number
// x = X is a primitive twelfth root of unity (x^4 = x^2 - 1, x^6 = -1), and i = -x^3 is a square root of -1. We write an
// element as d0 + d1 x + d2 i + d3 i x with digits of 64 bits: the same 32 bytes as any other form. What this buys:
// - a product of two elements is 16 products of digits in 4 columns, and no column has to be folded into another, since
//   x^2 = 1 - i x and i^2 = -1 have coefficients of 1 only (fr_mul.cuh);
// - multiplying by i is a signed permutation of the digits, so a radix-4 butterfly has a fourth root for free;
// - dividing by 2^64 (as in Montgomery's reduction) uses the identity X - x = 0: adding (X - x) h changes no value, and
//   X = 2^16 (0xd201 2^32 + 1) makes the h that clears the low words a matter of shifts and additions (fr_mul.cuh).
//
// As in Montgomery form an fr_t stands for v when its digits have the value v 2^64, so that a product keeps the form.
//
// Digits and bounds
// -----------------
// Many digit vectors stand for one element: digits are integers, and k X in one digit is k in the digits that x moves it
// to: (a, b, c, d) x = (b, a + d, d, c - b). fr_t holds any 64-bit digits, all-zero bytes are the element 0, and every
// operation accepts every fr_t. Sums are taken on three-word digits (fr_wide_t) and brought back by `fr_narrow`, once for
// several of them. What comes out of fr_narrow is *narrow*: each digit in [0.018 X, 1.022 X], below 0.84 2^64. The test
// `bounds` of tests/cuda_fr.rs proves this, and that nothing overflows, by interval arithmetic.
//
// Costs are given as W (IMAD.WIDE, 4 cycles a warp on Hopper) and A (any other instruction, about 1 cycle beside them).
#pragma once

#include "field/wide.cuh"

namespace czk {

// Digit k is (w[2k + 1], w[2k]).
struct alignas(16) fr_t {
    uint32_t w[8];
};
static_assert(sizeof(fr_t) == 32, "four digits of 64 bits");

// Four signed digits of three words, |digit| < 8 2^64: digit k is (w[3k + 2], w[3k + 1], w[3k]), the top word signed.
struct fr_wide_t {
    uint32_t w[12];
};

// The upper word of X; its lower word is 2^16.
constexpr uint32_t X_HIGH = 0xd2010000;

CZK_FN fr_t fr_from_digits(uint64_t d0, uint64_t d1, uint64_t d2, uint64_t d3) {
    return fr_t{{uint32_t(d0), uint32_t(d0 >> 32), uint32_t(d1), uint32_t(d1 >> 32), uint32_t(d2), uint32_t(d2 >> 32),
                 uint32_t(d3), uint32_t(d3 >> 32)}};
}

CZK_FN fr_t fr_zero() { return fr_from_digits(0, 0, 0, 0); }

// 2^64 mod r, the form of 1.
CZK_FN fr_t fr_one() {
    return fr_from_digits(0x2dfefffffffeffff, 0xd201000000010000, 0xd20100000000ffff, 0xd201000000010000);
}

// About floor(t / X - 0.02) for a digit t = (top, mid, low), |t| < 8 2^64. 3 A: 14 bits behind the point of t / 2^64,
// times 2^64 / X = 4993 / 2^12. The estimate is off by less than 0.001, so that t - q X lies in [0.019 X, 1.021 X].
CZK_FN int32_t fr_quotient(uint32_t mid, uint32_t top) {
    int32_t t = int32_t(funnel_right(mid, top, 18));
    return (t * 4993 - 1342177) >> 26;
}

// Digit k of `out` = t - q X + move, modulo 2^64, which is exact where the result fits. 5 A.
CZK_FN void fr_settle(fr_t &out, int k, uint32_t low, uint32_t mid, int32_t q, int32_t move) {
    int32_t m = move - q * 65536;
    uint32_t high = mid - X_HIGH * uint32_t(q);
    out.w[2 * k] = add_cc(low, uint32_t(m));
    out.w[2 * k + 1] = addc(high, uint32_t(m >> 31));
}

// The same element with narrow digits. Takes q X from each digit for its quotient q and gives q to the digits that x
// moves it to. `extra` (|extra| < 2^19) is added to the digits: what a product has left over. 34 A.
CZK_FN fr_t fr_narrow(const fr_wide_t &t, const int32_t extra[4]) {
    int32_t q0 = fr_quotient(t.w[1], t.w[2]), q1 = fr_quotient(t.w[4], t.w[5]);
    int32_t q2 = fr_quotient(t.w[7], t.w[8]), q3 = fr_quotient(t.w[10], t.w[11]);
    fr_t out;
    fr_settle(out, 0, t.w[0], t.w[1], q0, extra[0] + q1);
    fr_settle(out, 1, t.w[3], t.w[4], q1, extra[1] + q0 + q3);
    fr_settle(out, 2, t.w[6], t.w[7], q2, extra[2] + q3);
    fr_settle(out, 3, t.w[9], t.w[10], q3, extra[3] + q2 - q1);
    return out;
}

CZK_FN fr_t fr_narrow(const fr_wide_t &t) {
    const int32_t none[4] = {0, 0, 0, 0};
    return fr_narrow(t, none);
}

CZK_FN fr_wide_t fr_widen(const fr_t &u) {
    return fr_wide_t{{u.w[0], u.w[1], 0, u.w[2], u.w[3], 0, u.w[4], u.w[5], 0, u.w[6], u.w[7], 0}};
}

// Sums and differences on wide digits; the caller keeps |digit| < 8 2^64. 12 A.
CZK_FN fr_wide_t operator+(const fr_wide_t &a, const fr_wide_t &b) {
    fr_wide_t out;
    for (int k = 0; k < 12; k += 3) {
        out.w[k] = add_cc(a.w[k], b.w[k]);
        out.w[k + 1] = addc_cc(a.w[k + 1], b.w[k + 1]);
        out.w[k + 2] = addc(a.w[k + 2], b.w[k + 2]);
    }
    return out;
}

CZK_FN fr_wide_t operator-(const fr_wide_t &a, const fr_wide_t &b) {
    fr_wide_t out;
    for (int k = 0; k < 12; k += 3) {
        out.w[k] = sub_cc(a.w[k], b.w[k]);
        out.w[k + 1] = subc_cc(a.w[k + 1], b.w[k + 1]);
        out.w[k + 2] = subc(a.w[k + 2], b.w[k + 2]);
    }
    return out;
}

// a + i b and a - i b: (b0, b1, b2, b3) i = (-b2, -b3, b0, b1). 12 A.
CZK_FN fr_wide_t fr_add_i(const fr_wide_t &a, const fr_wide_t &b) {
    fr_wide_t out;
    for (int k = 0; k < 6; k += 3) {
        out.w[k] = sub_cc(a.w[k], b.w[k + 6]);
        out.w[k + 1] = subc_cc(a.w[k + 1], b.w[k + 7]);
        out.w[k + 2] = subc(a.w[k + 2], b.w[k + 8]);
        out.w[k + 6] = add_cc(a.w[k + 6], b.w[k]);
        out.w[k + 7] = addc_cc(a.w[k + 7], b.w[k + 1]);
        out.w[k + 8] = addc(a.w[k + 8], b.w[k + 2]);
    }
    return out;
}

CZK_FN fr_wide_t fr_sub_i(const fr_wide_t &a, const fr_wide_t &b) {
    fr_wide_t out;
    for (int k = 0; k < 6; k += 3) {
        out.w[k] = add_cc(a.w[k], b.w[k + 6]);
        out.w[k + 1] = addc_cc(a.w[k + 1], b.w[k + 7]);
        out.w[k + 2] = addc(a.w[k + 2], b.w[k + 8]);
        out.w[k + 6] = sub_cc(a.w[k + 6], b.w[k]);
        out.w[k + 7] = subc_cc(a.w[k + 7], b.w[k + 1]);
        out.w[k + 8] = subc(a.w[k + 8], b.w[k + 2]);
    }
    return out;
}

// (a, b, c, d) x = (b, a + d, d, c - b). 6 A.
CZK_FN fr_wide_t fr_by_x(const fr_t &u) {
    fr_wide_t out;
    out.w[0] = u.w[2];
    out.w[1] = u.w[3];
    out.w[2] = 0;
    out.w[3] = add_cc(u.w[0], u.w[6]);
    out.w[4] = addc_cc(u.w[1], u.w[7]);
    out.w[5] = addc(0, 0);
    out.w[6] = u.w[6];
    out.w[7] = u.w[7];
    out.w[8] = 0;
    out.w[9] = sub_cc(u.w[4], u.w[2]);
    out.w[10] = subc_cc(u.w[5], u.w[3]);
    out.w[11] = subc(0, 0);
    return out;
}

// a + b, a - b, -a, i a; narrow results. 46 A and less.
CZK_FN fr_t fr_add(const fr_t &a, const fr_t &b) { return fr_narrow(fr_widen(a) + fr_widen(b)); }
CZK_FN fr_t fr_sub(const fr_t &a, const fr_t &b) { return fr_narrow(fr_widen(a) - fr_widen(b)); }
CZK_FN fr_t fr_neg(const fr_t &a) { return fr_sub(fr_zero(), a); }
CZK_FN fr_t fr_by_i(const fr_t &a) { return fr_narrow(fr_add_i(fr_widen(fr_zero()), fr_widen(a))); }

} // namespace czk
