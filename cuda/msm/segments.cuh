// Kernels around the tree (tree.h): where buckets begin, how many pairs each level has, and which.
#pragma once

#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "msm/add_pairs.cuh"
#include "msm/digits.cuh"
#include "msm/tree.h"
#include "runtime/check.cuh"

namespace czk {

// Writes `position` to starts[from … to), for each lane its own; a long run is written by the whole warp.
static __device__ __forceinline__ void fill_starts(uint32_t *starts, uint32_t from, uint32_t to, uint32_t position) {
    const uint32_t lane = threadIdx.x % 32;
    uint32_t waiting = __ballot_sync(0xffffffff, to - from > 4);
    if (to - from <= 4) {
        for (uint32_t b = from; b < to; b++) starts[b] = position;
    }
    while (waiting != 0) {
        const int owner = __ffs(waiting) - 1;
        waiting &= waiting - 1;
        const uint32_t low = __shfl_sync(0xffffffff, from, owner), high = __shfl_sync(0xffffffff, to, owner);
        const uint32_t at = __shfl_sync(0xffffffff, position, owner);
        for (uint32_t b = low + lane; b < high; b += 32) starts[b] = at;
    }
}

constexpr uint32_t keys_a_thread = 4;

// starts[b] = number of keys below b, b in [0, buckets], from sorted keys, 16-byte aligned: position i begins the buckets
// from the key before it, which is not among them, to its own. With skewed scalars one gap spans all buckets.
static __global__ void find_starts(const uint32_t *keys, uint32_t items, uint32_t buckets, uint32_t *starts) {
    const uint64_t first = (uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) * keys_a_thread;
    uint32_t key[keys_a_thread] = {};
    if (first + keys_a_thread <= items) {
        const uint4 four = *reinterpret_cast<const uint4 *>(keys + first);
        key[0] = four.x, key[1] = four.y, key[2] = four.z, key[3] = four.w;
    } else {
        for (uint32_t j = 0; j < keys_a_thread; j++) key[j] = first + j < items ? keys[first + j] : 0;
    }
    uint32_t from = first == 0 || first > items ? 0 : keys[first - 1] + 1;
    for (uint32_t j = 0; j < keys_a_thread; j++) {
        const uint64_t i = first + j;
        const uint32_t to = i < items ? key[j] + 1 : i == items ? buckets + 1 : from;
        fill_starts(starts, from, to, uint32_t(i));
        from = to;
    }
}

// What the host must know of a chunk: its buckets, and how many pairs each level has.
struct chunk_stats_t {
    uint32_t first_bucket, last_bucket;
    uint32_t pairs[tree_levels_max];
};

constexpr uint32_t chunks_max = 256;

// The chunks of `items` sorted positions: equal parts of at most chunk_items.
struct chunking_t {
    uint32_t items, chunk_items;
    bool all_have_sums;

    CZK_INDEX uint32_t count() const { return items == 0 ? 0 : (items - 1) / chunk_items + 1; }
    CZK_INDEX uint32_t begin(uint32_t chunk) const { return chunk * chunk_items; }
    CZK_INDEX uint32_t end(uint32_t chunk) const { return chunk + 1 == count() ? items : (chunk + 1) * chunk_items; }
};

// What the device knows first of a group's items: their number, whether it doesn't count, and whether a part of the first
// split was full (split.cuh).
struct item_count_t {
    uint32_t items, is_void, is_cut_short;
};

// Equal chunks of at most chunk_items.
CZK_INDEX chunking_t chunking_of(uint32_t items, uint64_t chunk_items, bool all_have_sums) {
    if (items == 0) return {0, 1, false};
    const uint32_t chunks = uint32_t((items + chunk_items - 1) / chunk_items);
    return {items, (items + chunks - 1) / chunks, all_have_sums};
}

// As chunking_of, on the device.
struct chunking_rule_t {
    const item_count_t *count;
    uint64_t chunk_items;
    bool all_have_sums;

    CZK_INDEX chunking_t get() const {
        return chunking_of(count->is_void != 0 ? 0 : count->items, chunk_items, all_have_sums);
    }
};

// The first and the last bucket of each chunk.
static __global__ void find_chunk_buckets(const uint32_t *starts, uint32_t buckets, chunking_rule_t rule,
                                          chunk_stats_t *stats) {
    const chunking_t chunking = rule.get();
    uint32_t chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunking.count()) return;
    stats[chunk].first_bucket = last_not_above(starts, 0, buckets, chunking.begin(chunk));
    stats[chunk].last_bucket = last_not_above(starts, 0, buckets, chunking.end(chunk) - 1);
}

