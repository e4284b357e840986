// The host twin of cuda/curve, behind C functions for tests/cuda_curve.rs.
#include "testing/curve_ops.cuh"

#include <vector>

using namespace czk;

extern "C" {

void czk_host_g1_op(int32_t op, uint32_t *r, const uint32_t *p, const uint32_t *q, const uint32_t *z) {
    curve_op<fp_t>(op, r, p, q, z);
}
void czk_host_g2_op(int32_t op, uint32_t *r, const uint32_t *p, const uint32_t *q, const uint32_t *z) {
    curve_op<fp2_t>(op, r, p, q, z);
}
void czk_host_g1_jacobian(uint32_t *r, const uint32_t *p, const uint32_t *z) { jacobian_op<fp_t>(r, p, z); }
void czk_host_g2_jacobian(uint32_t *r, const uint32_t *p, const uint32_t *z) { jacobian_op<fp2_t>(r, p, z); }
void czk_host_g1_batch(uint32_t *r, const uint32_t *p, const uint32_t *q, uint64_t count) {
    std::vector<fp_t> scratch(count);
    batch_op<fp_t>(r, p, q, count, scratch.data());
}
void czk_host_g2_batch(uint32_t *r, const uint32_t *p, const uint32_t *q, uint64_t count) {
    std::vector<fp2_t> scratch(count);
    batch_op<fp2_t>(r, p, q, count, scratch.data());
}

} // extern "C"
