// The host twin of cuda/curve, behind C functions for tests/cuda_curve.rs. Points are passed in affine Montgomery form with
// factor 2^384, as host libraries keep them: 24 words in G1, 48 in G2, all zero for infinity.
#include "curve/batch.cuh"
#include "curve/xyzz.cuh"

#include <cstring>
#include <vector>

using namespace czk;

namespace {

template <typename F> constexpr int words = sizeof(F) / 4;

template <typename F> affine_t<F> load(const uint32_t *w) {
    uint32_t any = 0;
    for (int i = 0; i < 2 * words<F>; i++) any |= w[i];
    affine_t<F> p = infinity<F>();
    if (any == 0) return p;
    from_montgomery(p.x, w);
    from_montgomery(p.y, w + words<F>);
    return p;
}

template <typename F> void store(uint32_t *w, const affine_t<F> &p) {
    memset(w, 0, 2 * sizeof(F));
    if (is_infinity(p)) return;
    to_montgomery(w, p.x);
    to_montgomery(w + words<F>, p.y);
}

// p with ZZ = z^2, ZZZ = z^3.
template <typename F> xyzz_t<F> scaled(const affine_t<F> &p, const F &z) {
    if (is_infinity(p)) return xyzz_infinity<F>();
    F zz = sqr(z), zzz = mul(zz, z);
    return xyzz_t<F>{mul(p.x, zz), mul(p.y, zzz), zz, zzz};
}

template <typename F> affine_t<F> pairwise(const affine_t<F> &p, const affine_t<F> &q) {
    F denominator;
    pair_t kind = pair_denominator(denominator, p, q);
    return pair_sum(kind, p, q, inv(denominator));
}

// op: 0 madd, 1 add, 2 dbl of XYZZ, 3 dbl of affine, 4 affine pair, 5 neg of affine, 6 neg of XYZZ.
template <typename F> void op(int32_t op, uint32_t *r, const uint32_t *pw, const uint32_t *qw, const uint32_t *zw) {
    affine_t<F> p = load<F>(pw), q = load<F>(qw);
    F z;
    from_montgomery(z, zw);
    switch (op) {
    case 0: return store(r, to_affine(madd(scaled(p, z), q)));
    case 1: return store(r, to_affine(add(scaled(p, z), scaled(q, add(z, one<F>())))));
    case 2: return store(r, to_affine(dbl(scaled(p, z))));
    case 3: return store(r, to_affine(dbl(p)));
    case 4: return store(r, pairwise(p, q));
    case 5: return store(r, neg(p));
    default: return store(r, to_affine(neg(scaled(p, z))));
    }
}

template <typename F> void jacobian(uint32_t *r, const uint32_t *pw, const uint32_t *zw) {
    F z, x, y, jz;
    from_montgomery(z, zw);
    to_jacobian(x, y, jz, scaled(load<F>(pw), z));
    to_montgomery(r, x);
    to_montgomery(r + words<F>, y);
    to_montgomery(r + 2 * words<F>, jz);
}

// r[i] = p[i] + q[i] for all i with one inversion.
template <typename F> void batch(uint32_t *r, const uint32_t *pw, const uint32_t *qw, uint64_t count) {
    std::vector<affine_t<F>> p(count), q(count);
    std::vector<F> before(count), denominator(count);
    std::vector<pair_t> kind(count);
    auto shared = shared_inversion_t<F>::begin();
    for (uint64_t i = 0; i < count; i++) {
        p[i] = load<F>(pw + i * 2 * words<F>);
        q[i] = load<F>(qw + i * 2 * words<F>);
        kind[i] = pair_denominator(denominator[i], p[i], q[i]);
        before[i] = push(shared, denominator[i]);
    }
    invert(shared);
    for (uint64_t i = count; i-- > 0;) {
        F inverse = pop(shared, denominator[i], before[i]);
        store(r + i * 2 * words<F>, pair_sum(kind[i], p[i], q[i], inverse));
    }
}

} // namespace

extern "C" {

void czk_host_g1_op(int32_t which, uint32_t *r, const uint32_t *p, const uint32_t *q, const uint32_t *z) {
    op<fp_t>(which, r, p, q, z);
}
void czk_host_g2_op(int32_t which, uint32_t *r, const uint32_t *p, const uint32_t *q, const uint32_t *z) {
    op<fp2_t>(which, r, p, q, z);
}
void czk_host_g1_jacobian(uint32_t *r, const uint32_t *p, const uint32_t *z) { jacobian<fp_t>(r, p, z); }
void czk_host_g2_jacobian(uint32_t *r, const uint32_t *p, const uint32_t *z) { jacobian<fp2_t>(r, p, z); }
void czk_host_g1_batch(uint32_t *r, const uint32_t *p, const uint32_t *q, uint64_t count) {
    batch<fp_t>(r, p, q, count);
}
void czk_host_g2_batch(uint32_t *r, const uint32_t *p, const uint32_t *q, uint64_t count) {
    batch<fp2_t>(r, p, q, count);
}
int32_t czk_host_g1_is_on_curve(const uint32_t *p) { return is_on_curve(load<fp_t>(p)); }
int32_t czk_host_g2_is_on_curve(const uint32_t *p) { return is_on_curve(load<fp2_t>(p)); }

// op: 0 mul, 1 sqr, 2 add, 3 sub, 4 neg, 5 dbl, 6 inv, 7 mul_sub(a, b, a), 8 sqr_sub(a, b, b).
void czk_host_fp2_op(int32_t which, uint32_t *r, const uint32_t *aw, const uint32_t *bw) {
    fp2_t a, b, c;
    from_montgomery(a, aw);
    from_montgomery(b, bw);
    switch (which) {
    case 0: c = mul(a, b); break;
    case 1: c = sqr(a); break;
    case 2: c = add(a, b); break;
    case 3: c = sub(a, b); break;
    case 4: c = neg(a); break;
    case 5: c = dbl(a); break;
    case 6: c = inv(a); break;
    case 7: c = mul_sub(a, b, a); break;
    default: c = sqr_sub(a, b, b); break;
    }
    to_montgomery(r, c);
}
int32_t czk_host_fp2_eq(const uint32_t *aw, const uint32_t *bw) {
    fp2_t a, b;
    from_montgomery(a, aw);
    from_montgomery(b, bw);
    return eq(a, b) && is_zero(sub(a, b));
}

} // extern "C"
