// exports/ntt.h: tables, transforms, the quotient, and conversion of vectors.
#include "exports/ntt.h"

#include "ntt/plan.cuh"
#include "runtime/check.cuh"
#include "runtime/pacer.cuh"

namespace czk {
namespace {

// Two blocks of 64 KiB and 256 threads of 128 registers on a multiprocessor; three with 80 registers, butterflies then
// through shared memory, were 3 % slower. lg_rows: the digit's size where it is known when compiling, which saves 3 %, or 0.
// Folding passes are a kernel of their own: they take more shared memory, which the others would miss as L1.
template <uint32_t lg_rows, bool fold>
__global__ void __launch_bounds__(NTT_THREADS, 2) ntt_pass_kernel(const __grid_constant__ ntt_pass_t pass) {
    ntt_pass_t p = pass;
    if (lg_rows != 0) p.lg_rows = lg_rows;
    p.fold = fold;
    extern __shared__ half_t memory[];
    ntt_shared_t &s = *reinterpret_cast<ntt_shared_t *>(memory);
    ntt_eight_t eight, *own = &eight;
    ntt_block(
        p, s, blockIdx.x,
        [](auto phase) {
            phase(threadIdx.x);
            __syncthreads();
        },
        [own](uint32_t) -> ntt_eight_t & { return *own; });
}

__global__ void ntt_hi_kernel(fr_rows_t *hi) {
    uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
    hi[n] = fr_rows(fr_pow(fr_root(), uint64_t(n) << (32 - NTT_LG_HI)));
}

__global__ void ntt_local_kernel(half_t *local) {
    uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < NTT_LOCAL_ENTRIES) ntt_local_entry(local, n);
}

// Table blockIdx.y of lo, with its constant (plan.cuh).
__global__ void ntt_lo_kernel(fr_rows_t *lo) {
    uint32_t n = blockIdx.x * blockDim.x + threadIdx.x, table = blockIdx.y;
    fr_t power = fr_pow(fr_root(), uint64_t(n) << (32 - NTT_LG_ORDER));
    lo[(size_t(table) << NTT_LG_LO) + n] = fr_rows(fr_mul(ntt_lo_constant(table), power));
}

__global__ void fr_from_canonical_kernel(fr_t *out, const fr_t *in, uint64_t count) {
    uint64_t n = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n < count) ntt_store(out + n, fr_from_canonical(ntt_load(in + n).w));
}

__global__ void fr_from_montgomery_kernel(fr_t *out, const fr_t *in, uint64_t count) {
    uint64_t n = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n < count) ntt_store(out + n, fr_from_montgomery(ntt_load(in + n).w));
}

__global__ void fr_to_canonical_kernel(fr_t *out, const fr_t *in, uint64_t count) {
    uint64_t n = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (n >= count) return;
    fr_t c;
    fr_to_canonical(c.w, ntt_load(in + n));
    ntt_store(out + n, c);
}

cudaStream_t stream_of(void *stream) { return static_cast<cudaStream_t>(stream); }

czk_status_t run(const ntt_plan_t &plan, cudaStream_t stream, pacer_t &pacer) {
    for (uint32_t k = 0; k < plan.count; k++) {
        const ntt_pass_t &p = plan.passes[k];
        auto kernel = p.lg_rows < NTT_LG_DIGIT ? ntt_pass_kernel<0, false>
                      : p.fold                 ? ntt_pass_kernel<NTT_LG_DIGIT, true>
                                               : ntt_pass_kernel<NTT_LG_DIGIT, false>;
        CZK_LAUNCH(kernel<<<ntt_tiles(p), NTT_THREADS, ntt_shared_bytes(p), stream>>>(p));
        // About 10 ms for 2^27 points on 132 multiprocessors; slower cards are asked later, never less often than due.
        CZK_TRY(pacer.launched(double(1ull << p.lg_size) / 1e7));
    }
    return ok();
}

// Shared memory for two blocks of 64 or 80 KiB out of 228; the rest is L1, where the twiddles between stages are.
template <uint32_t lg_rows, bool fold> czk_status_t prepare_kernel() {
    auto kernel = ntt_pass_kernel<lg_rows, fold>;
    constexpr int bytes = fold ? sizeof(ntt_shared_t) : NTT_SHARED_BYTES, percent = fold ? 72 : 58;
    CZK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    CZK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    return ok();
}

czk_status_t prepare() {
    CZK_TRY((prepare_kernel<0, false>()));
    CZK_TRY((prepare_kernel<NTT_LG_DIGIT, false>()));
    CZK_TRY((prepare_kernel<NTT_LG_DIGIT, true>()));
    return ok();
}

} // namespace
} // namespace czk

using namespace czk;