// stats[c].pairs[l] += the pairs of level l, one bucket per thread. Nearly all buckets of a block lie in the chunk of its
// first one: that one's counts are gathered in shared memory.
static __global__ void count_pairs(const uint32_t *starts, uint32_t buckets, chunking_rule_t rule, chunk_stats_t *stats) {
    __shared__ uint32_t block_pairs[tree_levels_max];
    const chunking_t chunking = rule.get();
    if (chunking.items == 0) return;
    const uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t block_chunk = starts[blockIdx.x * blockDim.x] / chunking.chunk_items;
    if (threadIdx.x < tree_levels_max) block_pairs[threadIdx.x] = 0;
    __syncthreads();
    uint32_t start = 0, end = 0;
    if (b < buckets) start = starts[b], end = starts[b + 1];
    const bool any = end > start;
    uint32_t low = __reduce_min_sync(0xffffffff, any ? start / chunking.chunk_items : 0xffffffff);
    uint32_t high = __reduce_max_sync(0xffffffff, any ? (end - 1) / chunking.chunk_items : 0);
    for (uint32_t c = low; low != 0xffffffff && c <= high; c++) {
        chunk_t chunk{chunking.begin(c), chunking.end(c), 0, 0, chunking.all_have_sums};
        segment_t segment = segment_of(chunk, start, end);
        uint32_t *counts = c == block_chunk ? block_pairs : stats[c].pairs;
        for (uint32_t level = 0; level < tree_levels_max; level++) {
            uint32_t pairs = __reduce_add_sync(0xffffffff, segment.pairs_at(level));
            if (lane == 0 && pairs != 0) atomicAdd(&counts[level], pairs);
            if (pairs == 0 && level > 0) break;
        }
    }
    __syncthreads();
    if (threadIdx.x < tree_levels_max && block_pairs[threadIdx.x] != 0) {
        atomicAdd(&stats[block_chunk].pairs[threadIdx.x], block_pairs[threadIdx.x]);
    }
}

// The number that a scan adds up for bucket chunk.first + i: its slots, or its pairs at a level.
struct segment_sizes_t {
    const uint32_t *starts;
    chunk_t chunk;
    int32_t level; // -1: slots

    CZK_INDEX uint32_t operator()(uint32_t i) const {
        segment_t segment = segment_of(chunk, starts[chunk.first + i], starts[chunk.first + i + 1]);
        return level < 0 ? segment.slots() : segment.pairs_at(uint32_t(level));
    }
};

// offsets[i] = sizes(0) + … + sizes(i - 1), i in [0, chunk.count).
static czk_status_t scan_sizes(const segment_sizes_t &sizes, uint32_t *offsets, void *temporary, size_t temporary_bytes,
                               cudaStream_t stream) {
    auto input = thrust::make_transform_iterator(thrust::make_counting_iterator(uint32_t(0)), sizes);
    CZK_CUDA(cub::DeviceScan::ExclusiveSum(temporary, temporary_bytes, input, offsets, int(sizes.chunk.count), stream));
    return ok();
}

// A pair of level 0: two items' values and the slot of their sum. Values, not positions, so that add_pairs gets to the
// points with one load less on the way.
struct alignas(16) pair_items_t {
    uint32_t left, right, slot, unused;
};

// A pair of a later level: two slots. The sum goes to the left one.
struct alignas(8) pair_slots_t {
    uint32_t left, right;
};

// Room for a level's list of either kind.
constexpr uint64_t pair_list_bytes(uint64_t chunk_items, uint64_t slots) {
    const uint64_t items = (chunk_items / 2 + 1) * sizeof(pair_items_t), later = (slots / 2 + 1) * sizeof(pair_slots_t);
    return items > later ? items : later;
}

// As last_not_above, by all lanes of a warp: each step leaves a 32nd of the range.
static __device__ __forceinline__ uint32_t warp_last_not_above(const uint32_t *offsets, uint32_t low, uint32_t high,
                                                               uint32_t value) {
    const uint32_t lane = threadIdx.x % 32;
    while (high - low > 1) {
        const uint32_t step = (high - low + 31) / 32, at = low + lane * step;
        const uint32_t not_above = __popc(__ballot_sync(0xffffffff, at < high && offsets[at] <= value));
        high = min(high, low + not_above * step);
        low += (not_above - 1) * step;
    }
    return low;
}

constexpr uint32_t list_threads = 512, list_tiles = 4, list_pairs_a_block = list_threads * list_tiles;

struct larger_t {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a > b ? a : b; }
};

// To marks[k] the number of the last mark at or before k: marks[k] is 0 where there is none.
static __device__ __forceinline__ void spread_marks(uint32_t *marks) {
    using scan_t = cub::BlockScan<uint32_t, list_threads>;
    __shared__ typename scan_t::TempStorage temporary;
    uint32_t own[list_tiles];
#pragma unroll
    for (uint32_t j = 0; j < list_tiles; j++) own[j] = marks[threadIdx.x * list_tiles + j];
    scan_t(temporary).InclusiveScan(own, own, larger_t{});
#pragma unroll
    for (uint32_t j = 0; j < list_tiles; j++) marks[threadIdx.x * list_tiles + j] = own[j];
    __syncthreads();
}

