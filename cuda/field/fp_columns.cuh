// Integers that a product in base X is made of: columns of 64 x 64 bit products, and the 160-bit sums they become.
#pragma once

#include "field/wide.cuh"

namespace czk {

// A 160-bit integer in two's complement, least significant word first.
struct int160_t {
    uint32_t w[5];
};

// A column sum under construction. The four 32 x 32 bit products of a 64 x 64 bit one start at words 0, 1, 1 and 2; those
// at words 0 and 2 go to e as one carry chain, those at word 1 to o, so that every product is one aligned IMAD.WIDE. The
// column's value is sum e[i] 2^(32 i) + sum o[i] 2^(32 (i + 1)) modulo 2^160, in two's complement.
struct column_t {
    uint32_t e[5], o[3];
};

// The column a b. 4 WIDE, 1 carry.
CZK_FN void column_first(column_t &c, const uint32_t *a, const uint32_t *b) {
    mul_wide(c.e[0], c.e[1], a[0], b[0]);
    mul_wide(c.e[2], c.e[3], a[1], b[1]);
    c.e[4] = 0;
    mul_wide(c.o[0], c.o[1], a[0], b[1]);
    mad_wide_cc(c.o[0], c.o[1], a[1], b[0]);
    c.o[2] = addc(0, 0);
}

// The column start + a b. 4 WIDE, 2 carries.
CZK_FN void column_start(column_t &c, const int160_t &start, const uint32_t *a, const uint32_t *b) {
    CZK_UNROLL
    for (int i = 0; i < 5; i++) c.e[i] = start.w[i];
    mad_wide_cc(c.e[0], c.e[1], a[0], b[0]);
    madc_wide_cc(c.e[2], c.e[3], a[1], b[1]);
    c.e[4] = addc(c.e[4], 0);
    mul_wide(c.o[0], c.o[1], a[0], b[1]);
    mad_wide_cc(c.o[0], c.o[1], a[1], b[0]);
    c.o[2] = addc(0, 0);
}

// c += a b. 4 WIDE, 3 carries, of which the two into o[2] become one instruction, since an add takes two carries in.
CZK_FN void column_mac(column_t &c, const uint32_t *a, const uint32_t *b) {
    mad_wide_cc(c.e[0], c.e[1], a[0], b[0]);
    madc_wide_cc(c.e[2], c.e[3], a[1], b[1]);
    c.e[4] = addc(c.e[4], 0);
    mad_wide_cc(c.o[0], c.o[1], a[0], b[1]);
    c.o[2] = addc(c.o[2], 0);
    mad_wide_cc(c.o[0], c.o[1], a[1], b[0]);
    c.o[2] = addc(c.o[2], 0);
}

// c += the other products of column k of a b, all a[i] b[k - i] but that of the smallest i.
template <int k> CZK_FN void column_rest(column_t &c, const uint32_t *a, const uint32_t *b) {
    constexpr int first = k < 6 ? 0 : k - 5, last = k < 6 ? k : 5;
    CZK_UNROLL
    for (int i = first + 1; i <= last; i++) column_mac(c, a + 2 * i, b + 2 * (k - i));
}

// Column k of a b.
template <int k> CZK_FN void column_product(column_t &c, const uint32_t *a, const uint32_t *b) {
    constexpr int first = k < 6 ? 0 : k - 5;
    column_first(c, a + 2 * first, b + 2 * (k - first));
    column_rest<k>(c, a, b);
}

// start + column k of a b.
template <int k>
CZK_FN void column_product(column_t &c, const int160_t &start, const uint32_t *a, const uint32_t *b) {
    constexpr int first = k < 6 ? 0 : k - 5;
    column_start(c, start, a + 2 * first, b + 2 * (k - first));
    column_rest<k>(c, a, b);
}

// The column's value. 4 additions.
CZK_FN int160_t column_sum(const column_t &c) {
    int160_t r;
    r.w[0] = c.e[0];
    r.w[1] = add_cc(c.e[1], c.o[0]);
    r.w[2] = addc_cc(c.e[2], c.o[1]);
    r.w[3] = addc_cc(c.e[3], c.o[2]);
    r.w[4] = addc(c.e[4], 0);
    return r;
}

CZK_FN int160_t add(const int160_t &a, const int160_t &b) {
    int160_t r;
    r.w[0] = add_cc(a.w[0], b.w[0]);
    r.w[1] = addc_cc(a.w[1], b.w[1]);
    r.w[2] = addc_cc(a.w[2], b.w[2]);
    r.w[3] = addc_cc(a.w[3], b.w[3]);
    r.w[4] = addc(a.w[4], b.w[4]);
    return r;
}

CZK_FN int160_t sub(const int160_t &a, const int160_t &b) {
    int160_t r;
    r.w[0] = sub_cc(a.w[0], b.w[0]);
    r.w[1] = subc_cc(a.w[1], b.w[1]);
    r.w[2] = subc_cc(a.w[2], b.w[2]);
    r.w[3] = subc_cc(a.w[3], b.w[3]);
    r.w[4] = subc(a.w[4], b.w[4]);
    return r;
}

CZK_FN int160_t twice(const int160_t &a) {
    int160_t r;
    r.w[0] = a.w[0] << 1;
    CZK_UNROLL
    for (int i = 1; i < 5; i++) r.w[i] = funnel_left(a.w[i - 1], a.w[i], 1);
    return r;
}

// c += v in the even words: five additions.
CZK_FN void column_add(column_t &c, const int160_t &v) {
    c.e[0] = add_cc(c.e[0], v.w[0]);
    c.e[1] = addc_cc(c.e[1], v.w[1]);
    c.e[2] = addc_cc(c.e[2], v.w[2]);
    c.e[3] = addc_cc(c.e[3], v.w[3]);
    c.e[4] = addc(c.e[4], v.w[4]);
}

CZK_FN void column_sub(column_t &c, const int160_t &v) {
    c.e[0] = sub_cc(c.e[0], v.w[0]);
    c.e[1] = subc_cc(c.e[1], v.w[1]);
    c.e[2] = subc_cc(c.e[2], v.w[2]);
    c.e[3] = subc_cc(c.e[3], v.w[3]);
    c.e[4] = subc(c.e[4], v.w[4]);
}

// Half of column k of a^2, 0 < k < 10, but for the squares of words, on top of what is in start: the products a[i] a[k - i]
// with i < k - i, and for even k the product of the two words of the middle digit.
template <int k> CZK_FN int160_t square_half(column_t &c, const uint32_t *a) {
    constexpr int first = k < 6 ? 0 : k - 5;
    CZK_UNROLL
    for (int i = first + 1; 2 * i < k; i++) column_mac(c, a + 2 * i, a + 2 * (k - i));
    if (k % 2 == 0) {
        mad_wide_cc(c.o[0], c.o[1], a[k], a[k + 1]);
        c.o[2] = addc(c.o[2], 0);
    }
    return column_sum(c);
}

template <int k> CZK_FN int160_t square_half(const uint32_t *a) {
    constexpr int first = k < 6 ? 0 : k - 5;
    column_t c;
    column_first(c, a + 2 * first, a + 2 * (k - first));
    return square_half<k>(c, a);
}

template <int k> CZK_FN int160_t square_half(const int160_t &start, const uint32_t *a) {
    constexpr int first = k < 6 ? 0 : k - 5;
    column_t c;
    column_start(c, start, a + 2 * first, a + 2 * (k - first));
    return square_half<k>(c, a);
}

// v + the squares of the two words of digit k / 2, for even k. 2 WIDE, 1 carry.
template <int k> CZK_FN int160_t square_add(int160_t v, const uint32_t *a) {
    mad_wide_cc(v.w[0], v.w[1], a[k], a[k]);
    madc_wide_cc(v.w[2], v.w[3], a[k + 1], a[k + 1]);
    v.w[4] = addc(v.w[4], 0);
    return v;
}

// Columns 0 and 10 of a^2, the square of one digit d: 3 WIDE.
CZK_FN int160_t square_digit(const uint32_t *d) {
    int160_t v;
    uint32_t m0, m1;
    mul_wide(m0, m1, d[0], d[1]);
    mul_wide(v.w[0], v.w[1], d[0], d[0]);
    mul_wide(v.w[2], v.w[3], d[1], d[1]);
    v.w[1] = add_cc(v.w[1], m0 << 1);
    v.w[2] = addc_cc(v.w[2], funnel_left(m0, m1, 1));
    v.w[3] = addc(v.w[3], m1 >> 31);
    v.w[4] = 0;
    return v;
}

// A column that is v so far, without odd words.
CZK_FN void column_of(column_t &c, const int160_t &v) {
    CZK_UNROLL
    for (int i = 0; i < 5; i++) c.e[i] = v.w[i];
    c.o[0] = c.o[1] = c.o[2] = 0;
}

} // namespace czk