extern "C" {

uint64_t czk_ntt_tables_bytes(void) { return NTT_TABLES_BYTES; }

czk_status_t czk_ntt_tables(void *d_tables, void *stream) {
    CZK_REQUIRE(d_tables != nullptr, CZK_INVALID);
    char *bytes = static_cast<char *>(d_tables);
    auto *hi = reinterpret_cast<fr_rows_t *>(bytes);
    auto *lo = reinterpret_cast<fr_rows_t *>(bytes + NTT_HI_BYTES);
    auto *local = reinterpret_cast<half_t *>(bytes + NTT_HI_BYTES + NTT_LO_BYTES);
    CZK_TRY(prepare());
    CZK_LAUNCH(ntt_hi_kernel<<<(1u << NTT_LG_HI) / 128, 128, 0, stream_of(stream)>>>(hi));
    CZK_LAUNCH(ntt_lo_kernel<<<dim3((1u << NTT_LG_LO) / 128, NTT_LO_TABLES), 128, 0, stream_of(stream)>>>(lo));
    CZK_LAUNCH(ntt_local_kernel<<<NTT_LOCAL_ENTRIES / 128 + 1, 128, 0, stream_of(stream)>>>(local));
    return ok();
}

czk_status_t czk_ntt(const void *d_tables, void *d_data, void *d_out, uint32_t lg_size, uint32_t inverse,
                     uint32_t coset, void *stream, const czk_poll_t *poll) {
    CZK_REQUIRE(lg_size >= 1 && lg_size <= NTT_LG_MAX, CZK_INVALID);
    CZK_REQUIRE(d_tables != nullptr && d_data != nullptr && d_out != nullptr && d_data != d_out, CZK_INVALID);
    pacer_t pacer(poll, stream_of(stream));
    return run(ntt_plan_natural(ntt_tables_at(d_tables), lg_size, static_cast<fr_t *>(d_data),
                                static_cast<fr_t *>(d_out), inverse != 0, coset != 0),
               stream_of(stream), pacer);
}

czk_status_t czk_ntt_to_coset(const void *d_tables, void *d_data, uint32_t lg_size, void *stream,
                              const czk_poll_t *poll) {
    CZK_REQUIRE(lg_size >= 1 && lg_size <= NTT_LG_MAX && d_tables != nullptr && d_data != nullptr, CZK_INVALID);
    pacer_t pacer(poll, stream_of(stream));
    return run(ntt_plan_through(ntt_tables_at(d_tables), lg_size, static_cast<fr_t *>(d_data), NTT_TO_COSET),
               stream_of(stream), pacer);
}

czk_status_t czk_ntt_derivative(const void *d_tables, void *d_data, uint32_t lg_size, void *stream,
                                const czk_poll_t *poll) {
    CZK_REQUIRE(lg_size >= 1 && lg_size <= NTT_LG_MAX && d_tables != nullptr && d_data != nullptr, CZK_INVALID);
    pacer_t pacer(poll, stream_of(stream));
    return run(ntt_plan_through(ntt_tables_at(d_tables), lg_size, static_cast<fr_t *>(d_data), NTT_TIMES_INDEX),
               stream_of(stream), pacer);
}

czk_status_t czk_quotient(const void *d_tables, void *d_a, void *d_b, void *d_work, uint32_t lg_size, void **d_h,
                          void *stream, const czk_poll_t *poll) {
    CZK_REQUIRE(lg_size >= 1 && lg_size <= NTT_LG_MAX && d_tables != nullptr, CZK_INVALID);
    CZK_REQUIRE(d_a != d_b && d_a != d_work && d_b != d_work && d_a && d_b && d_work && d_h, CZK_INVALID);
    ntt_plan_t plans[NTT_QUOTIENT_PLANS];
    ntt_plan_quotient(plans, ntt_tables_at(d_tables), lg_size, static_cast<fr_t *>(d_a), static_cast<fr_t *>(d_b),
                      static_cast<fr_t *>(d_work));
    *d_h = plans[5].passes[0].out;
    pacer_t pacer(poll, stream_of(stream));
    for (const ntt_plan_t &plan : plans) CZK_TRY(run(plan, stream_of(stream), pacer));
    return ok();
}

czk_status_t czk_ntt_pass(const void *d_tables, void *d_data, uint32_t lg_size, uint32_t pass, uint64_t *butterflies,
                          void *stream) {
    CZK_REQUIRE(lg_size >= 1 && lg_size <= NTT_LG_MAX && d_tables != nullptr && d_data != nullptr, CZK_INVALID);
    ntt_plan_t whole = ntt_plan_through(ntt_tables_at(d_tables), lg_size, static_cast<fr_t *>(d_data), NTT_TO_COSET);
    CZK_REQUIRE(pass < whole.count, CZK_INVALID);
    ntt_plan_t one;
    one.passes[one.count++] = whole.passes[pass];
    *butterflies = (uint64_t(one.passes[0].lg_rows) << lg_size) / (one.passes[0].middle == NTT_NO_MIDDLE ? 2 : 1);
    pacer_t pacer(nullptr, stream_of(stream));
    return run(one, stream_of(stream), pacer);
}

czk_status_t czk_fr_from_canonical(void *d_out, const void *d_in, uint64_t count, void *stream) {
    if (count == 0) return ok();
    CZK_REQUIRE(d_out != nullptr && d_in != nullptr && count <= (1ull << 38), CZK_INVALID);
    CZK_LAUNCH(fr_from_canonical_kernel<<<uint32_t((count + 127) / 128), 128, 0, stream_of(stream)>>>(
        static_cast<fr_t *>(d_out), static_cast<const fr_t *>(d_in), count));
    return ok();
}

czk_status_t czk_fr_from_montgomery(void *d_out, const void *d_in, uint64_t count, void *stream) {
    if (count == 0) return ok();
    CZK_REQUIRE(d_out != nullptr && d_in != nullptr && count <= (1ull << 38), CZK_INVALID);
    CZK_LAUNCH(fr_from_montgomery_kernel<<<uint32_t((count + 127) / 128), 128, 0, stream_of(stream)>>>(
        static_cast<fr_t *>(d_out), static_cast<const fr_t *>(d_in), count));
    return ok();
}

czk_status_t czk_fr_to_canonical(void *d_out, const void *d_in, uint64_t count, void *stream) {
    if (count == 0) return ok();
    CZK_REQUIRE(d_out != nullptr && d_in != nullptr && count <= (1ull << 38), CZK_INVALID);
    CZK_LAUNCH(fr_to_canonical_kernel<<<uint32_t((count + 127) / 128), 128, 0, stream_of(stream)>>>(
        static_cast<fr_t *>(d_out), static_cast<const fr_t *>(d_in), count));
    return ok();
}

} // extern "C"
