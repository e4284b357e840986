// The arithmetic behind fp_t: how the columns of a product in base X come down to six 64-bit digits.
//
// The curve's parameter is -X, X = 0xd201000000010000, and its base field's prime satisfies
//
//     3 p = X^6 + 2 X^5 - 2 X^3 - X + 1 =: M.
//
// An element is six unsigned 64-bit digits, value = sum d[i] X^i, read modulo M (and so modulo p). The digits may fill their
// 64 bits although X is 0.8203 * 2^64: an element has many forms. W below is 2^64.
//
// A product. Digits multiply like polynomials: 36 products in 11 columns c[0] … c[10]. Then M's shape pays three times:
//
//  1. Fold. X^6 = -2 X^5 + 2 X^3 + X - 1 (mod M), so column k + 6 goes down to k + 5, k + 3, k + 1 and k by additions of
//     160-bit integers alone, where another prime would need products.
//  2. Divide by W. With g = V M^-1 mod W, V - g M is divisible by W. But divisible as a number isn't divisible digit by
//     digit; so c[6] - g stays at X^6 as m < W, moves down as X m to c[5], then the low 64 bits q of c[5] as X q to c[4], and
//     so on. The low bits of c[0] must vanish at the end. Each move is one product of a 64-bit q by the constant X.
//  3. Quotients. What is left of each column is W times smaller: 64 bits and a few more. k = digit / X, at most 8 bits
//     with a sign, goes from each digit to the next (k X^(i+1) = k X * X^i), and that of the top digit is folded as in 1.
//
// The result is a b / W mod M: the Montgomery factor is 2^64, for all six digits together. Where Montgomery form in 32-bit
// words spends 144 WIDE on reducing, this spends 25.
#pragma once

#include "field/fp_columns.cuh"

