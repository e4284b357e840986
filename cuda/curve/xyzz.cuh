// Points in XYZZ form: x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2. Formulas from the Explicit-Formulas Database (EFD), short
// Weierstrass curves, coordinates "xyzz", a = 0. Equal, opposite and infinite points are handled in each.
#pragma once

#include "curve/affine.cuh"

namespace czk {

// Infinity is ZZ = ZZZ = 0 in all-zero bytes. No formula yields ZZ = 0 otherwise: equal and opposite points branch off.
template <typename F> struct xyzz_t {
    F x, y, zz, zzz;
};
using g1_xyzz_t = xyzz_t<fp_t>;
using g2_xyzz_t = xyzz_t<fp2_t>;
static_assert(sizeof(g1_xyzz_t) == 192 && sizeof(g2_xyzz_t) == 384, "four coordinates");

template <typename F> CZK_FN xyzz_t<F> xyzz_infinity() { return xyzz_t<F>{zero<F>(), zero<F>(), zero<F>(), zero<F>()}; }

template <typename F> CZK_FN bool is_infinity(const xyzz_t<F> &p) { return is_blank(p.zz); }

template <typename F> CZK_FN xyzz_t<F> to_xyzz(const affine_t<F> &p) {
    if (is_infinity(p)) return xyzz_infinity<F>();
    return xyzz_t<F>{p.x, p.y, one<F>(), one<F>()};
}

template <typename F> CZK_FN xyzz_t<F> neg(const xyzz_t<F> &p) {
    if (is_infinity(p)) return p;
    return xyzz_t<F>{p.x, neg(p.y), p.zz, p.zzz};
}

// What both doublings share, for X, Y with U = 2 Y, V = U^2: X3 = M^2 - 2 S, Y3 = M (S - X3) - W Y, ZZ3 = V, ZZZ3 = W,
// where W = U V, S = X V, M = 3 X^2.
template <typename F> CZK_FN xyzz_t<F> double_coordinates(const F &x, const F &y) {
    F u = dbl(y);
    F v = sqr(u);
    F w = mul(u, v);
    F s = mul(x, v);
    F m = sqr(x);
    m = add(dbl(m), m);
    xyzz_t<F> r;
    r.x = sqr_sub(m, s, s);
    r.y = mul_sub(m, sub(s, r.x), mul(w, y));
    r.zz = v;
    r.zzz = w;
    return r;
}

// 2 p. EFD mdbl-2008-s-1, 4M + 3S; infinity stays infinity.
template <typename F> CZK_FN xyzz_t<F> dbl(const affine_t<F> &p) {
    if (is_infinity(p)) return xyzz_infinity<F>();
    return double_coordinates(p.x, p.y);
}

// 2 p. EFD dbl-2008-s-1, 6M + 3S; infinity stays infinity.
template <typename F> CZK_FN xyzz_t<F> dbl(const xyzz_t<F> &p) {
    if (is_infinity(p)) return p;
    xyzz_t<F> r = double_coordinates(p.x, p.y);
    r.zz = mul(r.zz, p.zz);
    r.zzz = mul(r.zzz, p.zzz);
    return r;
}

// What both additions share: with P = U2 - U1, R = S2 - S1: PP = P^2, PPP = P PP, Q = U1 PP, X3 = R^2 - PPP - 2 Q,
// Y3 = R (Q - X3) - S1 PPP; zz and zzz take the factors PP and PPP of ZZ3 and ZZZ3.
template <typename F> CZK_FN xyzz_t<F> add_coordinates(const F &u1, const F &s1, const F &p, const F &r) {
    F pp = sqr(p);
    F ppp = mul(p, pp);
    F q = mul(u1, pp);
    xyzz_t<F> sum;
    sum.x = sqr_sub(r, ppp, dbl(q));
    sum.y = mul_sub(r, sub(q, sum.x), mul(s1, ppp));
    sum.zz = pp;
    sum.zzz = ppp;
    return sum;
}

// The doublings as calls, for the additions, where they are rare: their registers aren't the addition's.
template <typename F> CZK_CALL void double_rarely(xyzz_t<F> *r, const affine_t<F> *p) { *r = dbl(*p); }
template <typename F> CZK_CALL void double_rarely(xyzz_t<F> *r, const xyzz_t<F> *p) { *r = dbl(*p); }

// p + p or p - p, where p + q has found equal x.
template <typename F, typename P> CZK_FN xyzz_t<F> add_same_x(const P &p, bool same_y) {
    xyzz_t<F> r = xyzz_infinity<F>();
    if (same_y) {
        P copy = p;
        double_rarely(&r, &copy);
    }
    return r;
}

// p + q. EFD madd-2008-s, 8M + 2S. p = q doubles q, p = -q is infinity.
template <typename F> CZK_FN xyzz_t<F> madd(const xyzz_t<F> &p, const affine_t<F> &q) {
    if (is_infinity(q)) return p;
    if (is_infinity(p)) return to_xyzz(q);
    F u2 = mul(q.x, p.zz), s2 = mul(q.y, p.zzz);
    if (eq(u2, p.x)) return add_same_x<F>(q, eq(s2, p.y));
    xyzz_t<F> sum = add_coordinates(p.x, p.y, sub(u2, p.x), sub(s2, p.y));
    sum.zz = mul(sum.zz, p.zz);
    sum.zzz = mul(sum.zzz, p.zzz);
    return sum;
}

// p + q. EFD add-2008-s, 12M + 2S. p = q doubles p, p = -q is infinity.
template <typename F> CZK_FN xyzz_t<F> add(const xyzz_t<F> &p, const xyzz_t<F> &q) {
    if (is_infinity(q)) return p;
    if (is_infinity(p)) return q;
    F u1 = mul(p.x, q.zz), u2 = mul(q.x, p.zz);
    F s1 = mul(p.y, q.zzz), s2 = mul(q.y, p.zzz);
    if (eq(u1, u2)) return add_same_x<F>(p, eq(s1, s2));
    xyzz_t<F> sum = add_coordinates(u1, s1, sub(u2, u1), sub(s2, s1));
    sum.zz = mul(mul(sum.zz, p.zz), q.zz);
    sum.zzz = mul(mul(sum.zzz, p.zzz), q.zzz);
    return sum;
}

// p in affine form: 1 inversion, 3M + 1S. 1 / ZZ = (ZZ / ZZZ)^2.
template <typename F> CZK_FN affine_t<F> to_affine(const xyzz_t<F> &p) {
    if (is_infinity(p)) return infinity<F>();
    F i = inv(p.zzz);
    return affine_t<F>{mul(p.x, sqr(mul(p.zz, i))), mul(p.y, i)};
}

// p in Jacobian coordinates with Z = ZZZ: X ZZ^2, Y ZZZ^2, ZZZ; infinity has Z = 0. No inversion.
template <typename F> CZK_FN void to_jacobian(F &x, F &y, F &z, const xyzz_t<F> &p) {
    x = mul(p.x, sqr(p.zz));
    y = mul(p.y, sqr(p.zzz));
    z = p.zzz;
}

} // namespace czk
