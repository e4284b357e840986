// czk_bench_field: arithmetic alone, long dependent chains in registers on a full device.
#include "curve/batch.cuh"
#include "curve/xyzz.cuh"
#include "exports/testing.h"
#include "field/fp_mont.cuh"
#include "runtime/check.cuh"

using namespace czk;

namespace {

enum bench_t {
    bench_mont_mul,        // the yardstick, as a call
    bench_mont_mul_inline, // in place
    bench_mul,             // as a call
    bench_mul_inline,      // in place
    bench_sqr,             // as a call
    bench_sqr_inline,      // in place
    bench_step,            // 5 mul, 1 sqr, 6 sub of an affine addition, tests for special pairs included
    bench_step_arithmetic, // the same without tests
    bench_madd,            // XYZZ mixed addition in G1
    bench_fp2_mul,
    bench_fp2_sqr,
    bench_fp2_step,
    bench_sub,
    bench_inv,
    bench_count,
};

constexpr unsigned block_threads = 128;
constexpr uint64_t words_per_thread = 48;

// What a thread starts from and leaves behind, so that nothing is optimised away.
template <typename T> __device__ T &thread_data(uint32_t *words) {
    uint64_t thread = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    return *reinterpret_cast<T *>(words + thread * words_per_thread);
}

template <typename F, typename Op> __device__ void chain(uint32_t *words, int iterations, Op op) {
    struct pair {
        F x, y;
    };
    static_assert(sizeof(pair) <= words_per_thread * 4, "fits");
    pair &data = thread_data<pair>(words);
    F x = data.x, y = data.y;
#pragma unroll 1
    for (int i = 0; i < iterations; i++) x = op(x, y);
    data.x = x;
}

// One affine addition as batched additions do them, next = p + q, then q = p and p = next, so that no two steps see the
// same points; the running product stands for the prefix products and their inverse.
template <typename F, bool tested> __device__ void step_chain(uint32_t *words, int iterations) {
    affine_t<F> p = thread_data<affine_t<F>>(words), q = p;
    q.x = add(q.x, one<F>());
    F product = p.y;
#pragma unroll 1
    for (int i = 0; i < iterations; i++) {
        F denominator = sub(q.x, p.x);
        pair_t kind = pair_t::sum;
        if (tested) kind = pair_denominator(denominator, p, q);
        shared_inversion_t<F> shared{product};
        F before = push(shared, denominator);
        F inverse = pop(shared, denominator, before);
        product = shared.product;
        affine_t<F> r;
        if (tested) {
            r = pair_sum(kind, p, q, inverse);
        } else {
            F slope = mul(sub(q.y, p.y), inverse);
            r.x = sqr_sub(slope, p.x, q.x);
            r.y = mul_sub(slope, sub(p.x, r.x), p.y);
        }
        q = p;
        p = r;
    }
    thread_data<affine_t<F>>(words) = p;
}

// min_blocks: how many blocks of 128 threads the registers must leave room for on a multiprocessor.
template <int which, int min_blocks>
__global__ void __launch_bounds__(block_threads, min_blocks) kernel(uint32_t *words, int iterations) {
    if constexpr (which == bench_mont_mul) {
        chain<fp_mont_t>(words, iterations, [](fp_mont_t x, fp_mont_t y) { return mul(x, y); });
    } else if constexpr (which == bench_mont_mul_inline) {
        chain<fp_mont_t>(words, iterations, [](fp_mont_t x, fp_mont_t y) { return mul_inline(x, y); });
    } else if constexpr (which == bench_mul) {
        chain<fp_t>(words, iterations, [](fp_t x, fp_t y) { return mul(x, y); });
    } else if constexpr (which == bench_mul_inline) {
        chain<fp_t>(words, iterations, [](fp_t x, fp_t y) { return mul_inline(x, y); });
    } else if constexpr (which == bench_sqr) {
        chain<fp_t>(words, iterations, [](fp_t x, fp_t) { return sqr(x); });
    } else if constexpr (which == bench_sqr_inline) {
        chain<fp_t>(words, iterations, [](fp_t x, fp_t) { return sqr_inline(x); });
    } else if constexpr (which == bench_step) {
        step_chain<fp_t, true>(words, iterations);
    } else if constexpr (which == bench_step_arithmetic) {
        step_chain<fp_t, false>(words, iterations);
    } else if constexpr (which == bench_madd) {
        affine_t<fp_t> q = thread_data<affine_t<fp_t>>(words);
        xyzz_t<fp_t> sum = to_xyzz(q);
        sum.x = add(sum.x, q.y);
#pragma unroll 1
        for (int i = 0; i < iterations; i++) sum = madd(sum, q);
        thread_data<affine_t<fp_t>>(words) = affine_t<fp_t>{sum.x, sub(sum.y, sum.zz)};
    } else if constexpr (which == bench_fp2_mul) {
        chain<fp2_t>(words, iterations, [](fp2_t x, fp2_t y) { return mul(x, y); });
    } else if constexpr (which == bench_fp2_sqr) {
        chain<fp2_t>(words, iterations, [](fp2_t x, fp2_t) { return sqr(x); });
    } else if constexpr (which == bench_fp2_step) {
        step_chain<fp2_t, true>(words, iterations);
    } else if constexpr (which == bench_sub) {
        chain<fp_t>(words, iterations, [](fp_t x, fp_t y) { return sub(x, y); });
    } else {
        chain<fp_t>(words, iterations, [](fp_t x, fp_t) { return inv(x); });
    }
}

template <int which, int min_blocks>
czk_status_t launch(int32_t iterations, uint32_t *d_words, uint64_t words, uint64_t *threads, int32_t *registers,
                    cudaStream_t stream) {
    cudaFuncAttributes attributes;
    CZK_CUDA(cudaFuncGetAttributes(&attributes, kernel<which, min_blocks>));
    *registers = attributes.numRegs;
    int device = 0, multiprocessors = 0, blocks = 0;
    CZK_CUDA(cudaGetDevice(&device));
    CZK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CZK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel<which, min_blocks>, block_threads, 0));
    *threads = uint64_t(multiprocessors) * blocks * block_threads;
    CZK_REQUIRE(*threads * words_per_thread <= words, CZK_WORKSPACE);
    CZK_LAUNCH(kernel<which, min_blocks><<<multiprocessors * blocks, block_threads, 0, stream>>>(d_words, iterations));
    return ok();
}

