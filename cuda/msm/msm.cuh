// Host side of an MSM: one group of windows after the other is cut, sorted and summed, its chunks on two streams by turns.
#pragma once

#include "msm/workspace.cuh"

namespace czk {

constexpr unsigned digit_threads = 512;

// Records begin and end of a phase, for czk_msm_trace_t.
class phase_t {
  public:
    phase_t(czk_msm_trace_t *trace, uint8_t phase, cudaStream_t stream) : trace_(trace), stream_(stream) {
        if (trace_ == nullptr || trace_->used == trace_->capacity) {
            trace_ = nullptr;
            return;
        }
        entry_ = trace_->used++;
        trace_->phases[entry_] = phase;
        error_ = cudaEventRecord(static_cast<cudaEvent_t>(trace_->events[2 * entry_]), stream_);
    }

    czk_status_t end() {
        if (trace_ == nullptr) return ok();
        CZK_CUDA(error_);
        CZK_CUDA(cudaEventRecord(static_cast<cudaEvent_t>(trace_->events[2 * entry_ + 1]), stream_));
        return ok();
    }

  private:
    czk_msm_trace_t *trace_;
    cudaStream_t stream_;
    uint32_t entry_ = 0;
    cudaError_t error_ = cudaSuccess;
};

// One call of czk_msm_run or czk_msm_add.
template <class F>
class msm_call_t {
  public:
    msm_call_t(const czk_msm_plan_t &plan, const workspace_t<F> &workspace, const czk_msm_streams_t &streams,
               const czk_poll_t *poll, czk_msm_trace_t *trace)
        : plan_(plan), space_(workspace), stream_(static_cast<cudaStream_t>(streams.stream)), pacer_(poll, stream_),
          trace_(trace) {
        streams_ = {{stream_, streams.side_stream ? static_cast<cudaStream_t>(streams.side_stream) : stream_},
                    {static_cast<cudaEvent_t>(streams.events[0]), static_cast<cudaEvent_t>(streams.events[1])}};
    }

    // Checks the terms, and turns scalars that may be overwritten into planes.
    czk_status_t prepare(const czk_msm_term_t *terms, uint32_t term_count) {
        CZK_TRY(read_device_shape(device_));
        CZK_REQUIRE(term_count >= 1 && term_count <= CZK_MSM_TERMS, CZK_INVALID);
        terms_.count = bases_.count = term_count;
        uint64_t base_count = 0;
        for (uint32_t t = 0; t < term_count; t++) {
            count_ += terms[t].count;
            terms_.term[t] = {terms[t].d_indices, terms[t].d_scalars, terms[t].count, uint32_t(base_count),
                              terms[t].canonical, nullptr};
            bases_.base[t] = static_cast<const affine_t<F> *>(terms[t].d_bases);
            bases_.first[t] = uint32_t(base_count);
            base_count += terms[t].base_count;
        }
        CZK_REQUIRE(count_ <= plan_.count_max && "at most count_max scalars", CZK_INVALID);
        CZK_REQUIRE(base_count <= item_sign && "at most 2^31 bases", CZK_INVALID);
        phase_t phase(trace_, CZK_MSM_DIGITS, stream_);
        uint32_t *signs = space_.signs;
        for (uint32_t t = 0; t < term_count; t++) {
            if (!terms[t].consumed || terms[t].count == 0) continue;
            CZK_TRY(make_planes(terms_.term[t], terms[t].d_scalars, signs));
            signs += (terms[t].count + 31) / 32;
        }
        return phase.end();
    }

    // Adds all terms to the buckets, group by group. Without plan.keep the buckets of a group are reduced before the next
    // one uses them; with it, `first` says that they hold nothing yet.
    czk_status_t add(bool first) {
        for (uint32_t g = 0; g < group_count(plan_); g++) {
            const window_group_t group = group_of(plan_, g);
            item_count_t found{0, 1};
            if (count_ > 0 && is_split(plan_)) CZK_TRY(split(group, first, found));
            if (count_ > 0 && found.is_void != 0) CZK_TRY(cut_and_sort(group, first, found));
            const chunking_t chunking = chunking_of(found.items, plan_.chunk_items, has_sums(first));
            CZK_TRY(sum_group(group, chunking, first));
            if (!plan_.keep) CZK_TRY(reduce(group));
        }
        return ok();
    }

    // Rows and columns of the groups, for keeping plans.
    czk_status_t reduce_all() {
        CZK_TRY(read_device_shape(device_));
        for (uint32_t g = 0; g < group_count(plan_); g++) CZK_TRY(reduce(group_of(plan_, g)));
        return ok();
    }

