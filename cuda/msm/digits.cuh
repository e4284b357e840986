// From scalars to items: one key (bucket) and one value (point number, sign in the top bit) for each digit that isn't 0.
#pragma once

#include "msm/planes.cuh"

namespace czk {

constexpr uint32_t item_sign = 0x80000000;

// The terms of one call: scalars are numbered through all of them.
struct terms_t {
    uint32_t count;
    term_t term[CZK_MSM_TERMS];
};

// The bases of all terms, by number.
template <class F>
struct bases_t {
    uint32_t count;
    const affine_t<F> *base[CZK_MSM_TERMS];
    uint32_t first[CZK_MSM_TERMS];

    CZK_FN const affine_t<F> *at(const bases_t &bases, uint32_t number) {
        const affine_t<F> *found = bases.base[0] + number;
#pragma unroll
        for (uint32_t i = 1; i < CZK_MSM_TERMS; i++) {
            if (i < bases.count && number >= bases.first[i]) found = bases.base[i] + (number - bases.first[i]);
        }
        return found;
    }
};

// A run of windows whose digits are cut, sorted and summed together; their buckets are numbered one after the other.
struct window_group_t {
    windows_t windows;
    uint32_t first, last; // windows [first, last)
    scalar_words_t offset;

    CZK_INDEX uint32_t bucket_count() const { return uint32_t(windows.buckets(first, last)); }
};

// Scalar i of all terms, made ready for signed_digit; `negate` if its point's sign changes, `point` its number.
CZK_FN scalar_words_t load_numbered(const terms_t &terms, uint64_t i, const scalar_words_t &offset, bool &negate,
                                    uint32_t &point) {
    uint32_t t = 0;
    while (t + 1 < terms.count && i >= terms.term[t].count) i -= terms.term[t++].count;
    point = point_of(terms.term[t], i);
    return load_scalar(terms.term[t], i, offset, negate);
}

// Scalars that one thread cuts. Four, with a quarter of the threads, took 1.4 times as long.
constexpr unsigned scalars_a_thread = 1;

// Turns counts[0 … n), n <= 32, into what comes before each, and returns their sum. By one warp.
CZK_FN uint32_t scan_in_warp(uint32_t *counts, unsigned n) {
    const uint32_t lane = threadIdx.x % 32, own = lane < n ? counts[lane] : 0;
    uint32_t sum = own;
    for (unsigned step = 1; step < 32; step *= 2) {
        uint32_t below = __shfl_up_sync(0xffffffff, sum, step);
        if (lane >= step) sum += below;
    }
    if (lane < n) counts[lane] = sum - own;
    return __shfl_sync(0xffffffff, sum, 31);
}

#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
constexpr unsigned resident_threads = 2048; // on a multiprocessor
#else
constexpr unsigned resident_threads = 1536;
#endif

// Writes the items of a group of windows without gaps, in any order (*cursor counts them and begins at 0): the sort that
// follows gives them one, and sums of points don't depend on it.
template <unsigned THREADS>
__global__ void __launch_bounds__(THREADS, resident_threads / THREADS * 3 / 4)
    cut_digits(terms_t terms, uint64_t count, window_group_t group, uint32_t *keys, uint32_t *values, uint32_t *cursor) {
    constexpr unsigned warps = THREADS / 32, rows = scalars_a_thread * warps;
    static_assert(rows <= 32, "one warp scans the counts");
    __shared__ uint32_t row_count[rows], block_start;
    const uint64_t first = uint64_t(blockIdx.x) * THREADS * scalars_a_thread + threadIdx.x;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    scalar_words_t words[scalars_a_thread] = {};
    bool negate[scalars_a_thread] = {}, is_there[scalars_a_thread];
    uint32_t point[scalars_a_thread] = {};
#pragma unroll
    for (unsigned j = 0; j < scalars_a_thread; j++) {
        const uint64_t i = first + j * THREADS;
        is_there[j] = i < count;
        if (is_there[j]) words[j] = load_numbered(terms, i, group.offset, negate[j], point[j]);
    }
    uint32_t first_bucket = 0;
    for (uint32_t w = group.first; w < group.last; w++) {
        int32_t digit[scalars_a_thread];
        uint32_t lanes[scalars_a_thread];
#pragma unroll
        for (unsigned j = 0; j < scalars_a_thread; j++) {
            digit[j] = is_there[j] ? signed_digit(words[j], group.windows, w) : 0;
            lanes[j] = __ballot_sync(0xffffffff, digit[j] != 0);
            if (lane == 0) row_count[j * warps + warp] = __popc(lanes[j]);
        }
        __syncthreads();
        if (warp == 0) {
            const uint32_t sum = scan_in_warp(row_count, rows);
            if (lane == 0) block_start = sum == 0 ? 0 : atomicAdd(cursor, sum);
        }
        __syncthreads();
#pragma unroll
        for (unsigned j = 0; j < scalars_a_thread; j++) {
            if (digit[j] == 0) continue;
            const uint32_t at = block_start + row_count[j * warps + warp] + __popc(lanes[j] & ((1u << lane) - 1));
            keys[at] = first_bucket + bucket_of_digit(digit[j]);
            values[at] = point[j] | (negate[j] != (digit[j] < 0) ? item_sign : 0);
        }
        first_bucket += group.windows.buckets(w);
        __syncthreads();
    }
}

} // namespace czk
