// Products in Fr, base X (fr.cuh says what that is).
//
// Columns. With rows w and v = w x of the second factor the product u w is, digit by digit,
//     c0 = u0 w0 + u1 v0 - u2 w2 - u3 v2        c2 = u0 w2 + u1 v2 + u2 w0 + u3 v0
//     c1 = u0 w1 + u1 v1 - u2 w3 - u3 v3        c3 = u0 w3 + u1 v3 + u2 w1 + u3 v1
// because the rows of i w and i x w are signed permutations of w and v. 64 W. A twiddle keeps both rows (fr_rows_t, 64
// bytes); for a general product v is made first (fr_rows, 40 A).
//
// A column has three accumulators of word pairs: low (low words by low words, its first two words), mixed (low by high, one
// word up) and high (two words up), so that every product is one IMAD.WIDE on an aligned pair; a carry out of a pair is
// counted in a third word for one A, and ptxas takes two carries in one instruction.
//
// Reduction. (X - x) h = (X h0 - h1, X h1 - h0 - h3, X h2 - h3, X h3 - h2 + h1) has the value 0. With L the low words of
// c and X = 2^16 modulo 2^32, where (2^16)^2 = 0, the words
//     h0 = e - 2^16 d    h1 = a + 2^16 e    h2 = f + 2^16 b    h3 = c + 2^16 f      L = (a, b, c, d), e = b - c, f = a + d
// clear the low words of c + (X - x) h. Dividing by 2^32 leaves, for each digit, X_HIGH h (1 W), the upper 16 bits of
// h 2^16, and the carry out of the low word. Two such steps divide by 2^64. The first needs only the low accumulators, so
// that its X_HIGH h opens the mixed ones, together with the carries of the low ones: one addend for both.
//
// Bounds: |c| < 4 2^128 + 2^98, so a digit ends within (-2.1 2^64, 4.9 2^64), for any digits of u and w.
#pragma once

#include "field/fr.cuh"

