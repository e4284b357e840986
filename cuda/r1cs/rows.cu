// exports/rows.h: rows times z.
#include "exports/rows.h"

#include "field/fr_convert.cuh"
#include "r1cs/rows.cuh"
#include "runtime/check.cuh"

namespace czk {
namespace {

constexpr uint32_t THREADS = 256;

// A thread per row, all repeats one after the other: what is stored of a row comes from the caches in every repeat but
// the first. Rows above `long_above` terms are left to rows_long_kernel.
__global__ void __launch_bounds__(THREADS, 3)
    rows_kernel(const __grid_constant__ rows_segment_t s, const __grid_constant__ rows_matrix_t m,
                const __grid_constant__ rows_z_t z, fr_t *out, uint32_t long_above) {
    uint32_t row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= s.row_count) return;
    if (rows_read(m.row_starts + row + 1) - rows_read(m.row_starts + row) > long_above) return;
#pragma unroll 1
    for (uint32_t t = 0; t < s.repeat_count; t++) {
        ntt_store(out + uint64_t(t) * s.row_count + row, rows_sum(s, m, z, row, t, 0, 1));
    }
}

__device__ fr_t rows_shuffle_down(const fr_t &u, int by) {
    fr_t out;
    for (int k = 0; k < 8; k++) out.w[k] = __shfl_down_sync(0xffffffff, u.w[k], by);
    return out;
}

// A warp per long row and repeat.
__global__ void __launch_bounds__(THREADS, 3)
    rows_long_kernel(const __grid_constant__ rows_segment_t s, const __grid_constant__ rows_matrix_t m,
                     const __grid_constant__ rows_z_t z, fr_t *out, const uint32_t *long_rows, uint32_t long_count) {
    uint64_t item = (uint64_t(blockIdx.x) * THREADS + threadIdx.x) / ROWS_LANES;
    if (item >= uint64_t(long_count) * s.repeat_count) return;
    uint32_t row = long_rows[item / s.repeat_count], t = uint32_t(item % s.repeat_count), lane = threadIdx.x % ROWS_LANES;
    fr_t sum = rows_sum(s, m, z, row, t, lane, ROWS_LANES);
#pragma unroll 1
    for (int by = ROWS_LANES / 2; by > 0; by /= 2) sum = fr_add(sum, rows_shuffle_down(sum, by));
    if (lane == 0) ntt_store(out + uint64_t(t) * s.row_count + row, sum);
}

__global__ void rows_dictionary_kernel(fr_rows_t *out, const fr_t *in, uint32_t count) {
    uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) out[n] = fr_rows(fr_from_canonical(ntt_load(in + n).w));
}

} // namespace
} // namespace czk

using namespace czk;

extern "C" {

czk_status_t czk_rows_dictionary(void *d_out, const void *d_canonical, uint32_t count, void *stream) {
    if (count == 0) return ok();
    CZK_REQUIRE(d_out != nullptr && d_canonical != nullptr && d_out != d_canonical, CZK_INVALID);
    CZK_LAUNCH(rows_dictionary_kernel<<<(count + 127) / 128, 128, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<fr_rows_t *>(d_out), static_cast<const fr_t *>(d_canonical), count));
    return ok();
}

czk_status_t czk_rows(const czk_rows_segment_t *segment, const czk_rows_matrix_t *matrix, const czk_rows_z_t *z,
                      void *d_out, void *stream) {
    CZK_REQUIRE(segment != nullptr && matrix != nullptr && z != nullptr, CZK_INVALID);
    CZK_REQUIRE(segment->repeat_count >= 1 && (d_out != nullptr || segment->row_count == 0), CZK_INVALID);
    if (segment->row_count == 0) return ok();
    rows_segment_t s = rows_segment(*segment);
    rows_matrix_t m = rows_matrix(*matrix);
    rows_z_t of = rows_z(*z);
    auto on = static_cast<cudaStream_t>(stream);
    fr_t *out = static_cast<fr_t *>(d_out);
    uint32_t long_above = matrix->long_count == 0 ? 0xffffffff : uint32_t(CZK_ROWS_LONG);
    CZK_LAUNCH(rows_kernel<<<(s.row_count + THREADS - 1) / THREADS, THREADS, 0, on>>>(s, m, of, out, long_above));
    if (matrix->long_count > 0) {
        uint64_t warps = uint64_t(matrix->long_count) * s.repeat_count;
        uint64_t blocks = (warps * ROWS_LANES + THREADS - 1) / THREADS;
        CZK_REQUIRE(blocks < (1ull << 31), CZK_INVALID);
        CZK_LAUNCH(rows_long_kernel<<<uint32_t(blocks), THREADS, 0, on>>>(s, m, of, out, matrix->d_long_rows,
                                                                         matrix->long_count));
    }
    return ok();
}

} // extern "C"
