// Points in affine form, and the two halves of an affine addition between which many pairs share one inversion.
//
// The curves are y^2 = x^3 + 4 over F = fp_t (G1) and y^2 = x^3 + 4 (1 + u) over F = fp2_t (G2). Points need to be on the
// curve, not in the subgroup of order r. Neither curve has a point of order 2 (both orders are odd), so y is never 0.
#pragma once

#include "field/fp2.cuh"

namespace czk {

// Infinity is all-zero bytes, and no other point is, since y = 0 has no point.
template <typename F> struct affine_t {
    F x, y;
};
using g1_affine_t = affine_t<fp_t>;
using g2_affine_t = affine_t<fp2_t>;
static_assert(sizeof(g1_affine_t) == 96 && sizeof(g2_affine_t) == 192, "as in SRS files");

template <typename F> CZK_FN affine_t<F> infinity() { return affine_t<F>{zero<F>(), zero<F>()}; }

// y of a finite point is never 0, but a 0 inside x or y may have zero bytes: both halves of y decide.
template <typename F> CZK_FN bool is_infinity(const affine_t<F> &p) { return is_blank(p.y); }

// -p; infinity stays infinity.
template <typename F> CZK_FN affine_t<F> neg(const affine_t<F> &p) {
    if (is_infinity(p)) return p;
    return affine_t<F>{p.x, neg(p.y)};
}

// Whether p is infinity or on the curve. 1M + 2S.
template <typename F> CZK_FN bool is_on_curve(const affine_t<F> &p) {
    if (is_infinity(p)) return true;
    return eq(sqr(p.y), add(mul(sqr(p.x), p.x), curve_b<F>()));
}

template <typename F> CZK_FN bool eq(const affine_t<F> &p, const affine_t<F> &q) {
    if (is_infinity(p) || is_infinity(q)) return is_infinity(p) && is_infinity(q);
    return eq(p.x, q.x) && eq(p.y, q.y);
}

// What p + q is.
enum class pair_t : uint32_t {
    sum,      // two points with x_p != x_q: slope (y_q - y_p) / (x_q - x_p)
    twice,    // p = q: slope 3 x^2 / (2 y)
    first,    // q is infinity
    second,   // p is infinity
    infinity, // p = -q, or both are infinity
};

// First half of p + q: its kind, and the denominator of its slope. The denominator is 1 where there is no slope, so that
// it is never 0 and a product of denominators can be inverted as a whole.
template <typename F> CZK_FN pair_t pair_denominator(F &denominator, const affine_t<F> &p, const affine_t<F> &q) {
    bool p_infinite = is_infinity(p), q_infinite = is_infinity(q);
    denominator = sub(q.x, p.x);
    if (!(p_infinite || q_infinite || eq(p.x, q.x))) return pair_t::sum;
    if (!(p_infinite || q_infinite) && eq(p.y, q.y)) {
        denominator = dbl(p.y);
        return pair_t::twice;
    }
    denominator = one<F>();
    if (p_infinite == q_infinite) return pair_t::infinity;
    return p_infinite ? pair_t::second : pair_t::first;
}

// Second half of p + q, given the inverse of its denominator. 2M + 1S, and 1S more to double:
// s = slope, x = s^2 - x_p - x_q, y = s (x_p - x) - y_p.
template <typename F>
CZK_FN affine_t<F> pair_sum(pair_t kind, const affine_t<F> &p, const affine_t<F> &q, const F &inverse) {
    if (kind >= pair_t::first) return kind == pair_t::first ? p : kind == pair_t::second ? q : infinity<F>();
    F numerator = sub(q.y, p.y);
    if (kind == pair_t::twice) {
        numerator = sqr(p.x);
        numerator = add(dbl(numerator), numerator);
    }
    F slope = mul(numerator, inverse);
    affine_t<F> r;
    r.x = sqr_sub(slope, p.x, q.x);
    r.y = mul_sub(slope, sub(p.x, r.x), p.y);
    return r;
}

} // namespace czk
