// Fp2 = Fp[u] / (u^2 + 1), the field of G2's coordinates.
#pragma once

#include "field/fp_convert.cuh"

namespace czk {

// c0 + c1 u.
struct alignas(16) fp2_t {
    fp_t c0, c1;
};
static_assert(sizeof(fp2_t) == 96, "one coordinate");

CZK_FN fp2_t add(const fp2_t &a, const fp2_t &b) { return fp2_t{add(a.c0, b.c0), add(a.c1, b.c1)}; }
CZK_FN fp2_t sub(const fp2_t &a, const fp2_t &b) { return fp2_t{sub(a.c0, b.c0), sub(a.c1, b.c1)}; }
CZK_FN fp2_t neg(const fp2_t &a) { return fp2_t{neg(a.c0), neg(a.c1)}; }
CZK_FN fp2_t dbl(const fp2_t &a) { return fp2_t{dbl(a.c0), dbl(a.c1)}; }

// a - b - c.
CZK_FN fp2_t sub_sum(const fp2_t &a, const fp2_t &b, const fp2_t &c) {
    return fp2_t{sub_sum(a.c0, b.c0, c.c0), sub_sum(a.c1, b.c1, c.c1)};
}

// (a0 b0 - a1 b1) + ((a0 + a1)(b0 + b1) - a0 b0 - a1 b1) u: three products (Karatsuba).
CZK_FN fp2_t mul(const fp2_t &a, const fp2_t &b) {
    fp_t t0 = mul(a.c0, b.c0), t1 = mul(a.c1, b.c1);
    fp_t t2 = mul(add(a.c0, a.c1), add(b.c0, b.c1));
    return fp2_t{sub(t0, t1), sub_sum(t2, t0, t1)};
}

// (a0 + a1)(a0 - a1) + 2 a0 a1 u: two products.
CZK_FN fp2_t sqr(const fp2_t &a) {
    fp_t t = mul(a.c0, a.c1);
    return fp2_t{mul(add(a.c0, a.c1), sub(a.c0, a.c1)), dbl(t)};
}

// a^2 - b - c.
CZK_FN fp2_t sqr_sub(const fp2_t &a, const fp2_t &b, const fp2_t &c) { return sub_sum(sqr(a), b, c); }

// a b - c.
CZK_FN fp2_t mul_sub(const fp2_t &a, const fp2_t &b, const fp2_t &c) {
    fp_t t0 = mul(a.c0, b.c0), t1 = mul(a.c1, b.c1);
    fp_t t2 = mul(add(a.c0, a.c1), add(b.c0, b.c1));
    return fp2_t{sub_sum(t0, t1, c.c0), sub(sub_sum(t2, t0, t1), c.c1)};
}

CZK_FN bool is_zero(const fp2_t &a) { return is_zero(a.c0) && is_zero(a.c1); }
CZK_FN bool eq(const fp2_t &a, const fp2_t &b) { return eq(a.c0, b.c0) && eq(a.c1, b.c1); }

// Whether all bytes are zero, the mark of infinity in memory; a zero in another form has other bytes.
CZK_FN bool is_blank(const fp2_t &a) { return is_blank(a.c0) && is_blank(a.c1); }

// (a0 - a1 u) / (a0^2 + a1^2); 0 for a = 0.
CZK_FN fp2_t inv(const fp2_t &a) {
    fp_t t = inv(add(sqr(a.c0), sqr(a.c1)));
    return fp2_t{mul(a.c0, t), neg(mul(a.c1, t))};
}

// 24 words: c0, c1.
CZK_FN void from_montgomery(fp2_t &r, const uint32_t *v) {
    from_montgomery(r.c0, v);
    from_montgomery(r.c1, v + 12);
}

CZK_FN void to_montgomery(uint32_t *v, const fp2_t &a) {
    to_montgomery(v, a.c0);
    to_montgomery(v + 12, a.c1);
}

CZK_FN void from_canonical(fp2_t &r, const uint32_t *v) {
    from_canonical(r.c0, v);
    from_canonical(r.c1, v + 12);
}

CZK_FN void to_canonical(uint32_t *v, const fp2_t &a) {
    to_canonical(v, a.c0);
    to_canonical(v + 12, a.c1);
}

// 96 big-endian bytes, as points are stored: c1 before c0.
CZK_FN bool from_be_words(fp2_t &r, const uint32_t *bytes) {
    bool below = from_be_words(r.c1, bytes);
    return from_be_words(r.c0, bytes + 12) && below;
}

CZK_FN void to_be_words(uint32_t *bytes, const fp2_t &a) {
    to_be_words(bytes, a.c1);
    to_be_words(bytes + 12, a.c0);
}

// b is 4 on G1's curve and 4 (1 + u) on G2's.
template <> struct constants_t<fp2_t> {
    CZK_FN fp2_t zero() { return fp2_t{czk::zero<fp_t>(), czk::zero<fp_t>()}; }
    CZK_FN fp2_t one() { return fp2_t{czk::one<fp_t>(), czk::zero<fp_t>()}; }
    CZK_FN fp2_t curve_b() { return fp2_t{czk::curve_b<fp_t>(), czk::curve_b<fp_t>()}; }
};

} // namespace czk
