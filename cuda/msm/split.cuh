// The kernels of split.h.
#pragma once

#include <cub/block/block_scan.cuh>

#include "msm/digits.cuh"
#include "msm/split.h"
#include "runtime/check.cuh"

namespace czk {

constexpr uint32_t split_threads = 512;
// Items of a thread: more of them write longer runs, fewer need fewer registers.
constexpr uint32_t digits_a_thread = 8, items_a_thread = 16;
constexpr uint32_t no_item = 0xffffffff; // no key: buckets have less than 31 bits
static_assert(split_threads == plane_tile, "a thread's item j is in the block's tile j of planes");
static_assert(1u << lg_last_max <= split_threads && split_parts <= split_threads, "one thread a part");

// Items of one split: the part of item i has its place in part · room, and keys have lost the bits that say which.
struct parts_out_t {
    uint32_t *values;
    uint16_t *keys;
    uint32_t *cursors; // items so far; more than `room` if some were left out
    uint64_t room;
    uint32_t *is_full;  // set to 1 then
};

// What a block needs to put its tile in order, ITEMS a thread.
template <uint32_t ITEMS>
struct split_shared_t {
    uint32_t keys[ITEMS * split_threads], values[ITEMS * split_threads];
    uint32_t count[split_parts]; // of the tile's items in each part, then the next place in the tile
    uint32_t shift[split_parts]; // from a place in the tile to one in the parts' rooms, modulo 2^32
    typename cub::BlockScan<uint32_t, split_threads>::TempStorage scan;
};

// Splits a tile by key >> lg_low: key[j] & ~item_sign is the thread's item j, or key[j] is no_item, and value(j) its value.
template <uint32_t ITEMS, class Value>
static __device__ __forceinline__ void split_tile(const uint32_t (&key)[ITEMS], const Value &value, uint32_t lg_low,
                                                  const parts_out_t &out, unsigned char *shared_bytes) {
    split_shared_t<ITEMS> &shared = *reinterpret_cast<split_shared_t<ITEMS> *>(shared_bytes);
    if (threadIdx.x < split_parts) shared.count[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < ITEMS; j++) {
        if (key[j] != no_item) atomicAdd(&shared.count[(key[j] & ~item_sign) >> lg_low], 1);
    }
    __syncthreads();
    const uint32_t own = threadIdx.x < split_parts ? shared.count[threadIdx.x] : 0;
    uint32_t start, total;
    cub::BlockScan<uint32_t, split_threads>(shared.scan).ExclusiveSum(own, start, total);
    bool is_full = false;
    if (threadIdx.x < split_parts) {
        const uint64_t taken = own == 0 ? 0 : atomicAdd(&out.cursors[threadIdx.x], own);
        shared.count[threadIdx.x] = start;
        shared.shift[threadIdx.x] = uint32_t(threadIdx.x * out.room + taken) - start;
        is_full = taken + own > out.room;
    }
    if (__syncthreads_or(is_full)) {
        if (threadIdx.x == 0) *out.is_full = 1;
        return;
    }
#pragma unroll
    for (uint32_t j = 0; j < ITEMS; j++) {
        if (key[j] == no_item) continue;
        const uint32_t bucket = key[j] & ~item_sign, at = atomicAdd(&shared.count[bucket >> lg_low], 1);
        shared.keys[at] = bucket;
        shared.values[at] = value(j);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < total; i += split_threads) {
        const uint32_t bucket = shared.keys[i], to = shared.shift[bucket >> lg_low] + i;
        out.values[to] = shared.values[i];
        out.keys[to] = uint16_t(bucket & ((1u << lg_low) - 1));
    }
}

// Which bits of s + K are a window's digit, and what they mean.
struct window_bits_t {
    windows_t windows;
    uint32_t window;
    scalar_words_t offset;

