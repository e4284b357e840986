// The host twin of cuda/field/fp*: the same headers, compiled for the CPU, behind C functions for tests/cuda_fp.rs.
#include "field/fp_mont.cuh"
#include "testing/fp_ops.cuh"

extern "C" {

void czk_host_fp_op(int32_t op, uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c) {
    czk::fp_op(op, r, a, b, c);
}

void czk_host_fp2_op(int32_t op, uint32_t *r, const uint32_t *a, const uint32_t *b) { czk::fp2_op(op, r, a, b); }

// a b / 2^384 of Montgomery words.
void czk_host_fp_mont_mul(uint32_t *r, const uint32_t *a, const uint32_t *b) {
    czk::fp_mont_t x, y;
    for (int i = 0; i < 12; i++) {
        x.w[i] = a[i];
        y.w[i] = b[i];
    }
    x = czk::mul(x, y);
    for (int i = 0; i < 12; i++) r[i] = x.w[i];
}

void czk_host_fp_normalise_constants(int32_t *reciprocal, int32_t *bias) {
    *reciprocal = czk::quotient_reciprocal;
    *bias = czk::quotient_bias;
}

} // extern "C"
