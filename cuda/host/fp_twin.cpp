// The host twin of cuda/field/fp*: the same headers, compiled for the CPU, behind C functions for tests/cuda_fp.rs.
// Elements are passed as twelve words of digits.
#include "field/fp_convert.cuh"

#include <cstring>

using namespace czk;

namespace {

fp_t load(const uint32_t *w) {
    fp_t a;
    memcpy(a.w, w, sizeof a.w);
    return a;
}

void store(uint32_t *w, const fp_t &a) { memcpy(w, a.w, sizeof a.w); }

} // namespace

extern "C" {

void czk_host_fp_mul(uint32_t *r, const uint32_t *a, const uint32_t *b) { store(r, mul(load(a), load(b))); }
void czk_host_fp_sqr(uint32_t *r, const uint32_t *a) { store(r, sqr(load(a))); }
void czk_host_fp_add(uint32_t *r, const uint32_t *a, const uint32_t *b) { store(r, add(load(a), load(b))); }
void czk_host_fp_sub(uint32_t *r, const uint32_t *a, const uint32_t *b) { store(r, sub(load(a), load(b))); }
void czk_host_fp_neg(uint32_t *r, const uint32_t *a) { store(r, neg(load(a))); }
void czk_host_fp_dbl(uint32_t *r, const uint32_t *a) { store(r, dbl(load(a))); }
void czk_host_fp_inv(uint32_t *r, const uint32_t *a) { store(r, inv(load(a))); }
int32_t czk_host_fp_is_zero(const uint32_t *a) { return is_zero(load(a)); }
int32_t czk_host_fp_eq(const uint32_t *a, const uint32_t *b) { return eq(load(a), load(b)); }
void czk_host_fp_sub_sum(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c) {
    store(r, sub_sum(load(a), load(b), load(c)));
}
void czk_host_fp_sqr_sub(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c) {
    store(r, sqr_sub(load(a), load(b), load(c)));
}
void czk_host_fp_mul_sub(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c) {
    store(r, mul_sub(load(a), load(b), load(c)));
}
void czk_host_fp_constant(uint32_t *r, int32_t which) {
    store(r, which == 0 ? zero<fp_t>() : which == 1 ? one<fp_t>() : curve_b<fp_t>());
}
void czk_host_fp_normalise_constants(int32_t *reciprocal, int32_t *bias) {
    *reciprocal = quotient_reciprocal;
    *bias = quotient_bias;
}
void czk_host_fp_from_canonical(uint32_t *r, const uint32_t *v) {
    fp_t a;
    from_canonical(a, v);
    store(r, a);
}
void czk_host_fp_from_montgomery(uint32_t *r, const uint32_t *v) {
    fp_t a;
    from_montgomery(a, v);
    store(r, a);
}
void czk_host_fp_to_canonical(uint32_t *v, const uint32_t *a) { to_canonical(v, load(a)); }
void czk_host_fp_to_montgomery(uint32_t *v, const uint32_t *a) { to_montgomery(v, load(a)); }
int32_t czk_host_fp_from_be_words(uint32_t *r, const uint32_t *bytes) {
    fp_t a;
    bool below = from_be_words(a, bytes);
    store(r, a);
    return below;
}
void czk_host_fp_to_be_words(uint32_t *bytes, const uint32_t *a) { to_be_words(bytes, load(a)); }

} // extern "C"
