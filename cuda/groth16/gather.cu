// exports/groth16.h: gathering scalars. Two threads an element, 16 bytes each, so that writes of a warp are neighbours.
#include "exports/groth16.h"

#include "runtime/check.cuh"

namespace {

constexpr unsigned block_threads = 256;

__global__ void gather_kernel(uint4 *out, const uint4 *values, const uint32_t *slots, uint64_t halves) {
    uint64_t i = uint64_t(blockIdx.x) * block_threads + threadIdx.x;
    if (i < halves) out[i] = values[2 * uint64_t(slots[i / 2]) + i % 2];
}

} // namespace

extern "C" czk_status_t czk_gather(void *d_out, const void *d_values, const uint32_t *d_slots, uint64_t count,
                                   void *stream) {
    if (count == 0) return czk::ok();
    CZK_REQUIRE(d_out != nullptr && d_values != nullptr && d_slots != nullptr && count < (1ull << 32), CZK_INVALID);
    const uint64_t halves = 2 * count;
    CZK_LAUNCH(gather_kernel<<<unsigned((halves + block_threads - 1) / block_threads), block_threads, 0,
                               static_cast<cudaStream_t>(stream)>>>(
        static_cast<uint4 *>(d_out), static_cast<const uint4 *>(d_values), d_slots, halves));
    return czk::ok();
}
