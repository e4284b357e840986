// The workspace of an MSM: what lies where, and the choice of windows and chunks that fits a budget.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include "msm/reduce.cuh"
#include "msm/split.cuh"

namespace czk {

// Hands out aligned pieces of one allocation. From a null base it only measures.
class carver_t {
  public:
    explicit carver_t(void *base) : base_(static_cast<unsigned char *>(base)) {}

    template <class T>
    T *take(uint64_t count) {
        unsigned char *piece = base_ == nullptr ? nullptr : base_ + used_;
        used_ += (count * sizeof(T) + 255) / 256 * 256;
        return reinterpret_cast<T *>(piece);
    }
    uint64_t used() const { return used_; }

  private:
    unsigned char *base_;
    uint64_t used_ = 0;
};

inline windows_t windows_of(const czk_msm_plan_t &plan) { return {plan.windows}; }

// Windows [first, last) of group `index`.
inline window_group_t group_of(const czk_msm_plan_t &plan, uint32_t index) {
    const windows_t windows = windows_of(plan);
    const uint32_t first = index * plan.windows_together;
    const uint32_t last = first + plan.windows_together < plan.windows ? first + plan.windows_together : plan.windows;
    return {windows, first, last, digit_offset(windows)};
}

inline uint32_t group_count(const czk_msm_plan_t &plan) {
    return (plan.windows + plan.windows_together - 1) / plan.windows_together;
}

// Buckets of the largest group.
inline uint64_t buckets_together(const czk_msm_plan_t &plan) {
    uint64_t most = 0;
    for (uint32_t g = 0; g < group_count(plan); g++) {
        const window_group_t group = group_of(plan, g);
        const uint64_t buckets = group.windows.buckets(group.first, group.last);
        most = buckets > most ? buckets : most;
    }
    return most;
}

inline uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Whether the plan's windows are split (split.h), unless their scalars are skewed. A part is sorted in shared memory.
inline bool is_split(const czk_msm_plan_t &plan) {
    const windows_t windows = windows_of(plan);
    constexpr uint64_t room_max = (shared_block_least - sort_part_bytes) / sizeof(uint32_t);
    const uint32_t widest = windows.width(0), narrowest = windows.width(windows.count - 1);
    return plan.windows_together == 1 && can_split(widest - 1) && can_split(narrowest - 1) &&
           part_room(plan.count_max, sort_parts) <= room_max;
}

// Memory of the splits: parts after the first and after the second.
struct split_memory_t {
    parts_out_t parts[2];
    uint32_t *begins;
};

// The sort is over when the trees begin, so that it uses their memory but for the sorted values.
template <class F>
struct workspace_t {
    item_count_t *count; // of a group; void if a part of a split is full
    uint32_t *signs;  // of scalars in planes
    split_memory_t split;
    chunk_stats_t *stats;
    uint32_t *keys[2], *values[2], *starts; // values[0] are those that are sorted at last
    void *sort;
    tree_memory_t<F> tree[2]; // of chunks side by side
    affine_t<F> *buckets, *kept, *sums;
    uint64_t bytes;

    workspace_t(const czk_msm_plan_t &plan, uint64_t scan_bytes, void *base) {
        carver_t carver(base);
        const windows_t windows = windows_of(plan);
        const uint64_t items = plan.count_max * plan.windows_together;
        const uint64_t together = buckets_together(plan), kept_points = kept_before_class(windows, windows.count);
        count = carver.take<item_count_t>(1);
        signs = carver.take<uint32_t>(plan.count_max / 32 + CZK_MSM_TERMS);
        stats = carver.take<chunk_stats_t>(chunks_max);
        values[0] = carver.take<uint32_t>(items);
        starts = carver.take<uint32_t>(together + 1);
        buckets = carver.take<affine_t<F>>(plan.keep ? windows.buckets(0, windows.count) : together);
        kept = carver.take<affine_t<F>>(kept_points);
        sums = carver.take<affine_t<F>>(sum_points(windows));
        carver_t again_split = carver;
        if (is_split(plan)) carve_split(plan, again_split);
        carver_t again = carver;
        for (auto &piece : keys) piece = again.take<uint32_t>(items);
        values[1] = again.take<uint32_t>(items);
        sort = again.take<unsigned char>(plan.sort_bytes);
        // They serve the reduction too: half as many slots as buckets, and products for pairs of all that is kept.
        const uint64_t chunk_pairs = larger(plan.chunk_items, plan.slots) / 2 + 1;
        for (auto &own : tree) {
            const bool is_first = &own == tree;
            const uint64_t points = is_first ? larger(together, kept_points) : together;
            own.slots = carver.take<affine_t<F>>(larger(plan.slots, is_first ? together / 2 : 0));
            own.before = carver.take<F>(products_for<F>(larger(chunk_pairs, points / 2 + 1)));
            own.list = carver.take<unsigned char>(pair_list_bytes(plan.chunk_items, plan.slots));
            own.slot_offsets = carver.take<uint32_t>(together);
            own.pair_offsets = carver.take<uint32_t>(together);
            own.scan = carver.take<unsigned char>(scan_bytes);
            own.scan_bytes = scan_bytes;
        }
        bytes = larger(carver.used(), larger(again.used(), again_split.used()));
    }

