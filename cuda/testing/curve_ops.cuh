// Group laws by number: what the host twin and the device's test kernels both run. Points are in affine Montgomery form
// with factor 2^384, as host libraries keep them: 24 words in G1, 48 in G2, all zero for infinity.
#pragma once

#include "curve/batch.cuh"
#include "curve/xyzz.cuh"

namespace czk {

template <typename F> constexpr int words_of = sizeof(F) / 4;

template <typename F> CZK_FN affine_t<F> load_affine(const uint32_t *w) {
    uint32_t any = 0;
    for (int i = 0; i < 2 * words_of<F>; i++) any |= w[i];
    affine_t<F> p = infinity<F>();
    if (any == 0) return p;
    from_montgomery(p.x, w);
    from_montgomery(p.y, w + words_of<F>);
    return p;
}

template <typename F> CZK_FN void store_affine(uint32_t *w, const affine_t<F> &p) {
    for (int i = 0; i < 2 * words_of<F>; i++) w[i] = 0;
    if (is_infinity(p)) return;
    to_montgomery(w, p.x);
    to_montgomery(w + words_of<F>, p.y);
}

// p with ZZ = z^2, ZZZ = z^3.
template <typename F> CZK_FN xyzz_t<F> scaled(const affine_t<F> &p, const F &z) {
    if (is_infinity(p)) return xyzz_infinity<F>();
    F zz = sqr(z), zzz = mul(zz, z);
    return xyzz_t<F>{mul(p.x, zz), mul(p.y, zzz), zz, zzz};
}

template <typename F> CZK_FN affine_t<F> pairwise(const affine_t<F> &p, const affine_t<F> &q) {
    F denominator;
    pair_t kind = pair_denominator(denominator, p, q);
    return pair_sum(kind, p, q, inv(denominator));
}

// op: 0 madd, 1 add, 2 dbl of XYZZ, 3 dbl of affine, 4 affine pair, 5 neg of affine, 6 neg of XYZZ, 7 is_on_curve in word
// 0 of r. z != 0 (words of F) scales what is in XYZZ form.
template <typename F>
CZK_FN void curve_op(int32_t op, uint32_t *r, const uint32_t *pw, const uint32_t *qw, const uint32_t *zw) {
    affine_t<F> p = load_affine<F>(pw), q = load_affine<F>(qw), sum = infinity<F>();
    F z;
    from_montgomery(z, zw);
    switch (op) {
    case 0: sum = to_affine(madd(scaled(p, z), q)); break;
    case 1: sum = to_affine(add(scaled(p, z), scaled(q, sqr(z)))); break;
    case 2: sum = to_affine(dbl(scaled(p, z))); break;
    case 3: sum = to_affine(dbl(p)); break;
    case 4: sum = pairwise(p, q); break;
    case 5: sum = neg(p); break;
    case 6: sum = to_affine(neg(scaled(p, z))); break;
    default: r[0] = is_on_curve(p); return;
    }
    store_affine(r, sum);
}

// Words of Jacobian X, Y, Z of p scaled by z.
template <typename F> CZK_FN void jacobian_op(uint32_t *r, const uint32_t *pw, const uint32_t *zw) {
    F z, x, y, jz;
    from_montgomery(z, zw);
    to_jacobian(x, y, jz, scaled(load_affine<F>(pw), z));
    to_montgomery(r, x);
    to_montgomery(r + words_of<F>, y);
    to_montgomery(r + 2 * words_of<F>, jz);
}

// r[i] = p[i] + q[i] for all i with one inversion. scratch: count of F.
template <typename F>
CZK_FN void batch_op(uint32_t *r, const uint32_t *pw, const uint32_t *qw, uint64_t count, F *scratch) {
    constexpr int words = 2 * words_of<F>;
    auto shared = shared_inversion_t<F>::begin();
    for (uint64_t i = 0; i < count; i++) {
        F denominator;
        pair_denominator(denominator, load_affine<F>(pw + i * words), load_affine<F>(qw + i * words));
        scratch[i] = push(shared, denominator);
    }
    invert(shared);
    for (uint64_t i = count; i-- > 0;) {
        affine_t<F> p = load_affine<F>(pw + i * words), q = load_affine<F>(qw + i * words);
        F denominator;
        pair_t kind = pair_denominator(denominator, p, q);
        F inverse = pop(shared, denominator, scratch[i]);
        store_affine(r + i * words, pair_sum(kind, p, q, inverse));
    }
}

} // namespace czk
