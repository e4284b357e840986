// Sums of selected points: the tree of an MSM over equal runs of the selection instead of buckets, and then all runs.
#pragma once

#include "msm/workspace.cuh"

namespace czk {

constexpr uint32_t lg_runs_max = 15; // enough pairs to fill the device until each run is one point
constexpr uint32_t lg_sum_last = 10; // points that the last kernel adds

// The selection is cut in 2^lg_runs runs of at most run_items.
struct runs_t {
    uint32_t items, lg_runs, run_items;

    explicit runs_t(uint64_t count) : items(uint32_t(count)), lg_runs(lg_sum_last) {
        while (lg_runs < lg_runs_max && (count >> lg_runs) > 64) lg_runs++;
        run_items = (items + (1u << lg_runs) - 1) >> lg_runs;
        if (run_items == 0) run_items = 1;
    }
    CZK_INDEX uint32_t start(uint32_t run) const {
        uint64_t start = uint64_t(run) * run_items;
        return start < items ? uint32_t(start) : items;
    }
};

static __global__ void write_runs(runs_t runs, uint32_t *starts) {
    uint32_t run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run <= 1u << runs.lg_runs) starts[run] = runs.start(run);
}

static __global__ void write_numbers(uint32_t first, uint32_t count, uint32_t *values) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = first + i;
}

// What a chunk of runs costs, as count_pairs would tell: there are few runs, so the host counts.
inline chunk_stats_t run_stats(const runs_t &runs, const chunk_t &chunk) {
    chunk_stats_t stats{};
    stats.first_bucket = chunk.begin / runs.run_items;
    stats.last_bucket = (chunk.end - 1) / runs.run_items;
    for (uint32_t run = stats.first_bucket; run <= stats.last_bucket; run++) {
        segment_t segment = segment_of(chunk, runs.start(run), runs.start(run + 1));
        for (uint32_t level = 0; level < tree_levels_max; level++) {
            uint32_t pairs = segment.pairs_at(level);
            if (pairs == 0 && level > 0) break;
            stats.pairs[level] += pairs;
        }
    }
    return stats;
}

template <class F>
struct one_part_t {
    const affine_t<F> *from;
    uint32_t lg;

    CZK_FN part_t<F> make(const one_part_t &parts, uint32_t) { return {parts.from, parts.lg, -1}; }
};

template <class F>
struct sum_space_t {
    uint32_t *starts, *values;
    tree_memory_t<F> tree;
    affine_t<F> *runs, *sums;
    uint64_t bytes;

    sum_space_t(uint64_t chunk_items, uint64_t scan_bytes, void *base) {
        carver_t carver(base);
        const uint64_t run_count = uint64_t(1) << lg_runs_max, slots = slots_for(chunk_items, run_count, false);
        starts = carver.take<uint32_t>(run_count + 1);
        values = carver.take<uint32_t>(chunk_items);
        tree.slots = carver.take<affine_t<F>>(slots);
        tree.before = carver.take<F>(products_for<F>(larger(larger(slots, chunk_items), run_count) / 2));
        tree.list = carver.take<unsigned char>(pair_list_bytes(chunk_items, slots));
        tree.slot_offsets = carver.take<uint32_t>(run_count);
        tree.pair_offsets = carver.take<uint32_t>(run_count);
        tree.scan = carver.take<unsigned char>(scan_bytes);
        tree.scan_bytes = scan_bytes;
        runs = carver.take<affine_t<F>>(run_count);
        sums = carver.take<affine_t<F>>(uint64_t(1) << lg_sum_last);
        bytes = carver.used();
    }
};

// More in one pass would fill the device no better.
constexpr uint64_t sum_chunk_max = uint64_t(1) << 25, sum_chunk_min = uint64_t(1) << 16;
// For a scan over at most 2^15 runs; CUB asks for less (checked at every call).
constexpr uint64_t sum_scan_bytes = 1 << 20;

