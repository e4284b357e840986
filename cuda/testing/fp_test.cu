// exports/testing.h: operations of the field and the curves, one thread each.
#include "exports/testing.h"
#include "runtime/check.cuh"
#include "testing/curve_ops.cuh"
#include "testing/fp_ops.cuh"

using namespace czk;

namespace {

constexpr unsigned block_threads = 64;

unsigned blocks_for(uint64_t count) { return unsigned((count + block_threads - 1) / block_threads); }

__global__ void fp_kernel(int32_t op, uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                          uint64_t count) {
    uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) fp_op(op, r + 12 * i, a + 12 * i, b + 12 * i, c + 12 * i);
}

__global__ void fp2_kernel(int32_t op, uint32_t *r, const uint32_t *a, const uint32_t *b, uint64_t count) {
    uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) fp2_op(op, r + 24 * i, a + 24 * i, b + 24 * i);
}

template <typename F>
__global__ void curve_kernel(int32_t op, uint32_t *r, const uint32_t *p, const uint32_t *q, const uint32_t *z,
                             uint64_t count) {
    constexpr int words = words_of<F>;
    uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) curve_op<F>(op, r + 2 * words * i, p + 2 * words * i, q + 2 * words * i, z + words * i);
}

template <typename F>
__global__ void batch_kernel(uint32_t *r, const uint32_t *p, const uint32_t *q, uint64_t count, uint64_t per_thread,
                             F *scratch) {
    constexpr int words = 2 * words_of<F>;
    uint64_t first = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) * per_thread;
    if (first >= count) return;
    uint64_t pairs = count - first < per_thread ? count - first : per_thread;
    batch_op<F>(r + first * words, p + first * words, q + first * words, pairs, scratch + first);
}

template <typename F> __global__ void xyzz_kernel(xyzz_t<F> *xyzz, const uint32_t *p, const uint32_t *z, uint64_t count) {
    constexpr int words = words_of<F>;
    uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= count) return;
    F scale;
    from_montgomery(scale, z + words * i);
    xyzz[i] = scaled(load_affine<F>(p + 2 * words * i), scale);
}

} // namespace

extern "C" {

czk_status_t czk_test_fp(int32_t op, uint32_t *d_r, const uint32_t *d_a, const uint32_t *d_b, const uint32_t *d_c,
                         uint64_t count, void *stream) {
    CZK_REQUIRE(count > 0, CZK_INVALID);
    CZK_LAUNCH(fp_kernel<<<blocks_for(count), block_threads, 0, cudaStream_t(stream)>>>(op, d_r, d_a, d_b, d_c, count));
    return ok();
}

czk_status_t czk_test_fp2(int32_t op, uint32_t *d_r, const uint32_t *d_a, const uint32_t *d_b, uint64_t count,
                          void *stream) {
    CZK_REQUIRE(count > 0, CZK_INVALID);
    CZK_LAUNCH(fp2_kernel<<<blocks_for(count), block_threads, 0, cudaStream_t(stream)>>>(op, d_r, d_a, d_b, count));
    return ok();
}

czk_status_t czk_test_curve(int32_t group, int32_t op, uint32_t *d_r, const uint32_t *d_p, const uint32_t *d_q,
                            const uint32_t *d_z, uint64_t count, void *stream) {
    CZK_REQUIRE(count > 0 && (group == 1 || group == 2), CZK_INVALID);
    auto kernel = group == 1 ? curve_kernel<fp_t> : curve_kernel<fp2_t>;
    CZK_LAUNCH(kernel<<<blocks_for(count), block_threads, 0, cudaStream_t(stream)>>>(op, d_r, d_p, d_q, d_z, count));
    return ok();
}

czk_status_t czk_test_batch(int32_t group, uint32_t *d_r, const uint32_t *d_p, const uint32_t *d_q, uint64_t count,
                            uint64_t per_thread, void *d_scratch, void *stream) {
    CZK_REQUIRE(count > 0 && per_thread > 0 && (group == 1 || group == 2), CZK_INVALID);
    unsigned blocks = blocks_for((count + per_thread - 1) / per_thread);
    if (group == 1) {
        CZK_LAUNCH(batch_kernel<fp_t><<<blocks, block_threads, 0, cudaStream_t(stream)>>>(
            d_r, d_p, d_q, count, per_thread, static_cast<fp_t *>(d_scratch)));
    } else {
        CZK_LAUNCH(batch_kernel<fp2_t><<<blocks, block_threads, 0, cudaStream_t(stream)>>>(
            d_r, d_p, d_q, count, per_thread, static_cast<fp2_t *>(d_scratch)));
    }
    return ok();
}

czk_status_t czk_test_xyzz(int32_t group, void *d_xyzz, const uint32_t *d_p, const uint32_t *d_z, uint64_t count,
                           void *stream) {
    CZK_REQUIRE(count > 0 && (group == 1 || group == 2), CZK_INVALID);
    if (group == 1) {
        CZK_LAUNCH(xyzz_kernel<fp_t><<<blocks_for(count), block_threads, 0, cudaStream_t(stream)>>>(
            static_cast<g1_xyzz_t *>(d_xyzz), d_p, d_z, count));
    } else {
        CZK_LAUNCH(xyzz_kernel<fp2_t><<<blocks_for(count), block_threads, 0, cudaStream_t(stream)>>>(
            static_cast<g2_xyzz_t *>(d_xyzz), d_p, d_z, count));
    }
    return ok();
}

} // extern "C"