    czk_status_t finish(void *d_parts) {
        phase_t phase(trace_, CZK_MSM_REDUCE, stream_);
        CZK_TRY(finish_windows<F>(windows_of(plan_), space_.kept, space_.sums, space_.tree[0].before,
                                  static_cast<unsigned char *>(d_parts), device_, stream_, pacer_));
        return phase.end();
    }

  private:
    bool has_sums(bool first) const { return plan_.keep != 0 && !first; }

    // Values are to end up in values[0]: after an even number of passes of 8 bits they do if they start there.
    uint32_t start_buffer(const window_group_t &group) const { return (bits_for(group.bucket_count()) + 7) / 8 % 2; }

    czk_status_t make_planes(term_t &term, void *d_scalars, uint32_t *signs) {
        const auto write = term.canonical != 0 ? write_planes<true> : write_planes<false>;
        CZK_LAUNCH(write<<<blocks_for(term.count, plane_tile), plane_tile, 0, stream_>>>(
            static_cast<uint32_t *>(d_scalars), term.count, digit_offset(windows_of(plan_)), signs));
        term.signs = signs;
        return ok();
    }

    split_shape_t shape_of(const window_group_t &group) const {
        return split_shape_t(group.windows.width(group.first) - 1, plan_.count_max);
    }

    czk_status_t clear_count() {
        CZK_CUDA(cudaMemsetAsync(space_.count, 0, sizeof *space_.count, stream_));
        return ok();
    }

    // Cuts the digits of a group of one window and sorts them by splits (split.h), unless a part is full.
    czk_status_t split(const window_group_t &group, bool first, item_count_t &found) {
        const split_shape_t shape = shape_of(group);
        const parts_out_t(&parts)[2] = space_.split.parts;
        phase_t digits(trace_, CZK_MSM_DIGITS, stream_);
        CZK_TRY(clear_count());
        CZK_CUDA(cudaMemsetAsync(parts[0].cursors, 0, split_parts * sizeof(uint32_t), stream_));
        CZK_CUDA(cudaMemsetAsync(parts[1].cursors, 0, sort_parts * sizeof(uint32_t), stream_));
        const window_bits_t bits{group.windows, group.first, group.offset};
        for (uint32_t t = 0; t < terms_.count; t++) {
            const term_t &term = terms_.term[t];
            if (term.count == 0) continue;
            const auto kernel = term.signs != nullptr ? split_digits<true> : split_digits<false>;
            constexpr uint32_t bytes = sizeof(split_shared_t<digits_a_thread>);
            CZK_TRY(allow_shared(kernel, bytes));
            CZK_LAUNCH(kernel<<<blocks_for(term.count, digits_a_thread * split_threads), split_threads, bytes, stream_>>>(
                term, bits, shape.lg_first(), parts[0]));
        }
        CZK_TRY(digits.end());
        phase_t sort(trace_, CZK_MSM_SORT, stream_);
        constexpr uint32_t split_bytes = sizeof(split_shared_t<items_a_thread>);
        static_assert(split_bytes <= shared_block_least, "every card has room for a block");
        CZK_TRY(allow_shared(split_parts_again, split_bytes));
        const dim3 grid(blocks_for(parts[0].room, items_a_thread * split_threads), split_parts);
        CZK_LAUNCH(split_parts_again<<<grid, split_threads, split_bytes, stream_>>>(parts[0], shape.lg_last(), parts[1]));
        CZK_LAUNCH(scan_parts<<<1, 1024, 0, stream_>>>(parts[1].cursors, space_.split.begins, &space_.count->items));
        const uint32_t bytes = uint32_t(parts[1].room * sizeof(uint32_t));
        CZK_TRY(allow_shared(sort_part, bytes));
        CZK_LAUNCH(sort_part<<<sort_parts, split_threads, bytes, stream_>>>(parts[1], space_.split.begins, shape.lg_last(),
                                                                           space_.values[0], space_.starts));
        CZK_TRY(sort.end());
        return read_stats(group, first, found);
    }

    // Writes the group's items, waits to know how many there are, and sorts them.
    czk_status_t cut_and_sort(const window_group_t &group, bool first, item_count_t &found) {
        phase_t phase(trace_, CZK_MSM_DIGITS, stream_);
        CZK_TRY(clear_count());
        const uint32_t blocks = blocks_for(count_, digit_threads * scalars_a_thread);
        CZK_LAUNCH(cut_digits<digit_threads><<<blocks, digit_threads, 0, stream_>>>(
            terms_, count_, group, space_.keys[0], space_.values[start_buffer(group)], &space_.count->items));
        CZK_TRY(phase.end());
        CZK_CUDA(cudaMemcpyAsync(&found, space_.count, sizeof found, cudaMemcpyDeviceToHost, stream_));
        CZK_CUDA(cudaStreamSynchronize(stream_));
        if (found.items == 0) return ok();
        CZK_TRY(sort(group, found.items));
        return read_stats(group, first, found);
    }

