// Operations of Fp by number, on raw digits: what the host twin and the device's test kernel both run.
#pragma once

#include "field/fp2.cuh"

namespace czk {

enum fp_op_t {
    fp_op_mul,
    fp_op_sqr,
    fp_op_add,
    fp_op_sub,
    fp_op_neg,
    fp_op_dbl,
    fp_op_inv,
    fp_op_sub_sum,
    fp_op_sqr_sub,
    fp_op_mul_sub,
    fp_op_is_zero, // 1 or 0 in word 0
    fp_op_eq,      // 1 or 0 in word 0
    fp_op_from_canonical,
    fp_op_from_montgomery,
    fp_op_to_canonical,
    fp_op_to_montgomery,
    fp_op_from_be_words,
    fp_op_is_canonical, // what from_be_words returns, in word 0
    fp_op_to_be_words,
    fp_op_zero,
    fp_op_one,
    fp_op_curve_b,
};

CZK_FN fp_t load_fp(const uint32_t *w) {
    fp_t a;
    CZK_UNROLL
    for (int i = 0; i < 12; i++) a.w[i] = w[i];
    return a;
}

CZK_FN void store_fp(uint32_t *w, const fp_t &a) {
    CZK_UNROLL
    for (int i = 0; i < 12; i++) w[i] = a.w[i];
}

// r = op(a, b, c), twelve words each.
CZK_FN void fp_op(int32_t op, uint32_t *r, const uint32_t *aw, const uint32_t *bw, const uint32_t *cw) {
    fp_t a = load_fp(aw), b = load_fp(bw), c = load_fp(cw), x = zero<fp_t>();
    switch (op) {
    case fp_op_mul: x = mul(a, b); break;
    case fp_op_sqr: x = sqr(a); break;
    case fp_op_add: x = add(a, b); break;
    case fp_op_sub: x = sub(a, b); break;
    case fp_op_neg: x = neg(a); break;
    case fp_op_dbl: x = dbl(a); break;
    case fp_op_inv: x = inv(a); break;
    case fp_op_sub_sum: x = sub_sum(a, b, c); break;
    case fp_op_sqr_sub: x = sqr_sub(a, b, c); break;
    case fp_op_mul_sub: x = mul_sub(a, b, c); break;
    case fp_op_is_zero: x.w[0] = is_zero(a); break;
    case fp_op_eq: x.w[0] = eq(a, b); break;
    case fp_op_from_canonical: from_canonical(x, aw); break;
    case fp_op_from_montgomery: from_montgomery(x, aw); break;
    case fp_op_to_canonical: to_canonical(x.w, a); break;
    case fp_op_to_montgomery: to_montgomery(x.w, a); break;
    case fp_op_from_be_words: from_be_words(x, aw); break;
    case fp_op_is_canonical: x.w[0] = from_be_words(b, aw); break;
    case fp_op_to_be_words: to_be_words(x.w, a); break;
    case fp_op_one: x = one<fp_t>(); break;
    case fp_op_curve_b: x = curve_b<fp_t>(); break;
    default: break;
    }
    store_fp(r, x);
}

// Operations of Fp2 on Montgomery words (24 each), by number: 0 mul, 1 sqr, 2 add, 3 sub, 4 neg, 5 dbl, 6 inv,
// 7 mul_sub(a, b, a), 8 sqr_sub(a, b, b), 9 eq in word 0.
CZK_FN void fp2_op(int32_t op, uint32_t *r, const uint32_t *aw, const uint32_t *bw) {
    fp2_t a, b, c;
    from_montgomery(a, aw);
    from_montgomery(b, bw);
    switch (op) {
    case 0: c = mul(a, b); break;
    case 1: c = sqr(a); break;
    case 2: c = add(a, b); break;
    case 3: c = sub(a, b); break;
    case 4: c = neg(a); break;
    case 5: c = dbl(a); break;
    case 6: c = inv(a); break;
    case 7: c = mul_sub(a, b, a); break;
    case 8: c = sqr_sub(a, b, b); break;
    default: r[0] = eq(a, b) && is_zero(sub(a, b)); return;
    }
    to_montgomery(r, c);
}

} // namespace czk