template <int which = 0>
czk_status_t choose(int32_t wanted, int32_t min_blocks, int32_t iterations, uint32_t *d_words, uint64_t words,
                    uint64_t *threads, int32_t *registers, cudaStream_t stream) {
    if constexpr (which < bench_count) {
        if (wanted != which) {
            return choose<which + 1>(wanted, min_blocks, iterations, d_words, words, threads, registers, stream);
        }
        constexpr bool more = which == bench_mul || which == bench_mul_inline;
        constexpr bool middle = which == bench_step || which == bench_step_arithmetic;
        if constexpr (more) {
            if (min_blocks == 6) return launch<which, 6>(iterations, d_words, words, threads, registers, stream);
            if (min_blocks == 8) return launch<which, 8>(iterations, d_words, words, threads, registers, stream);
        }
        if constexpr (middle) {
            if (min_blocks == 3) return launch<which, 3>(iterations, d_words, words, threads, registers, stream);
            if (min_blocks == 4) return launch<which, 4>(iterations, d_words, words, threads, registers, stream);
        }
        CZK_REQUIRE(min_blocks == 1, CZK_INVALID);
        return launch<which, 1>(iterations, d_words, words, threads, registers, stream);
    } else {
        return fail(CZK_INVALID, "which", "no such bench", __FILE__, __LINE__);
    }
}

} // namespace

extern "C" czk_status_t czk_bench_field(int32_t which, int32_t min_blocks, int32_t iterations, uint32_t *d_words,
                                        uint64_t words, uint64_t *threads, int32_t *registers, void *stream) {
    return choose(which, min_blocks, iterations, d_words, words, threads, registers, cudaStream_t(stream));
}