namespace czk {

constexpr uint32_t x_lo = 0x00010000u, x_hi = 0xd2010000u; // X
constexpr uint32_t m_inverse_lo = 0x00010001u, m_inverse_hi = 0xd2040001u; // M^-1 mod 2^64
constexpr uint32_t m_minus_inverse_lo = ~m_inverse_lo + 1, m_minus_inverse_hi = ~m_inverse_hi;
static_assert((((uint64_t(m_inverse_hi) << 32 | m_inverse_lo) *
                (1 - (uint64_t(x_hi) << 32 | x_lo) - (uint64_t(1) << 49)))) == 1,
              "M = 1 - X - 2 X^3 mod 2^64, since X^3 = 2^48 and X^5 = X^6 = 0 there");

// Digits before the last step: signed 96-bit integers, least significant word first.
struct digits96_t {
    uint32_t w[6][3];
};

// c += X q, the product of two 64-bit digits. 4 WIDE, 2 carries. X q = 2^16 q + 2^48 (0xd201 q) needs 2 WIDE and 7 others,
// since the products by x_lo are shifts; but beside so many additions the multiplier has time to spare: 4 WIDE are 1.7 %
// faster in a product, 2.9 % in a squaring, 2.7 % in an affine addition (H200). With odd_empty, c.o is 0 before and can't
// carry.
template <bool odd_empty> CZK_FN void column_add_x(column_t &c, uint32_t q0, uint32_t q1) {
    mad_wide_cc(c.e[0], c.e[1], q0, x_lo);
    madc_wide_cc(c.e[2], c.e[3], q1, x_hi);
    c.e[4] = addc(c.e[4], 0);
    if (odd_empty) {
        mul_wide(c.o[0], c.o[1], q0, x_hi);
        mad_wide(c.o[0], c.o[1], q1, x_lo);
        return;
    }
    mad_wide_cc(c.o[0], c.o[1], q0, x_hi);
    c.o[2] = addc(c.o[2], 0);
    mad_wide_cc(c.o[0], c.o[1], q1, x_lo);
    c.o[2] = addc(c.o[2], 0);
}
static_assert(uint64_t(x_hi) + x_lo < uint64_t(1) << 32, "(x_hi + x_lo) q < 2^64 for a word q");

// g = V inverse mod 2^64 for V = sum c[i] X^i: X = 2^16 + 0xd2010000 * 2^32, X^2 = 2^32, X^3 = 2^48, X^4 = 0 modulo 2^64.
CZK_FN void montgomery_quotient(uint32_t &g0, uint32_t &g1, const column_t *c, uint32_t inverse_lo,
                                uint32_t inverse_hi) {
    uint32_t c0 = c[0].e[1] + c[0].o[0], c1 = c[1].e[1] + c[1].o[0];
    uint32_t v0 = add_cc(c[0].e[0], c[1].e[0] << 16);
    uint32_t v1 = addc(c0, funnel_left(c[1].e[0], c1, 16));
    v1 += c[1].e[0] * x_hi + c[2].e[0] + (c[3].e[0] << 16);
    mul_wide(g0, g1, v0, inverse_lo);
    g1 += v0 * inverse_hi + v1 * inverse_lo;
}

// The quotient of a digit d by X is floor((floor(d / 2^53) reciprocal - bias) / 2^23), with reciprocal = floor(2^76 / X).
constexpr int32_t quotient_reciprocal = 4993, quotient_bias = 40000;

// Step 3. 8 instructions a digit. Brings digits of |d| < 200 W to unsigned 64-bit digits below 0.83 W, none near 0: the
// quotients k are at most the exact
// ones, so that the neighbour's k can be added without a borrow. fp_bounds in tests/cuda_fp.rs proves both.
CZK_FN void normalise(uint32_t *r, const digits96_t &d) {
    int32_t k[6];
    CZK_UNROLL
    for (int i = 0; i < 6; i++) {
        int32_t top = int32_t(funnel_right(d.w[i][1], d.w[i][2], 21));
        k[i] = (top * quotient_reciprocal - quotient_bias) >> 23;
    }
    // what each digit receives: from its lower neighbour, and k[5] X^6 = k[5] (-2 X^5 + 2 X^3 + X - 1)
    const int32_t moved[6] = {-k[5], k[0] + k[5], k[1], k[2] + 2 * k[5], k[3], k[4] - 2 * k[5]};
    CZK_UNROLL
    for (int i = 0; i < 6; i++) {
        // d - k X + moved, modulo 2^64: the low word of k X is k 2^16
        int32_t low = moved[i] - k[i] * 65536;
        r[2 * i] = add_cc(d.w[i][0], uint32_t(low));
        r[2 * i + 1] = addc(d.w[i][1] - uint32_t(k[i]) * x_hi, uint32_t(low >> 31));
    }
}

// Step 2, its second half: m < W stands at X^6; d = what is left of the columns after moving it down, divided by W.
template <bool odd_empty> CZK_FN void move_down(digits96_t &d, column_t *c, uint32_t m0, uint32_t m1) {
    CZK_UNROLL
    for (int i = 5; i >= 0; i--) {
        column_add_x<odd_empty>(c[i], m0, m1);
        int160_t s = column_sum(c[i]);
        m0 = s.w[0];
        m1 = s.w[1];
        d.w[i][0] = s.w[2];
        d.w[i][1] = s.w[3];
        d.w[i][2] = s.w[4];
    }
}

// Step 2 of a product for columns c[0 … 5] and c6, not yet folded.
template <bool odd_empty> CZK_FN void divide_by_w(digits96_t &d, column_t *c, const int160_t &c6) {
    uint32_t g0, g1;
    montgomery_quotient(g0, g1, c, m_inverse_lo, m_inverse_hi);
    // m = (c6 - g) mod W stays at X^6; the rest, g + W floor((c6 - g) / W), is folded
    uint32_t m0 = sub_cc(c6.w[0], g0), m1 = subc_cc(c6.w[1], g1);
    int160_t g;
    g.w[0] = g0;
    g.w[1] = g1;
    g.w[2] = subc_cc(c6.w[2], 0);
    g.w[3] = subc_cc(c6.w[3], 0);
    g.w[4] = subc(c6.w[4], 0);
    int160_t g2 = twice(g);
    column_sub(c[5], g2);
    column_add(c[3], g2);
    column_add(c[1], g);
    column_sub(c[0], g);
    move_down<odd_empty>(d, c, m0, m1);
}

// The same for c6 = 0. With m = -V M^-1 mod W everything is folded with the opposite sign, and nothing is subtracted from
// a known 0 (wide.cuh says why not).
CZK_FN void divide_by_w(digits96_t &d, column_t *c) {
    uint32_t m0, m1;
    montgomery_quotient(m0, m1, c, m_minus_inverse_lo, m_minus_inverse_hi);
    int160_t m = {{m0, m1, 0, 0, 0}}, m2 = twice(m);
    column_add(c[5], m2);
    column_sub(c[3], m2);
    column_sub(c[1], m);
    column_add(c[0], m);
    move_down<false>(d, c, m0, m1);
}

// Step 1. Columns 10 … 6 of a b, each with what is folded into it; then 5 … 0 with all that folds but column 6:
//
//     c9 = P9 - 2 c10     c8 = P8 - 2 c9     c7 = P7 - 2 c8 + 2 c10     c6 = P6 - 2 c7 + 2 c9
//     c5 = P5 + c10 + 2 c8 [- 2 c6]     c4 = P4 + c9 - c10 + 2 c7     c3 = P3 + c8 - c9 [+ 2 c6]
//     c2 = P2 + c7 - c8                 c1 = P1 - c7 [+ c6]           c0 = P0 [- c6]
//
// where Pk is column k of the product alone. Each stays within 64 W^2 either way, so that 160 bits hold it with its sign
// (fp_bounds). What is folded is where an accumulator starts, as far as possible, so that it costs nothing more.
CZK_FN int160_t product_columns(column_t *c, const uint32_t *a, const uint32_t *b) {
    column_t t;
    column_product<10>(t, a, b);
    int160_t c10 = column_sum(t), c10x2 = twice(c10);
    column_product<9>(t, a, b);
    int160_t c9 = sub(column_sum(t), c10x2), c9x2 = twice(c9);
    column_product<8>(t, a, b);
    int160_t c8 = sub(column_sum(t), c9x2), c8x2 = twice(c8);
    column_product<7>(t, a, b);
    int160_t c7 = add(sub(column_sum(t), c8x2), c10x2), c7x2 = twice(c7);
    column_product<6>(t, a, b);
    int160_t c6 = add(sub(column_sum(t), c7x2), c9x2);
    column_product<5>(c[5], add(c8x2, c10), a, b);
    column_product<4>(c[4], add(sub(c9, c10), c7x2), a, b);
    column_product<3>(c[3], sub(c8, c9), a, b);
    column_product<2>(c[2], sub(c7, c8), a, b);
    column_product<1>(c[1], a, b);
    column_sub(c[1], c7);
    column_product<0>(c[0], a, b);
    return c6;
}

// The same columns for b = a: 78 WIDE instead of 144. Cross products are doubled together with what is folded twice into
// their column.
CZK_FN int160_t square_columns(column_t *c, const uint32_t *a) {
    int160_t c10 = square_digit(a + 10);
    int160_t c9 = twice(sub(square_half<9>(a), c10));
    int160_t c8 = square_add<8>(twice(sub(square_half<8>(a), c9)), a);
    int160_t c7 = twice(square_half<7>(sub(c10, c8), a));
    int160_t c6 = square_add<6>(twice(square_half<6>(sub(c9, c7), a)), a);
    column_of(c[5], add(twice(square_half<5>(c8, a)), c10));
    column_of(c[4], add(square_add<4>(twice(square_half<4>(c7, a)), a), sub(c9, c10)));
    column_of(c[3], add(twice(square_half<3>(a)), sub(c8, c9)));
    column_of(c[2], add(square_add<2>(twice(square_half<2>(a)), a), sub(c7, c8)));
    column_of(c[1], sub(twice(square_half<1>(a)), c7));
    column_of(c[0], square_digit(a));
    return c6;
}

} // namespace czk