  private:
    void carve_split(const czk_msm_plan_t &plan, carver_t &carver) {
        const split_shape_t shape(0, plan.count_max);
        split.parts[0] = {carver.take<uint32_t>(shape.first_items()), carver.take<uint16_t>(shape.first_items()),
                          carver.take<uint32_t>(split_parts), shape.first_room, &count->is_cut_short};
        split.parts[1] = {carver.take<uint32_t>(shape.last_items()), carver.take<uint16_t>(shape.last_items()),
                          carver.take<uint32_t>(sort_parts), shape.last_room, &count->is_void};
        split.begins = carver.take<uint32_t>(sort_parts);
    }
};

inline uint32_t bits_for(uint64_t values) {
    uint32_t bits = 1;
    while ((uint64_t(1) << bits) < values) bits++;
    return bits;
}

inline czk_status_t sort_items(cub::DoubleBuffer<uint32_t> &keys, cub::DoubleBuffer<uint32_t> &values, uint32_t items,
                               uint32_t bits, void *temporary, uint64_t &bytes, cudaStream_t stream) {
    size_t size = bytes;
    CZK_CUDA(cub::DeviceRadixSort::SortPairs(temporary, size, keys, values, items, 0, int(bits), stream));
    bytes = size;
    return ok();
}

// Temporary bytes of a scan over `count` buckets.
inline czk_status_t scan_bytes_for(uint64_t count, uint64_t &bytes) {
    size_t size = 0;
    auto input = thrust::make_transform_iterator(thrust::make_counting_iterator(uint32_t(0)), segment_sizes_t{});
    CZK_CUDA(cub::DeviceScan::ExclusiveSum(nullptr, size, input, static_cast<uint32_t *>(nullptr), int(count)));
    bytes = size;
    return ok();
}

// Slots that a chunk may need: half its items, one more for each bucket with an odd number, one for each sum so far.
inline uint64_t slots_for(uint64_t chunk_items, uint64_t buckets, bool keep) {
    const uint64_t filled = buckets < chunk_items ? buckets : chunk_items;
    return chunk_items / 2 + (keep ? filled + filled / 2 : filled / 2) + 8;
}

// Completes a plan whose windows are chosen: the largest chunks that fit the budget, an even number of them and at least
// 2^16 items each. workspace_bytes is 0 if even those don't fit.
template <class F>
czk_status_t complete_plan(czk_msm_plan_t &plan, uint64_t budget_bytes) {
    const uint64_t items = plan.count_max * plan.windows_together, together = buckets_together(plan);
    plan.workspace_bytes = 0;
    if (items == 0 || items > 0xffffffffu - 1024 || together > 0x7fffffff) return ok();
    uint64_t scan_bytes = 0;
    cub::DoubleBuffer<uint32_t> none;
    plan.sort_bytes = 0;
    CZK_TRY(sort_items(none, none, uint32_t(items), bits_for(together), nullptr, plan.sort_bytes, nullptr));
    CZK_TRY(scan_bytes_for(together, scan_bytes));
    for (uint64_t chunks = 2; chunks <= chunks_max; chunks += 2) {
        plan.chunk_items = (items + chunks - 1) / chunks;
        plan.slots = slots_for(plan.chunk_items, together, plan.keep != 0);
        const uint64_t bytes = workspace_t<F>(plan, scan_bytes, nullptr).bytes;
        if (bytes <= budget_bytes) {
            plan.workspace_bytes = bytes;
            return ok();
        }
        if (plan.chunk_items <= 1 << 16) break;
    }
    return ok();
}

// Milliseconds that a plan is expected to take, for choosing among plans alone. Each bucket costs about 2.5 additions
// beside its items (rows, columns, copies), each launch of the tree's levels some 60 us when it has little to do.
template <class F>
double expected_ms(const czk_msm_plan_t &plan) {
    const double pairs_per_ms = 1.5 * add_shape_t<F>::pairs_per_ms;
    const double items = double(plan.count_max) * plan.windows;
    const double buckets = double(windows_of(plan).buckets(0, plan.windows));
    const double groups = group_count(plan);
    const double chunks = double(plan.count_max) * plan.windows_together / double(plan.chunk_items);
    const double levels = bits_for(uint64_t(items / buckets) + 1) + 3 + (plan.keep ? 1 : 0);
    const double reductions = 2.0 * 255 / plan.windows;
    return (items + 2.5 * buckets) / pairs_per_ms + 0.06 * groups * (chunks * levels + reductions);
}

// Digits that are worth sorting and summing together: enough to fill the device, and one chunk still holds them.
constexpr uint64_t items_together_max = uint64_t(1) << 25;

template <class F>
czk_status_t choose_plan(czk_msm_plan_t &plan, uint64_t budget_bytes, uint32_t windows, uint32_t together) {
    czk_msm_plan_t best = plan;
    best.workspace_bytes = 0;
    double best_ms = 0;
    const uint32_t low = windows ? windows : msm_windows_min + 1, high = windows ? windows : msm_windows_max;
    for (plan.windows = low; plan.windows <= high; plan.windows++) {
        uint64_t most = together ? together : items_together_max / (plan.count_max ? plan.count_max : 1);
        most = most < 1 ? 1 : most > plan.windows ? plan.windows : most;
        const uint64_t groups = (plan.windows + most - 1) / most;
        plan.windows_together = uint32_t((plan.windows + groups - 1) / groups);
        CZK_TRY(complete_plan<F>(plan, budget_bytes));
        if (plan.workspace_bytes == 0) continue;
        const double ms = expected_ms<F>(plan);
        if (best.workspace_bytes == 0 || ms < best_ms) {
            best = plan;
            best_ms = ms;
        }
    }
    plan = best;
    CZK_REQUIRE(plan.workspace_bytes != 0 && "a plan fits budget_bytes", CZK_INVALID);
    return ok();
}

} // namespace czk
