// exports/curve.h. One thread a point; a launch covers at most 2^22 points, a few milliseconds.
#include "curve/xyzz.cuh"
#include "exports/curve.h"
#include "runtime/check.cuh"

using namespace czk;

namespace {

constexpr unsigned block_threads = 128;
constexpr uint64_t launch_points = uint64_t(1) << 22;

constexpr uint32_t flags_mask = 0xe0, infinity_flag = 0x40; // in the first byte: the low byte of the first word

// Whether the bytes are a point, which becomes p; otherwise p is infinity.
template <typename F> __device__ bool decode(affine_t<F> &p, const uint32_t *bytes) {
    constexpr int words = sizeof(F) / 4;
    uint32_t w[2 * words];
#pragma unroll
    for (int i = 0; i < 2 * words; i++) w[i] = bytes[i];
    uint32_t flags = w[0] & flags_mask;
    w[0] &= ~flags_mask;
    if (flags != 0) {
        uint32_t any = 0;
#pragma unroll
        for (int i = 0; i < 2 * words; i++) any |= w[i];
        p = infinity<F>();
        return flags == infinity_flag && any == 0;
    }
    bool below = from_be_words(p.x, w);
    below = from_be_words(p.y, w + words) && below;
    if (below && is_on_curve(p)) return true;
    p = infinity<F>();
    return false;
}

template <typename F>
__global__ void __launch_bounds__(block_threads)
    load_kernel(affine_t<F> *points, const uint32_t *bytes, uint64_t count, uint64_t base, uint64_t *first_bad) {
    uint64_t i = uint64_t(blockIdx.x) * block_threads + threadIdx.x;
    if (i >= count) return;
    affine_t<F> p;
    if (!decode(p, bytes + i * (sizeof(affine_t<F>) / 4))) {
        atomicMin(reinterpret_cast<unsigned long long *>(first_bad), base + i);
    }
    points[i] = p;
}

template <typename F>
__global__ void __launch_bounds__(block_threads)
    store_kernel(uint32_t *bytes, const affine_t<F> *points, uint64_t count) {
    constexpr int words = sizeof(F) / 4;
    uint64_t i = uint64_t(blockIdx.x) * block_threads + threadIdx.x;
    if (i >= count) return;
    affine_t<F> p = points[i];
    uint32_t w[2 * words];
    if (is_infinity(p)) {
#pragma unroll
        for (int j = 0; j < 2 * words; j++) w[j] = j == 0 ? infinity_flag : 0;
    } else {
        to_be_words(w, p.x);
        to_be_words(w + words, p.y);
    }
#pragma unroll
    for (int j = 0; j < 2 * words; j++) bytes[i * 2 * words + j] = w[j];
}

template <typename F>
__global__ void __launch_bounds__(block_threads)
    jacobian_kernel(uint32_t *jacobian, const xyzz_t<F> *points, uint64_t count) {
    constexpr int words = sizeof(F) / 4;
    uint64_t i = uint64_t(blockIdx.x) * block_threads + threadIdx.x;
    if (i >= count) return;
    xyzz_t<F> p = points[i];
    F x = zero<F>(), y = one<F>(), z = zero<F>();
    if (!is_infinity(p)) to_jacobian(x, y, z, p);
    to_montgomery(jacobian + i * 3 * words, x);
    to_montgomery(jacobian + i * 3 * words + words, y);
    to_montgomery(jacobian + i * 3 * words + 2 * words, z);
}

unsigned blocks_for(uint64_t count) { return unsigned((count + block_threads - 1) / block_threads); }

template <typename F>
czk_status_t load(void *d_points, const void *d_bytes, uint64_t count, uint64_t base, uint64_t *d_first_bad,
                  cudaStream_t stream) {
    auto *points = static_cast<affine_t<F> *>(d_points);
    auto *bytes = static_cast<const uint32_t *>(d_bytes);
    for (uint64_t i = 0; i < count; i += launch_points) {
        uint64_t n = count - i < launch_points ? count - i : launch_points;
        CZK_LAUNCH(load_kernel<F><<<blocks_for(n), block_threads, 0, stream>>>(
            points + i, bytes + i * (sizeof(affine_t<F>) / 4), n, base + i, d_first_bad));
    }
    return ok();
}

template <typename F>
czk_status_t store(void *d_bytes, const void *d_points, uint64_t count, cudaStream_t stream) {
    if (count == 0) return ok();
    CZK_REQUIRE(count <= launch_points * 64, CZK_INVALID);
    CZK_LAUNCH(store_kernel<F><<<blocks_for(count), block_threads, 0, stream>>>(
        static_cast<uint32_t *>(d_bytes), static_cast<const affine_t<F> *>(d_points), count));
    return ok();
}

template <typename F>
czk_status_t to_jacobian(void *d_jacobian, const void *d_xyzz, uint64_t count, cudaStream_t stream) {
    if (count == 0) return ok();
    CZK_REQUIRE(count <= launch_points, CZK_INVALID);
    CZK_LAUNCH(jacobian_kernel<F><<<blocks_for(count), block_threads, 0, stream>>>(
        static_cast<uint32_t *>(d_jacobian), static_cast<const xyzz_t<F> *>(d_xyzz), count));
    return ok();
}

} // namespace

extern "C" {

czk_status_t czk_g1_load(void *d_points, const void *d_bytes, uint64_t count, uint64_t base, uint64_t *d_first_bad,
                         void *stream) {
    return load<fp_t>(d_points, d_bytes, count, base, d_first_bad, cudaStream_t(stream));
}
czk_status_t czk_g2_load(void *d_points, const void *d_bytes, uint64_t count, uint64_t base, uint64_t *d_first_bad,
                         void *stream) {
    return load<fp2_t>(d_points, d_bytes, count, base, d_first_bad, cudaStream_t(stream));
}
czk_status_t czk_g1_store(void *d_bytes, const void *d_points, uint64_t count, void *stream) {
    return store<fp_t>(d_bytes, d_points, count, cudaStream_t(stream));
}
czk_status_t czk_g2_store(void *d_bytes, const void *d_points, uint64_t count, void *stream) {
    return store<fp2_t>(d_bytes, d_points, count, cudaStream_t(stream));
}
czk_status_t czk_g1_to_jacobian(void *d_jacobian, const void *d_xyzz, uint64_t count, void *stream) {
    return to_jacobian<fp_t>(d_jacobian, d_xyzz, count, cudaStream_t(stream));
}
czk_status_t czk_g2_to_jacobian(void *d_jacobian, const void *d_xyzz, uint64_t count, void *stream) {
    return to_jacobian<fp2_t>(d_jacobian, d_xyzz, count, cudaStream_t(stream));
}

} // extern "C"