template <class F>
uint64_t sum_workspace_bytes(uint64_t count) {
    uint64_t chunk = count < sum_chunk_min ? sum_chunk_min : count > sum_chunk_max ? sum_chunk_max : count;
    return sum_space_t<F>(chunk, sum_scan_bytes, nullptr).bytes;
}

template <class F>
czk_status_t sum_runs(const runs_t &runs, const sum_space_t<F> &space, device_shape_t device, cudaStream_t stream,
                      pacer_t &pacer, void *d_sum) {
    const uint64_t points = uint64_t(1) << runs.lg_runs;
    halving_t<F> halving{space.runs, points, 1, runs.lg_runs, lg_sum_last, space.runs, points, space.sums};
    CZK_TRY(halve(halving, space.tree.before, device, stream, pacer));
    constexpr unsigned threads = part_shape_t<F>::threads;
    one_part_t<F> part{space.sums, lg_sum_last};
    CZK_LAUNCH(sum_parts<F, one_part_t<F>, threads><<<1, threads, 0, stream>>>(part, static_cast<unsigned char *>(d_sum)));
    return ok();
}

template <class F>
czk_status_t sum(const void *d_bases, const uint32_t *d_indices, uint64_t count, void *d_workspace,
                 uint64_t workspace_bytes, cudaStream_t stream, const czk_poll_t *poll, void *d_sum) {
    CZK_REQUIRE(count <= item_sign, CZK_INVALID);
    uint64_t chunk_items = count < sum_chunk_min ? sum_chunk_min : count > sum_chunk_max ? sum_chunk_max : count;
    while (chunk_items > sum_chunk_min && sum_space_t<F>(chunk_items, sum_scan_bytes, nullptr).bytes > workspace_bytes) {
        chunk_items = larger(chunk_items / 2, sum_chunk_min);
    }
    const sum_space_t<F> space(chunk_items, sum_scan_bytes, d_workspace);
    CZK_REQUIRE(space.bytes <= workspace_bytes, CZK_WORKSPACE);
    uint64_t scan_bytes = 0;
    CZK_TRY(scan_bytes_for(uint64_t(1) << lg_runs_max, scan_bytes));
    CZK_REQUIRE(scan_bytes <= sum_scan_bytes, CZK_WORKSPACE);
    device_shape_t device;
    CZK_TRY(read_device_shape(device));
    pacer_t pacer(poll, stream);
    const runs_t runs(count);
    CZK_LAUNCH(write_runs<<<blocks_for((uint64_t(1) << runs.lg_runs) + 1, 256), 256, 0, stream>>>(runs, space.starts));
    CZK_CUDA(cudaMemsetAsync(space.runs, 0, (uint64_t(1) << runs.lg_runs) * sizeof(affine_t<F>), stream));
    const uint32_t chunks = uint32_t((count + chunk_items - 1) / chunk_items);
    for (uint32_t c = 0; c < chunks; c++) {
        chunk_t chunk{uint32_t(c * chunk_items), uint32_t(c + 1 == chunks ? count : (c + 1) * chunk_items), 0, 0, false};
        const uint32_t *values = d_indices;
        if (d_indices == nullptr) {
            // Numbered from the chunk's begin, and read from there on.
            const uint32_t numbers = chunk.end - chunk.begin;
            CZK_LAUNCH(write_numbers<<<blocks_for(numbers, 256), 256, 0, stream>>>(chunk.begin, numbers, space.values));
            values = space.values - chunk.begin;
        }
        const chunk_stats_t stats = run_stats(runs, chunk);
        chunk.first = stats.first_bucket;
        chunk.count = stats.last_bucket - stats.first_bucket + 1;
        items_t<F> items{values, space.starts, {}, space.runs};
        items.bases.count = 1;
        items.bases.base[0] = static_cast<const affine_t<F> *>(d_bases);
        CZK_TRY(add_chunk(items, chunk, stats, space.tree, device, stream, pacer));
        CZK_TRY(join_chunk(items, chunk, space.tree, stream));
    }
    return sum_runs(runs, space, device, stream, pacer, d_sum);
}

} // namespace czk
