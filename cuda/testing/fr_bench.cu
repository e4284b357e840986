// Rates of Fr arithmetic: chains of operations in registers on all multiprocessors, for benches alone.
#include "exports/fr_bench.h"

#include "field/fr_convert.cuh"
#include "field/fr_mont.cuh"
#include "ntt/butterfly.cuh"
#include "ntt/pass.cuh"
#include "runtime/check.cuh"

namespace czk {
namespace {

constexpr uint32_t THREADS = 256;

template <class T> __device__ __forceinline__ T load_own(const void *from, uint32_t n) {
    T out;
    const uint4 *in = reinterpret_cast<const uint4 *>(static_cast<const T *>(from) + n);
    uint4 *to = reinterpret_cast<uint4 *>(&out);
#pragma unroll
    for (uint32_t k = 0; k < sizeof(T) / 16; k++) to[k] = in[k];
    return out;
}

template <int kind> __global__ void __launch_bounds__(THREADS, 2) fr_bench_kernel(fr_t *data, uint32_t rounds) {
    uint32_t n = blockIdx.x * THREADS + threadIdx.x;
    if constexpr (kind == CZK_FR_BENCH_MONTGOMERY) {
        fr_mont_t u = load_own<fr_mont_t>(data, n), v = u, r = fr_mont_modulus();
        // Not uniform over a warp as far as the compiler can tell: it splits wide products by uniform registers.
        for (int k = 0; k < 8; k++) r.w[k] += n >> 31;
#pragma unroll 1
        for (uint32_t k = 0; k < rounds; k++) u = fr_mont_mul(u, v, r);
        for (int k = 0; k < 8; k++) data[n].w[k] = u.w[k];
    } else if constexpr (kind == CZK_FR_BENCH_TWIDDLE) {
        fr_t u = load_own<fr_t>(data, n);
        fr_twiddle_t t = fr_twiddle(u);
#pragma unroll 1
        for (uint32_t k = 0; k < rounds; k++) u = fr_mul(u, t);
        ntt_store(data + n, u);
    } else if constexpr (kind == CZK_FR_BENCH_ROWS) {
        fr_t u = load_own<fr_t>(data, n);
        fr_rows_t t = fr_rows(u);
#pragma unroll 1
        for (uint32_t k = 0; k < rounds; k++) u = fr_mul(u, t);
        ntt_store(data + n, u);
    } else if constexpr (kind == CZK_FR_BENCH_GENERAL) {
        fr_t u = load_own<fr_t>(data, n), v = u;
#pragma unroll 1
        for (uint32_t k = 0; k < rounds; k++) {
            fr_t next = fr_mul(u, v);
            v = u;
            u = next;
        }
        ntt_store(data + n, u);
    } else if constexpr (kind == CZK_FR_BENCH_ADD) {
        fr_t u = load_own<fr_t>(data, n), v = u;
#pragma unroll 1
        for (uint32_t k = 0; k < rounds; k++) {
            fr_t next = fr_add(u, v);
            v = u;
            u = next;
        }
        ntt_store(data + n, u);
    } else {
        fr_t a[8];
        a[0] = load_own<fr_t>(data, n);
        for (int k = 1; k < 8; k++) a[k] = fr_add(a[k - 1], a[0]);
#pragma unroll 1
        for (uint32_t k = 0; k < rounds; k++) butterfly_8(a);
        for (int k = 1; k < 8; k++) a[0] = fr_add(a[0], a[k]);
        ntt_store(data + n, a[0]);
    }
}

template <int kind> czk_status_t launch(fr_t *data, uint32_t blocks, uint32_t rounds, cudaStream_t stream) {
    CZK_LAUNCH(fr_bench_kernel<kind><<<blocks, THREADS, 0, stream>>>(data, rounds));
    return ok();
}

} // namespace
} // namespace czk

extern "C" czk_status_t czk_fr_bench(int32_t kind, void *d_data, uint32_t blocks, uint32_t rounds, void *stream) {
    auto *data = static_cast<czk::fr_t *>(d_data);
    auto on = static_cast<cudaStream_t>(stream);
    switch (kind) {
    case CZK_FR_BENCH_MONTGOMERY: return czk::launch<CZK_FR_BENCH_MONTGOMERY>(data, blocks, rounds, on);
    case CZK_FR_BENCH_TWIDDLE: return czk::launch<CZK_FR_BENCH_TWIDDLE>(data, blocks, rounds, on);
    case CZK_FR_BENCH_ROWS: return czk::launch<CZK_FR_BENCH_ROWS>(data, blocks, rounds, on);
    case CZK_FR_BENCH_GENERAL: return czk::launch<CZK_FR_BENCH_GENERAL>(data, blocks, rounds, on);
    case CZK_FR_BENCH_ADD: return czk::launch<CZK_FR_BENCH_ADD>(data, blocks, rounds, on);
    case CZK_FR_BENCH_BUTTERFLY_8: return czk::launch<CZK_FR_BENCH_BUTTERFLY_8>(data, blocks, rounds, on);
    default: return czk::fail(CZK_INVALID, "kind", "unknown", __FILE__, __LINE__);
    }
}