    // The key of a digit, with its sign in the top bit; no_item for 0.
    CZK_INDEX uint32_t key_of(uint32_t field, bool negate) const {
        const int32_t digit = digit_of_field(field, windows, window);
        if (digit == 0) return no_item;
        return bucket_of_digit(digit) | (negate != (digit < 0) ? item_sign : 0);
    }
};

// The first split: cuts a window's digits from a term's scalars.
template <bool PLANES>
__global__ void __launch_bounds__(split_threads, resident_threads / split_threads)
    split_digits(term_t term, window_bits_t bits, uint32_t lg_low, parts_out_t out) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    constexpr uint32_t digits_tile = digits_a_thread * split_threads;
    const uint64_t first = uint64_t(blockIdx.x) * digits_tile;
    const uint32_t items = uint32_t(min(term.count - first, uint64_t(digits_tile)));
    const uint32_t low = bits.windows.low(bits.window), width = bits.windows.width(bits.window);
    uint32_t key[digits_a_thread];
    if constexpr (PLANES) {
        const uint32_t *words = static_cast<const uint32_t *>(term.scalars) + 8 * first + threadIdx.x;
        const uint32_t *signs = term.signs + first / 32 + threadIdx.x / 32;
        const bool two = low % 32 + width > 32;
        uint32_t upper[digits_a_thread];
#pragma unroll
        for (uint32_t j = 0; j < digits_a_thread; j++) {
            key[j] = upper[j] = 0;
            if (j * split_threads + threadIdx.x >= items) continue;
            const uint32_t stride = min(items - j * split_threads, plane_tile);
            const uint32_t *word = words + 8 * j * plane_tile + low / 32 * stride;
            key[j] = word[0];
            if (two) upper[j] = word[stride];
        }
#pragma unroll
        for (uint32_t j = 0; j < digits_a_thread; j++) {
            const bool is_there = j * split_threads + threadIdx.x < items;
            const uint32_t field = funnel_right(key[j], upper[j], low % 32) & ((1u << width) - 1);
            const bool negate = is_there && (signs[j * (plane_tile / 32)] >> threadIdx.x % 32 & 1) != 0;
            key[j] = is_there ? bits.key_of(field, negate) : no_item;
        }
    } else {
#pragma unroll
        for (uint32_t j = 0; j < digits_a_thread; j++) {
            const uint32_t at = j * split_threads + threadIdx.x;
            key[j] = no_item;
            if (at >= items) continue;
            bool negate;
            const scalar_words_t words = load_scalar(term, first + at, bits.offset, negate);
            key[j] = bits.key_of(bit_field(words, low, width), negate);
        }
    }
    const auto value = [&](uint32_t j) {
        return point_of(term, first + j * split_threads + threadIdx.x) | (key[j] & item_sign);
    };
    split_tile(key, value, lg_low, out, shared_bytes);
}

// The second split, of part blockIdx.y of the first. `out` is that of part 0. Each split has a word of its own that says that
// it was full: this one's blocks read the first's, which stands still, so that all threads of a block see the same.
static __global__ void __launch_bounds__(split_threads, 2)
    split_parts_again(parts_out_t in, uint32_t lg_low, parts_out_t out) {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    if (*in.is_full != 0) {
        if (threadIdx.x == 0) *out.is_full = 1;
        return;
    }
    const uint32_t part = blockIdx.y, tile = blockIdx.x * (items_a_thread * split_threads), first = tile + threadIdx.x;
    const uint32_t items = uint32_t(min(uint64_t(in.cursors[part]), in.room));
    if (tile >= items) return;
    const uint16_t *keys = in.keys + part * in.room;
    const uint32_t *values = in.values + part * in.room;
    out.values += part * (split_parts * out.room);
    out.keys += part * (split_parts * out.room);
    out.cursors += part * split_parts;
    uint32_t key[items_a_thread], own[items_a_thread];
#pragma unroll
    for (uint32_t j = 0; j < items_a_thread; j++) {
        const uint32_t at = first + j * split_threads;
        key[j] = at < items ? keys[at] : no_item;
        own[j] = at < items ? values[at] : 0;
    }
    const auto value = [&](uint32_t j) { return own[j]; };
    split_tile(key, value, lg_low, out, shared_bytes);
}

