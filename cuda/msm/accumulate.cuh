// Host side of the tree: the sums of all buckets of one sorted list of items.
#pragma once

#include "msm/launch.h"
#include "msm/segments.cuh"
#include "runtime/pacer.cuh"

namespace czk {

// How add_pairs runs for a field: an inversion is shared by four threads in G1 and two in G2, and several blocks fit an SM,
// so that one adds while another waits for its inverses.
template <class F>
struct add_shape_t {
    static constexpr unsigned threads = sizeof(F) <= 48 ? 128 : 64;
    static constexpr unsigned blocks = sizeof(F) <= 48 ? 3 : 4; // per SM, for the register limit
    static constexpr unsigned rounds_max = 256;
    static constexpr double pairs_per_ms = sizeof(F) <= 48 ? 3e6 : 1e6; // a cautious guess, for the pacer alone
};

static czk_status_t read_device_shape(device_shape_t &shape) {
    int device = 0, count = 0, bytes = 0, block_bytes = 0;
    CZK_CUDA(cudaGetDevice(&device));
    CZK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    CZK_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    CZK_CUDA(cudaDeviceGetAttribute(&block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    shape = {uint32_t(count), uint32_t(bytes), uint32_t(block_bytes)};
    return ok();
}

// Lets a kernel's blocks have `bytes` of dynamic shared memory.
template <class... Arguments>
czk_status_t allow_shared(void (*kernel)(Arguments...), uint32_t bytes) {
    CZK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
    return ok();
}

static constexpr uint32_t blocks_for(uint64_t count, uint32_t threads) {
    return uint32_t((count + threads - 1) / threads);
}

// Products that add_pairs needs room for: whole tiles.
template <class F>
constexpr uint64_t products_for(uint64_t pairs) {
    constexpr uint64_t threads = add_shape_t<F>::threads;
    return (pairs + threads - 1) / threads * threads;
}

// Launches the additions of `count` pairs, as pair_launch says.
template <class F, class Source>
czk_status_t launch_add_pairs(const Source &source, uint64_t count, F *before, device_shape_t device, cudaStream_t stream,
                              pacer_t &pacer) {
    using shape = add_shape_t<F>;
    if (count == 0) return ok();
    constexpr uint32_t shared_bytes = pair_tiles_t<F, Source, shape::threads>::shared_bytes;
    static_assert(shared_bytes <= shared_block_least, "every card has room for a block");
    const auto kernel = add_pairs<F, Source, shape::threads, shape::blocks>;
    CZK_TRY(allow_shared(kernel, shared_bytes));
    CZK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    const uint32_t at_once = blocks_at_once(device, shared_bytes, shape::blocks);
    CZK_REQUIRE(at_once > 0 && "shared memory for a block", CZK_INVALID);
    const uint64_t tiles = products_for<F>(count) / shape::threads;
    const auto [blocks, rounds] = pair_launch(tiles, uint64_t(device.multiprocessors) * at_once, shape::rounds_max);
    CZK_LAUNCH(kernel<<<blocks, shape::threads, shared_bytes, stream>>>(source, uint32_t(count), rounds, before));
    return pacer.launched(double(count) / shape::pairs_per_ms);
}

// Memory of the tree: slots, and running products for the pairs of one level.
template <class F>
struct tree_memory_t {
    affine_t<F> *slots;
    F *before;
    void *list; // pair_list_bytes
    uint32_t *slot_offsets, *pair_offsets;
    void *scan;
    size_t scan_bytes;
};

// One sorted list of items over `bucket_count` buckets.
template <class F>
struct items_t {
    const uint32_t *values;
    const uint32_t *starts;
    bases_t<F> bases;
    affine_t<F> *buckets;
};

template <class F>
czk_status_t add_level(const items_t<F> &items, const chunk_t &chunk, uint32_t level, uint32_t pairs,
                       const tree_memory_t<F> &memory, device_shape_t device, cudaStream_t stream, pacer_t &pacer) {
    CZK_TRY(scan_sizes({items.starts, chunk, int32_t(level)}, memory.pair_offsets, memory.scan, memory.scan_bytes, stream));
    CZK_LAUNCH(list_pairs<<<blocks_for(pairs, list_pairs_a_block), list_threads, 0, stream>>>(
        items.starts, memory.slot_offsets, memory.pair_offsets, chunk, level, pairs, items.values, memory.list));
    if (level == 0) {
        item_pairs_t<F> source{static_cast<const pair_items_t *>(memory.list), items.bases, memory.slots};
        return launch_add_pairs<F>(source, pairs, memory.before, device, stream, pacer);
    }
    slot_pairs_t<F> source{static_cast<const pair_slots_t *>(memory.list), memory.slots};
    return launch_add_pairs<F>(source, pairs, memory.before, device, stream, pacer);
}

// buckets[b] = (its sum from before, if the chunk says it has one) + the items of the chunk, for all buckets that begin in
// the chunk. join_chunk does the same for one from an earlier chunk.
template <class F>
czk_status_t add_chunk(const items_t<F> &items, const chunk_t &chunk, const chunk_stats_t &stats,
                       const tree_memory_t<F> &memory, device_shape_t device, cudaStream_t stream, pacer_t &pacer) {
    constexpr unsigned threads = 256;
    const uint32_t blocks = blocks_for(chunk.count, threads);
    CZK_TRY(scan_sizes({items.starts, chunk, -1}, memory.slot_offsets, memory.scan, memory.scan_bytes, stream));
    CZK_LAUNCH(copy_singles<F><<<blocks, threads, 0, stream>>>(items.starts, memory.slot_offsets, chunk, items.values,
                                                               items.bases, items.buckets, memory.slots));
    for (uint32_t level = 0; level < tree_levels_max; level++) {
        if (stats.pairs[level] == 0 && level > 0) break;
        if (stats.pairs[level] == 0) continue; // single items may still meet a sum at level 1
        CZK_TRY(add_level(items, chunk, level, stats.pairs[level], memory, device, stream, pacer));
    }
    CZK_LAUNCH(store_buckets<F><<<blocks, threads, 0, stream>>>(items.starts, memory.slot_offsets, chunk, memory.slots,
                                                                items.buckets));
    return ok();
}

// After add_chunk, and after the chunk before was joined.
template <class F>
czk_status_t join_chunk(const items_t<F> &items, const chunk_t &chunk, const tree_memory_t<F> &memory, cudaStream_t stream) {
    if (chunk.begin > 0) CZK_LAUNCH(join_first<F><<<1, 1, 0, stream>>>(items.starts, chunk, memory.slots, items.buckets));
    return ok();
}

// Where chunks run: by turns on two streams, so that one's small kernels and inversions run beside the other's additions.
// Without a second one both are the same.
struct chunk_streams_t {
    cudaStream_t stream[2];
    cudaEvent_t event[2];

    bool two() const { return stream[0] != stream[1]; }

    // `later` waits for all that is on the other stream now.
    czk_status_t order(uint32_t later) const {
        if (!two()) return ok();
        CZK_CUDA(cudaEventRecord(event[1 - later], stream[1 - later]));
        CZK_CUDA(cudaStreamWaitEvent(stream[later], event[1 - later], 0));
        return ok();
    }
};

// All chunks of a group; stream[0] has them when it gets there.
template <class F>
czk_status_t add_chunks(const items_t<F> &items, const chunking_t &chunking, const chunk_stats_t *stats,
                        const tree_memory_t<F> (&memory)[2], device_shape_t device, const chunk_streams_t &streams,
                        pacer_t &pacer) {
    CZK_TRY(streams.order(1));
    for (uint32_t c = 0; c < chunking.count(); c++) {
        const uint32_t lane = streams.two() ? c % 2 : 0;
        const chunk_t chunk{chunking.begin(c), chunking.end(c), stats[c].first_bucket,
                            stats[c].last_bucket - stats[c].first_bucket + 1, chunking.all_have_sums};
        CZK_TRY(add_chunk(items, chunk, stats[c], memory[lane], device, streams.stream[lane], pacer));
        if (c > 0) CZK_TRY(streams.order(lane));
        CZK_TRY(join_chunk(items, chunk, memory[lane], streams.stream[lane]));
    }
    return streams.order(0);
}

} // namespace czk
