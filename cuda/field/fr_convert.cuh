// Between base X and canonical integers, twiddles, powers. Not for inner loops.
//
// The constants are 2^64, 2^128 … as digits; tests/cuda_fr.rs checks each through what it converts.
#pragma once

#include "field/fr_mul.cuh"

namespace czk {

constexpr uint64_t X = 0xd201000000010000;

// The element with canonical value c (8 words, little-endian; any 256-bit integer, taken modulo r): one product, since
// the words of c are the digits of a number in base 2^64 and row j of the second factor may be 2^64j.
CZK_FN fr_t fr_from_canonical(const uint32_t c[8]) {
    fr_twiddle_t powers;
    powers.row[0] = fr_from_digits(0x2a80a932a94b0001, 0x661104ca56cc56b4, 0xd20100000000ffff, 0xd20100000000fffe);
    powers.row[1] = fr_from_digits(0x5034ae7af3f5aadd, 0x5200ebed9399ec28, 0xd20100000000fffe, 0x2796130e1fe25522);
    powers.row[2] = fr_from_digits(0x8bcd8facc680ee2d, 0xd4b7938e9746b29c, 0xa644b0843000824d, 0x3f37eadf86e311d0);
    powers.row[3] = fr_from_digits(0x792152cccdacc027, 0x849ccfdc691be441, 0xa37b983bfed38a40, 0x23c2ef024f34085c);
    fr_t digits;
    for (int k = 0; k < 8; k++) digits.w[k] = c[k];
    return fr_mul(digits, powers);
}

// The same for an integer v 2^256 that stands for v: blst's Montgomery form.
CZK_FN fr_t fr_from_montgomery(const uint32_t c[8]) {
    fr_twiddle_t powers;
    powers.row[0] = fr_from_digits(0xcd0e69f5fb2f3bf3, 0xd1fe4ee89dfbfffa, 0x8d51cccda40204d0, 0xc19a900404d1d806);
    powers.row[1] = fr_from_digits(0xd2002dff0000fffe, 0xd20100000000ffff, 0xd2010000d2020000, 0xac4676020001a403);
    powers.row[2] = fr_from_digits(0xd201000000010000, 0xd20100000000fffe, 0xd20100000000ffff, 0xd201000000010000);
    powers.row[3] = fr_from_digits(0x2dfefffffffeffff, 0xd201000000010000, 0xd20100000000ffff, 0xd201000000010000);
    fr_t digits;
    for (int k = 0; k < 8; k++) digits.w[k] = c[k];
    return fr_mul(digits, powers);
}

// words = words X + low, modulo 2^256.
CZK_FN void fr_times_x(uint32_t words[8], uint64_t low) {
    uint64_t carry = uint32_t(low);
    uint32_t before = 0;
    for (int k = 0; k < 8; k++) {
        if (k == 1) carry += low >> 32;
        carry += uint64_t(words[k]) * 0x10000 + uint64_t(before) * X_HIGH;
        before = words[k];
        words[k] = uint32_t(carry);
        carry >>= 32;
    }
}

// words -= low, modulo 2^256.
CZK_FN void fr_less(uint32_t words[8], uint64_t low) {
    words[0] = sub_cc(words[0], uint32_t(low));
    words[1] = subc_cc(words[1], uint32_t(low >> 32));
    for (int k = 2; k < 7; k++) words[k] = subc_cc(words[k], 0);
    words[7] = subc(words[7], 0);
}

CZK_FN uint64_t fr_digit(const fr_t &u, int k) { return uint64_t(u.w[2 * k + 1]) << 32 | u.w[2 * k]; }

// The canonical value, 0 <= c < r, as 8 little-endian words. A product by 1 takes out the factor 2^64 and makes the
// digits narrow; then v = -T with T = d2 X^3 + d3 X^2 - d1 X - (d0 + d3), because i = -X^3 and i x = 1 - X^2, and
// 0 < T < 2 r for narrow digits.
CZK_FN void fr_to_canonical(uint32_t c[8], const fr_t &u) {
    fr_rows_t unit;
    unit.w = fr_from_digits(0xd201000000010000, 0xd20100000000fffe, 0xd20100000000ffff, 0xd201000000010000);
    unit.xw = fr_from_digits(0xd20100000000ffff, 0xd20100000000ffff, 0xd20100000000ffff, 0xd201000000010000);
    fr_t v = fr_mul(u, unit);
    uint32_t t[8] = {v.w[4], v.w[5], 0, 0, 0, 0, 0, 0};
    fr_times_x(t, fr_digit(v, 3));
    fr_times_x(t, 0);
    fr_less(t, fr_digit(v, 1));
    fr_times_x(t, 0);
    fr_less(t, fr_digit(v, 0));
    fr_less(t, fr_digit(v, 3));
    constexpr uint32_t r[8] = {0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402,
                               0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753};
    c[0] = sub_cc(r[0], t[0]);
    for (int k = 1; k < 8; k++) c[k] = subc_cc(r[k], t[k]);
    uint32_t mask = subc(0, 0); // all ones if T > r
    c[0] = add_cc(c[0], r[0] & mask);
    for (int k = 1; k < 7; k++) c[k] = addc_cc(c[k], r[k] & mask);
    c[7] = addc(c[7], r[7] & mask);
}

CZK_FN bool fr_is_zero(const fr_t &u) {
    uint32_t c[8], any = 0;
    fr_to_canonical(c, u);
    for (int k = 0; k < 8; k++) any |= c[k];
    return any == 0;
}

// Moves multiples of X out of digits 2 and 3 of a narrow u until both are below X: X i is i x, and X i x is x + i. Twice,
// since the second may push the first to X; then the second is small.
CZK_FN fr_t fr_below_x(const fr_t &u) {
    uint64_t d1 = fr_digit(u, 1), d2 = fr_digit(u, 2), d3 = fr_digit(u, 3);
    for (int round = 0; round < 2; round++) {
        uint64_t k2 = d2 >= X ? 1 : 0;
        d2 -= k2 * X;
        d3 += k2;
        uint64_t k3 = d3 >= X ? 1 : 0;
        d3 -= k3 * X;
        d2 += k3;
        d1 += k3;
    }
    return fr_from_digits(fr_digit(u, 0), d1, d2, d3);
}

// i w with (X - x)(1 + x) = (X - 1, X - 1, 0, 1) added, which makes all digits non-negative when w2, w3 < X.
CZK_FN fr_t fr_lifted_i(const fr_t &w) {
    return fr_from_digits(X - 1 - fr_digit(w, 2), X - 1 - fr_digit(w, 3), fr_digit(w, 0), fr_digit(w, 1) + 1);
}

CZK_FN fr_twiddle_t fr_twiddle(const fr_t &w) {
    fr_rows_t rows = fr_rows(fr_add(w, fr_zero()));
    fr_t below = fr_below_x(rows.w), below_x = fr_below_x(rows.xw);
    return fr_twiddle_t{{below, below_x, fr_lifted_i(below), fr_lifted_i(below_x)}};
}

// base^e, by squaring.
CZK_FN fr_t fr_pow(fr_t base, uint64_t e) {
    fr_t out = fr_one();
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (; e != 0; e >>= 1) {
        if (e & 1) out = fr_mul(out, base);
        base = fr_mul(base, base);
    }
    return out;
}

// 7^((r - 1) / 2^32), blstrs' ROOT_OF_UNITY, of order 2^32, and its inverse. Its power 2^30 is -i.
CZK_FN fr_t fr_root() {
    return fr_from_digits(0xd09f0940d32f3fba, 0xb153d068325c4510, 0x8900b0696b096b5b, 0x1b0875f7b166ff35);
}

CZK_FN fr_t fr_root_inverse() {
    return fr_from_digits(0x5a627ee534ccedd2, 0x7c122a3815bd97b9, 0xcab2a27f76634677, 0x9015d04f8a4cffb2);
}

} // namespace czk