// begins[part] = number of items in parts before it; *total = all of them. One block.
static __global__ void __launch_bounds__(1024) scan_parts(const uint32_t *cursors, uint32_t *begins, uint32_t *total) {
    using scan_t = cub::BlockScan<uint32_t, 1024>;
    constexpr uint32_t own = sort_parts / 1024;
    __shared__ typename scan_t::TempStorage temporary;
    uint32_t counts[own], all;
#pragma unroll
    for (uint32_t i = 0; i < own; i++) counts[i] = cursors[threadIdx.x * own + i];
    scan_t(temporary).ExclusiveSum(counts, counts, all);
#pragma unroll
    for (uint32_t i = 0; i < own; i++) begins[threadIdx.x * own + i] = counts[i];
    if (threadIdx.x == 0) *total = all;
}

// use(keys[i], values[i]) for all items, by the block; a thread reads four of them at a time.
template <bool VALUES, class Use>
static __device__ __forceinline__ void for_each_item(const uint16_t *keys, const uint32_t *values, uint32_t items,
                                                     const Use &use) {
    constexpr uint32_t together = 4;
    for (uint32_t first = threadIdx.x; first < items; first += together * split_threads) {
        uint32_t key[together], value[together];
#pragma unroll
        for (uint32_t j = 0; j < together; j++) {
            const uint32_t i = first + j * split_threads;
            key[j] = i < items ? keys[i] : 0;
            value[j] = VALUES && i < items ? values[i] : 0;
        }
#pragma unroll
        for (uint32_t j = 0; j < together; j++) {
            if (first + j * split_threads < items) use(key[j], value[j]);
        }
    }
}

// Shared memory of sort_part beside the values.
constexpr uint32_t sort_part_bytes = (sizeof(uint32_t) << lg_last_max) + 3072;

// Sorts each part: its values in the order of buckets, and where those begin.
static __global__ void __launch_bounds__(split_threads, 2)
    sort_part(parts_out_t in, const uint32_t *begins, uint32_t lg_last, uint32_t *values, uint32_t *starts) {
    using scan_t = cub::BlockScan<uint32_t, split_threads>;
    extern __shared__ uint32_t sorted[];
    __shared__ uint32_t count[1 << lg_last_max];
    __shared__ typename scan_t::TempStorage temporary;
    static_assert(sizeof count + sizeof temporary <= sort_part_bytes, "what is said to be used beside them");
    if (*in.is_full != 0) return;
    const uint32_t part = blockIdx.x, items = in.cursors[part], begin = begins[part], buckets = 1u << lg_last;
    const uint16_t *keys = in.keys + part * in.room;
    const uint32_t *from = in.values + part * in.room;
    if (threadIdx.x < buckets) count[threadIdx.x] = 0;
    __syncthreads();
    for_each_item<false>(keys, from, items, [&](uint32_t bucket, uint32_t) { atomicAdd(&count[bucket], 1); });
    __syncthreads();
    uint32_t start;
    scan_t(temporary).ExclusiveSum(threadIdx.x < buckets ? count[threadIdx.x] : 0, start);
    if (threadIdx.x < buckets) {
        count[threadIdx.x] = start;
        starts[part * buckets + threadIdx.x] = begin + start;
        if (part + 1 == sort_parts && threadIdx.x == 0) starts[sort_parts * buckets] = begin + items;
    }
    __syncthreads();
    for_each_item<true>(keys, from, items, [&](uint32_t bucket, uint32_t value) {
        sorted[atomicAdd(&count[bucket], 1)] = value;
    });
    __syncthreads();
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < items; i += split_threads) values[begin + i] = sorted[i];
}

} // namespace czk
