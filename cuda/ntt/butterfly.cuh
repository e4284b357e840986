// Butterflies of radix 2, 4 and 8 in registers: natural order in, bit-reversed order out, without the twiddles between
// stages. Forward only: an inverse transform reads its outputs at index -k (pass.cuh).
//
// w4 = 7^((r - 1) / 4) is -i, a signed permutation of digits: it costs nothing in an addition. Radix 8 has two products,
// both with w8. Sums are taken on wide digits and narrowed once at the end; any digits may come in.
#pragma once

#include "field/fr_mul.cuh"

namespace czk {

// u w8, with w8 = 7^((r - 1) / 8) as four rows (fr_twiddle); constants, so that no load is needed.
CZK_FN fr_t fr_by_w8(const fr_t &u) {
    fr_twiddle_t w8;
    w8.row[0] = fr_from_digits(0xaae18dfa55987da7, 0x255c7b375255f648, 0xa9c57913a83e7ea6, 0x92cf42085fe9eba1);
    w8.row[1] = fr_from_digits(0x255c7b375255f649, 0x6bafd002b5816948, 0x92cf42085fe9eba1, 0x8468fddc55e8885d);
    w8.row[2] = fr_from_digits(0x283b86ec57c28159, 0x3f31bdf7a017145e, 0xaae18dfa55987da7, 0x255c7b375255f649);
    w8.row[3] = fr_from_digits(0x3f31bdf7a017145e, 0x4d980223aa1877a2, 0x255c7b375255f649, 0x6bafd002b5816949);
    return fr_mul(u, w8);
}

CZK_FN void butterfly_2(fr_t a[2]) {
    fr_wide_t u = fr_widen(a[0]), v = fr_widen(a[1]);
    a[0] = fr_narrow(u + v);
    a[1] = fr_narrow(u - v);
}

// Outputs X0, X2, X1, X3 of the four-point transform with w4 = -i.
CZK_FN void butterfly_4_wide(fr_t out[4], const fr_wide_t &p, const fr_wide_t &q, const fr_wide_t &u,
                             const fr_wide_t &v) {
    out[0] = fr_narrow(p + u);
    out[1] = fr_narrow(p - u);
    out[2] = fr_narrow(fr_sub_i(q, v));
    out[3] = fr_narrow(fr_add_i(q, v));
}

CZK_FN void butterfly_4(fr_t a[4]) {
    fr_wide_t a0 = fr_widen(a[0]), a1 = fr_widen(a[1]), a2 = fr_widen(a[2]), a3 = fr_widen(a[3]);
    butterfly_4_wide(a, a0 + a2, a0 - a2, a1 + a3, a1 - a3);
}

// Even outputs: the four-point transform of s[k] = a[k] + a[k + 4]. Odd ones: that of d[k] w8^k, d[k] = a[k] - a[k + 4],
// where w8^2 = -i and w8^3 = -i w8 are taken inside the sums.
CZK_FN void butterfly_8(fr_t a[8]) {
    fr_wide_t s1 = fr_widen(a[1]) + fr_widen(a[5]), s3 = fr_widen(a[3]) + fr_widen(a[7]);
    fr_t e1 = fr_by_w8(fr_sub(a[1], a[5])), e3 = fr_by_w8(fr_sub(a[3], a[7]));
    fr_wide_t s0 = fr_widen(a[0]) + fr_widen(a[4]), s2 = fr_widen(a[2]) + fr_widen(a[6]);
    fr_wide_t d0 = fr_widen(a[0]) - fr_widen(a[4]), d2 = fr_widen(a[2]) - fr_widen(a[6]);
    butterfly_4_wide(a, s0 + s2, s0 - s2, s1 + s3, s1 - s3);
    fr_wide_t w1 = fr_widen(e1), w3 = fr_widen(e3);
    butterfly_4_wide(a + 4, fr_sub_i(d0, d2), fr_add_i(d0, d2), fr_sub_i(w1, w3), fr_add_i(w1, w3));
}

} // namespace czk