// Numbers a level's pairs. Two warps find the buckets of the block's first and last pair. Each bucket between them marks
// its first pair; where most of them have no pair, each pair is searched for instead.
static __global__ void __launch_bounds__(list_threads)
    list_pairs(const uint32_t *starts, const uint32_t *slot_offsets, const uint32_t *pair_offsets, chunk_t chunk,
               uint32_t level, uint32_t count, const uint32_t *values, void *list) {
    __shared__ uint32_t range[2];
    __shared__ __align__(16) uint32_t marks[list_pairs_a_block];
    const uint32_t first = blockIdx.x * list_pairs_a_block;
    const uint32_t end = min(first + list_pairs_a_block, count), warp = threadIdx.x / 32;
    for (uint32_t k = threadIdx.x; k < list_pairs_a_block; k += list_threads) marks[k] = 0;
    if (warp < 2) range[warp] = warp_last_not_above(pair_offsets, 0, chunk.count, warp == 0 ? first : end - 1);
    __syncthreads();
    const uint32_t low = range[0], others = range[1] - low;
    const bool is_marked = others <= 4 * list_pairs_a_block;
    if (is_marked) {
        for (uint32_t b = threadIdx.x + 1; b <= others; b += list_threads) {
            atomicMax(&marks[pair_offsets[low + b] - first], b);
        }
        __syncthreads();
        spread_marks(marks);
    }
    for (uint32_t k = first + threadIdx.x; k < end; k += list_threads) {
        const uint32_t i = is_marked ? low + marks[k - first] : last_not_above(pair_offsets, low, range[1] + 1, k);
        const uint32_t j = k - pair_offsets[i], slot = slot_offsets[i];
        const segment_t segment = segment_of(chunk, starts[chunk.first + i], starts[chunk.first + i + 1]);
        if (level == 0) {
            const uint32_t *left = values + segment.start + 2 * j;
            static_cast<pair_items_t *>(list)[k] = {left[0], left[1], slot + j, 0};
        } else {
            const uint32_t slots = segment.slots_at(level);
            static_cast<pair_slots_t *>(list)[k] = {slot + j, slot + j + (slots + 1) / 2};
        }
    }
}

// Copies what level 0 doesn't add: a segment's odd last item, and the bucket's sum so far.
template <class F>
__global__ void copy_singles(const uint32_t *starts, const uint32_t *slot_offsets, chunk_t chunk, const uint32_t *values,
                             bases_t<F> bases, const affine_t<F> *buckets, affine_t<F> *slots) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chunk.count) return;
    segment_t segment = segment_of(chunk, starts[chunk.first + i], starts[chunk.first + i + 1]);
    uint32_t slot = slot_offsets[i] + segment.items / 2;
    if (segment.items % 2 != 0) {
        uint32_t value = values[segment.start + segment.items - 1];
        affine_t<F> point = load_words(bases_t<F>::at(bases, value & ~item_sign));
        if ((value & item_sign) != 0) point = neg(point);
        store_words(slots + slot, point);
        slot++;
    }
    if (segment.has_sum) store_words(slots + slot, load_words(buckets + chunk.first + i));
}

// Level 0: pairs of items, gathered from the bases.
template <class F>
struct item_pairs_t {
    using entry_t = pair_items_t;
    static constexpr bool listed = true;

    const pair_items_t *list;
    bases_t<F> bases;
    affine_t<F> *slots;

    CZK_FN addition_t<F> make(const item_pairs_t &source, const pair_items_t &at) {
        return {bases_t<F>::at(source.bases, at.left & ~item_sign), bases_t<F>::at(source.bases, at.right & ~item_sign),
                (at.left & item_sign) != 0, (at.right & item_sign) != 0, source.slots + at.slot};
    }
};

// Later levels: slots in place.
template <class F>
struct slot_pairs_t {
    using entry_t = pair_slots_t;
    static constexpr bool listed = true;

    const pair_slots_t *list;
    affine_t<F> *slots;

    CZK_FN addition_t<F> make(const slot_pairs_t &source, const pair_slots_t &at) {
        affine_t<F> *left = source.slots + at.left;
        return {left, source.slots + at.right, false, false, left};
    }
};

// Every segment's sum, in its first slot, becomes its bucket's, but for a bucket from an earlier chunk.
template <class F>
__global__ void store_buckets(const uint32_t *starts, const uint32_t *slot_offsets, chunk_t chunk,
                              const affine_t<F> *slots, affine_t<F> *buckets) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chunk.count) return;
    segment_t segment = segment_of(chunk, starts[chunk.first + i], starts[chunk.first + i + 1]);
    if (segment.items > 0 && !segment.is_later) {
        store_words(buckets + chunk.first + i, load_words(slots + slot_offsets[i]));
    }
}

// Adds the sum of the chunk's first segment to its bucket, if that began in an earlier chunk.
template <class F>
__global__ void join_first(const uint32_t *starts, chunk_t chunk, const affine_t<F> *slots, affine_t<F> *buckets) {
    if (starts[chunk.first] >= chunk.begin) return;
    const affine_t<F> p = load_words(buckets + chunk.first), q = load_words(slots);
    F denominator;
    const pair_t kind = pair_denominator(denominator, p, q);
    store_words(buckets + chunk.first, pair_sum(kind, p, q, inv(denominator)));
}

} // namespace czk