    // Sorts them, and finds where buckets begin.
    czk_status_t sort(const window_group_t &group, uint32_t items) {
        phase_t phase(trace_, CZK_MSM_SORT, stream_);
        const uint32_t start = start_buffer(group), buckets = group.bucket_count();
        cub::DoubleBuffer<uint32_t> keys(space_.keys[0], space_.keys[1]);
        cub::DoubleBuffer<uint32_t> values(space_.values[start], space_.values[1 - start]);
        uint64_t sort_bytes = plan_.sort_bytes;
        CZK_TRY(sort_items(keys, values, items, bits_for(buckets), space_.sort, sort_bytes, stream_));
        if (values.Current() != space_.values[0]) {
            CZK_CUDA(cudaMemcpyAsync(space_.values[0], values.Current(), items * sizeof(uint32_t), cudaMemcpyDeviceToDevice,
                                     stream_));
        }
        CZK_LAUNCH(find_starts<<<blocks_for(uint64_t(items) + 1, 256 * keys_a_thread), 256, 0, stream_>>>(
            keys.Current(), items, buckets, space_.starts));
        return phase.end();
    }

    // Waits for what the host must know before it launches the tree.
    czk_status_t read_stats(const window_group_t &group, bool first, item_count_t &found) {
        phase_t phase(trace_, CZK_MSM_SORT, stream_);
        const uint32_t buckets = group.bucket_count();
        const uint64_t items_max = plan_.count_max * (group.last - group.first);
        const uint64_t chunks = (items_max + plan_.chunk_items - 1) / plan_.chunk_items;
        CZK_REQUIRE(chunks <= chunks_max, CZK_INVALID);
        const chunking_rule_t rule{space_.count, plan_.chunk_items, has_sums(first)};
        CZK_CUDA(cudaMemsetAsync(space_.stats, 0, chunks * sizeof(chunk_stats_t), stream_));
        CZK_LAUNCH(find_chunk_buckets<<<1, chunks_max, 0, stream_>>>(space_.starts, buckets, rule, space_.stats));
        CZK_LAUNCH(count_pairs<<<blocks_for(buckets, 256), 256, 0, stream_>>>(space_.starts, buckets, rule, space_.stats));
        CZK_TRY(phase.end());
        CZK_CUDA(cudaMemcpyAsync(&found, space_.count, sizeof found, cudaMemcpyDeviceToHost, stream_));
        CZK_CUDA(cudaMemcpyAsync(stats_, space_.stats, chunks * sizeof(chunk_stats_t), cudaMemcpyDeviceToHost, stream_));
        CZK_CUDA(cudaStreamSynchronize(stream_));
        return ok();
    }

    affine_t<F> *buckets_of(const window_group_t &group) const {
        return space_.buckets + (plan_.keep ? group.windows.buckets(0, group.first) : 0);
    }

    czk_status_t sum_group(const window_group_t &group, const chunking_t &chunking, bool first) {
        affine_t<F> *buckets = buckets_of(group);
        phase_t phase(trace_, CZK_MSM_ACCUMULATE, stream_);
        if (first) CZK_CUDA(cudaMemsetAsync(buckets, 0, group.bucket_count() * sizeof(affine_t<F>), stream_));
        items_t<F> items{space_.values[0], space_.starts, bases_, buckets};
        CZK_TRY(add_chunks(items, chunking, stats_, space_.tree, device_, streams_, pacer_));
        return phase.end();
    }

    czk_status_t reduce(const window_group_t &group) {
        phase_t phase(trace_, CZK_MSM_REDUCE, stream_);
        const reduction_memory_t<F> memory{
            space_.tree[0].slots, {space_.tree[0].before, space_.tree[1].before}, space_.kept};
        CZK_TRY(reduce_windows<F>(group.windows, group.first, group.last, buckets_of(group), memory, device_, streams_,
                                  pacer_));
        return phase.end();
    }

    const czk_msm_plan_t &plan_;
    const workspace_t<F> &space_;
    cudaStream_t stream_;
    chunk_streams_t streams_;
    pacer_t pacer_;
    czk_msm_trace_t *trace_;
    device_shape_t device_{};
    terms_t terms_{};
    bases_t<F> bases_{};
    uint64_t count_ = 0;
    chunk_stats_t stats_[chunks_max];
};

} // namespace czk