namespace czk {

// w and w x, both narrow: what a product needs of its second factor.
struct alignas(16) fr_rows_t {
    fr_t w, xw;
};

CZK_FN fr_rows_t fr_rows(const fr_t &w) { return fr_rows_t{w, fr_narrow(fr_by_x(w))}; }

// acc = a b.
CZK_FN void fr_first(uint32_t acc[3], uint32_t a, uint32_t b) {
    mul_wide(acc[0], acc[1], a, b);
    acc[2] = 0;
}

// acc += a b, the carry counted in acc[2].
CZK_FN void fr_next(uint32_t acc[3], uint32_t a, uint32_t b) {
    mad_wide_cc(acc[0], acc[1], a, b);
    acc[2] = addc(acc[2], 0);
}

// acc += the two mixed products of a pair of digits.
CZK_FN void fr_mixed(uint32_t acc[3], const uint32_t *a, const uint32_t *b) {
    fr_next(acc, a[0], b[1]);
    fr_next(acc, a[1], b[0]);
}

// One step of the reduction. Above the low words it adds, beside X_HIGH h, up[k] to digit k and takes back `borrow` from
// digit 1: with s[k] = low[k] + 2^16 h[k] mod 2^32 the low words become s0 - h1 = 0, s1 - (h0 + h3) = 0, s2 - h3 = 0 and
// s3 + h1 - h2 = 0, and what carries is h[k] >> 16, the carry into s[k], and those of h0 + h3 and s3 + h1. As 2^16 h is
// 2^16 times the other term of h alone, the sums s[k] are those that make h1 and h3, b + 2^16 a, and d + 2^16 c. 20 A.
struct fr_step_t {
    uint32_t h[4], up[4], borrow;
};

CZK_FN fr_step_t fr_step(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    fr_step_t s;
    uint32_t e = b - c, f = a + d;
    s.h[0] = e - (d << 16);
    s.h[1] = add_cc(a, e << 16);
    s.up[0] = addc(s.h[0] >> 16, 0);
    uint32_t s3 = add_cc(d, c << 16), carry3 = addc(0, 0);
    s.h[2] = add_cc(s3, s.h[1]);
    carry3 = addc(carry3, 0);
    s.h[3] = add_cc(c, f << 16);
    s.up[2] = addc(s.h[2] >> 16, 0);
    (void)add_cc(b, a << 16);
    s.up[1] = addc(s.h[1] >> 16, 0);
    s.up[3] = (s.h[3] >> 16) + carry3;
    (void)add_cc(s.h[0], s.h[3]);
    s.borrow = addc(0, 0);
    return s;
}

// A column between the steps: its words 1 to 4 (the top one signed).
struct fr_column_t {
    uint32_t w[4];
};

// Adds up a column: low words' upper half, mixed products, high words.
CZK_FN fr_column_t fr_column(uint32_t low, const uint32_t mixed[3], const uint32_t high[3]) {
    fr_column_t c;
    c.w[0] = add_cc(low, mixed[0]);
    c.w[1] = addc_cc(high[0], mixed[1]);
    c.w[2] = addc_cc(high[1], mixed[2]);
    c.w[3] = addc(high[2], 0);
    return c;
}

CZK_FN void fr_subtract(fr_column_t &c, const fr_column_t &n) {
    c.w[0] = sub_cc(c.w[0], n.w[0]);
    c.w[1] = subc_cc(c.w[1], n.w[1]);
    c.w[2] = subc_cc(c.w[2], n.w[2]);
    c.w[3] = subc(c.w[3], n.w[3]);
}

// The second step, and the way back to narrow digits. 4 W, 66 A.
CZK_FN fr_t fr_close(const fr_column_t c[4]) {
    fr_step_t s = fr_step(c[0].w[0], c[1].w[0], c[2].w[0], c[3].w[0]);
    fr_wide_t t;
    for (int k = 0; k < 4; k++) {
        uint32_t low = c[k].w[1], mid = c[k].w[2];
        mad_wide_cc(low, mid, X_HIGH, s.h[k]);
        t.w[3 * k] = low;
        t.w[3 * k + 1] = mid;
        t.w[3 * k + 2] = addc(c[k].w[3], 0);
    }
    const int32_t extra[4] = {int32_t(s.up[0]), int32_t(s.up[1] - s.borrow), int32_t(s.up[2]), int32_t(s.up[3])};
    return fr_narrow(t, extra);
}

// The mixed accumulator of digit k opens with X_HIGH h + up and the carries of the low products, one word higher:
// below 2^64, as X_HIGH < 2^32 - 2^17 and there are at most three.
CZK_FN void fr_open(uint32_t acc[3], const fr_step_t &s, int k, uint32_t carries) {
    acc[0] = s.up[k];
    acc[1] = carries;
    acc[2] = 0;
    mad_wide(acc[0], acc[1], X_HIGH, s.h[k]);
}

// Four rows of non-negative digits: w, w x, w i, w i x, each with a multiple of X - x that keeps its digits in 64 bits
// (fr_twiddle). Every column is a sum of four products, which saves 20 A against fr_rows_t.
struct alignas(16) fr_twiddle_t {
    fr_t row[4];
};

// u times the element of `t`, narrow. 72 W, 140 A.
CZK_FN fr_t fr_mul(const fr_t &u, const fr_twiddle_t &t) {
    uint32_t low[4][3], mixed[3], high[3];
    for (int k = 0; k < 4; k++) {
        fr_first(low[k], u.w[0], t.row[0].w[2 * k]);
        for (int j = 1; j < 4; j++) fr_next(low[k], u.w[2 * j], t.row[j].w[2 * k]);
    }
    fr_step_t s = fr_step(low[0][0], low[1][0], low[2][0], low[3][0]);
    fr_column_t c[4];
    for (int k = 0; k < 4; k++) {
        fr_open(mixed, s, k, low[k][2]);
        for (int j = 0; j < 4; j++) fr_mixed(mixed, u.w + 2 * j, t.row[j].w + 2 * k);
        fr_first(high, u.w[1], t.row[0].w[2 * k + 1]);
        for (int j = 1; j < 4; j++) fr_next(high, u.w[2 * j + 1], t.row[j].w[2 * k + 1]);
        c[k] = fr_column(low[k][1], mixed, high);
    }
    fr_subtract(c[1], fr_column_t{{s.borrow, 0, 0, 0}});
    return fr_close(c);
}

// u w, narrow. 72 W, 160 A.
CZK_FN fr_t fr_mul(const fr_t &u, const fr_rows_t &rows) {
    const uint32_t *w = rows.w.w, *v = rows.xw.w;
    uint32_t low[4][3], low_n[2][3], mixed[3], high[3];
    for (int k = 0; k < 2; k++) {
        fr_first(low[k], u.w[0], w[2 * k]);
        fr_next(low[k], u.w[2], v[2 * k]);
        fr_first(low_n[k], u.w[4], w[2 * k + 4]);
        fr_next(low_n[k], u.w[6], v[2 * k + 4]);
        low[k][0] = sub_cc(low[k][0], low_n[k][0]);
        low[k][1] = subc_cc(low[k][1], low_n[k][1]);
        low_n[k][2] -= subc(0, 0); // the borrow
        fr_first(low[k + 2], u.w[0], w[2 * k + 4]);
        fr_next(low[k + 2], u.w[2], v[2 * k + 4]);
        fr_next(low[k + 2], u.w[4], w[2 * k]);
        fr_next(low[k + 2], u.w[6], v[2 * k]);
    }
    fr_step_t s = fr_step(low[0][0], low[1][0], low[2][0], low[3][0]);
    fr_column_t c[4];
    for (int k = 0; k < 2; k++) {
        fr_open(mixed, s, k, low[k][2]);
        fr_mixed(mixed, u.w, w + 2 * k);
        fr_mixed(mixed, u.w + 2, v + 2 * k);
        fr_first(high, u.w[1], w[2 * k + 1]);
        fr_next(high, u.w[3], v[2 * k + 1]);
        c[k] = fr_column(low[k][1], mixed, high);
        // Negative products; the pair opens with digit 1's borrow and the carries of the low ones.
        mixed[0] = k == 1 ? s.borrow : 0;
        mixed[1] = low_n[k][2];
        mixed[2] = 0;
        fr_mixed(mixed, u.w + 4, w + 2 * k + 4);
        fr_mixed(mixed, u.w + 6, v + 2 * k + 4);
        fr_first(high, u.w[5], w[2 * k + 5]);
        fr_next(high, u.w[7], v[2 * k + 5]);
        fr_subtract(c[k], fr_column(0, mixed, high));
        fr_open(mixed, s, k + 2, low[k + 2][2]);
        fr_mixed(mixed, u.w, w + 2 * k + 4);
        fr_mixed(mixed, u.w + 2, v + 2 * k + 4);
        fr_mixed(mixed, u.w + 4, w + 2 * k);
        fr_mixed(mixed, u.w + 6, v + 2 * k);
        fr_first(high, u.w[1], w[2 * k + 5]);
        fr_next(high, u.w[3], v[2 * k + 5]);
        fr_next(high, u.w[5], w[2 * k + 1]);
        fr_next(high, u.w[7], v[2 * k + 1]);
        c[k + 2] = fr_column(low[k + 2][1], mixed, high);
    }
    return fr_close(c);
}

// a b, narrow. 72 W and 40 A more than with rows at hand.
CZK_FN fr_t fr_mul(const fr_t &a, const fr_t &b) { return fr_mul(a, fr_rows(b)); }

} // namespace czk
