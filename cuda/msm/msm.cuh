// Host side of an MSM: groups of windows are cut and sorted on one stream while the group before is summed on another.
#pragma once

#include "msm/workspace.cuh"

namespace czk {

constexpr unsigned digit_threads = 1024;

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
        : plan_(plan), space_(workspace), main_(static_cast<cudaStream_t>(streams.stream)),
          side_(static_cast<cudaStream_t>(streams.side_stream ? streams.side_stream : streams.stream)),
          sorted_(static_cast<cudaEvent_t>(streams.events[0])), summed_(static_cast<cudaEvent_t>(streams.events[1])),
          pacer_(poll, main_), trace_(trace) {}

    czk_status_t prepare(const czk_msm_term_t *terms, uint32_t term_count) {
        CZK_TRY(read_device_shape(device_));
        CZK_REQUIRE(term_count >= 1 && term_count <= CZK_MSM_TERMS, CZK_INVALID);
        terms_.count = bases_.count = term_count;
        uint64_t base_count = 0;
        for (uint32_t t = 0; t < term_count; t++) {
            count_ += terms[t].count;
            terms_.term[t] = {terms[t].d_indices, terms[t].d_scalars, count_, uint32_t(base_count), terms[t].canonical};
            bases_.base[t] = static_cast<const affine_t<F> *>(terms[t].d_bases);
            bases_.first[t] = uint32_t(base_count);
            base_count += terms[t].base_count;
        }
        CZK_REQUIRE(count_ <= plan_.count_max && "at most count_max scalars", CZK_INVALID);
        CZK_REQUIRE(base_count <= item_sign && "at most 2^31 bases", CZK_INVALID);
        return count_items();
    }

    // Adds all terms to the buckets, group by group. Without plan.keep the buckets of a group are reduced before the next
    // one uses them; with it, `first` says that they hold nothing yet.
    czk_status_t add(bool first) {
        const uint32_t groups = group_count(plan_);
        CZK_TRY(cut_and_sort(0, first));
        for (uint32_t g = 0; g < groups; g++) {
            CZK_TRY(fetch_stats(g));
            if (g + 1 < groups) CZK_TRY(cut_and_sort(g + 1, first));
            CZK_TRY(sum_group(g, first));
        }
        return ok();
    }

    // Rows and columns of the groups, for keeping plans.
    czk_status_t reduce_all() {
        CZK_TRY(read_device_shape(device_));
        for (uint32_t g = 0; g < group_count(plan_); g++) CZK_TRY(reduce(g));
        return ok();
    }

    czk_status_t finish(void *d_parts) {
        phase_t phase(trace_, CZK_MSM_REDUCE, main_);
        CZK_TRY(finish_windows<F>(windows_of(plan_), space_.kept, space_.sums, space_.tree.before,
                                  static_cast<unsigned char *>(d_parts), device_, main_, pacer_));
        return phase.end();
    }

  private:
    // Digits other than 0 of every window: what is sorted, and known here before anything is cut.
    czk_status_t count_items() {
        phase_t phase(trace_, CZK_MSM_DIGITS, main_);
        CZK_CUDA(cudaMemsetAsync(space_.counts, 0, msm_windows_max * sizeof(uint32_t), main_));
        window_group_t all{windows_of(plan_), 0, plan_.windows, digit_offset(windows_of(plan_))};
        if (count_ > 0) {
            const uint32_t blocks = min(blocks_for(count_, 256), device_.multiprocessors * 8);
            CZK_LAUNCH(count_digits<<<blocks, 256, 0, main_>>>(terms_, count_, all, space_.counts));
        }
        CZK_TRY(phase.end());
        CZK_CUDA(cudaMemcpyAsync(counts_, space_.counts, sizeof counts_, cudaMemcpyDeviceToHost, main_));
        CZK_CUDA(cudaStreamSynchronize(main_));
        return ok();
    }

    uint32_t items_of(const window_group_t &group) const {
        uint32_t items = 0;
        for (uint32_t w = group.first; w < group.last; w++) items += counts_[w];
        return items;
    }

    chunking_t chunking_of(uint32_t items, bool first) const {
        if (items == 0) return {0, 1, false};
        const uint32_t chunks = uint32_t((items + plan_.chunk_items - 1) / plan_.chunk_items);
        return {items, (items + chunks - 1) / chunks, plan_.keep != 0 && !first};
    }

    // On the side stream: items of group g, sorted, and where its buckets begin. Of the three buffers for values the one
    // that the group before is being summed from stays untouched.
    czk_status_t cut_and_sort(uint32_t g, bool first) {
        const window_group_t group = group_of(plan_, g);
        const uint32_t items = items_of(group);
        if (g >= 2 && side_ != main_) CZK_CUDA(cudaStreamWaitEvent(side_, summed_, 0));
        if (items == 0) return ok();
        uint32_t *cursor = space_.counts + msm_windows_max;
        const uint32_t other[2] = {(values_at_ + 1) % 3, (values_at_ + 2) % 3};
        phase_t cutting(trace_, CZK_MSM_DIGITS, side_);
        CZK_CUDA(cudaMemsetAsync(cursor, 0, sizeof *cursor, side_));
        const uint32_t blocks = blocks_for(count_, digit_threads * scalars_a_thread);
        CZK_LAUNCH(cut_digits<digit_threads><<<blocks, digit_threads, 0, side_>>>(
            terms_, count_, group, space_.keys[0], space_.values[other[0]], cursor));
        CZK_TRY(cutting.end());
        phase_t sorting(trace_, CZK_MSM_SORT, side_);
        cub::DoubleBuffer<uint32_t> keys(space_.keys[0], space_.keys[1]);
        cub::DoubleBuffer<uint32_t> values(space_.values[other[0]], space_.values[other[1]]);
        uint64_t sort_bytes = plan_.sort_bytes;
        const uint32_t buckets = group.bucket_count();
        CZK_TRY(sort_items(keys, values, items, bits_for(buckets), space_.sort, sort_bytes, side_));
        next_values_at_ = other[values.selector];
        const chunking_t chunking = chunking_of(items, first);
        CZK_REQUIRE(chunking.count() <= chunks_max, CZK_INVALID);
        uint32_t *starts = space_.starts[g % 2];
        CZK_CUDA(cudaMemsetAsync(space_.stats, 0, chunking.count() * sizeof(chunk_stats_t), side_));
        CZK_LAUNCH(find_starts<<<blocks_for(uint64_t(items) + 1, 256), 256, 0, side_>>>(keys.Current(), items, buckets,
                                                                                      starts));
        CZK_LAUNCH(find_chunk_buckets<<<1, chunks_max, 0, side_>>>(keys.Current(), chunking, space_.stats));
        CZK_LAUNCH(count_pairs<<<blocks_for(buckets, 256), 256, 0, side_>>>(starts, buckets, chunking, space_.stats));
        CZK_TRY(sorting.end());
        if (side_ != main_) CZK_CUDA(cudaEventRecord(sorted_, side_));
        return ok();
    }

    // What the host must know of group g before it launches its tree. Waits for the side stream.
    czk_status_t fetch_stats(uint32_t g) {
        const chunking_t chunking = chunking_of(items_of(group_of(plan_, g)), false);
        values_at_ = next_values_at_;
        if (chunking.count() == 0) return ok();
        const size_t bytes = chunking.count() * sizeof(chunk_stats_t);
        CZK_CUDA(cudaMemcpyAsync(stats_, space_.stats, bytes, cudaMemcpyDeviceToHost, side_));
        CZK_CUDA(cudaStreamSynchronize(side_));
        if (side_ != main_) CZK_CUDA(cudaStreamWaitEvent(main_, sorted_, 0));
        return ok();
    }

    affine_t<F> *buckets_of(const window_group_t &group) const {
        return space_.buckets + (plan_.keep ? group.windows.buckets(0, group.first) : 0);
    }

    czk_status_t sum_group(uint32_t g, bool first) {
        const window_group_t group = group_of(plan_, g);
        affine_t<F> *buckets = buckets_of(group);
        phase_t phase(trace_, CZK_MSM_ACCUMULATE, main_);
        if (first) CZK_CUDA(cudaMemsetAsync(buckets, 0, group.bucket_count() * sizeof(affine_t<F>), main_));
        items_t<F> items{space_.values[values_at_], space_.starts[g % 2], bases_, buckets};
        CZK_TRY(add_chunks(items, chunking_of(items_of(group), first), stats_, space_.tree, device_, main_, pacer_));
        if (side_ != main_) CZK_CUDA(cudaEventRecord(summed_, main_));
        CZK_TRY(phase.end());
        return plan_.keep ? ok() : reduce(g);
    }

    czk_status_t reduce(uint32_t g) {
        const window_group_t group = group_of(plan_, g);
        phase_t phase(trace_, CZK_MSM_REDUCE, main_);
        CZK_TRY(reduce_windows<F>(group.windows, group.first, group.last, buckets_of(group), space_.tree.slots,
                                  space_.tree.before, space_.kept, device_, main_, pacer_));
        return phase.end();
    }

    const czk_msm_plan_t &plan_;
    const workspace_t<F> &space_;
    cudaStream_t main_, side_;
    cudaEvent_t sorted_, summed_;
    pacer_t pacer_;
    czk_msm_trace_t *trace_;
    device_shape_t device_{};
    terms_t terms_{};
    bases_t<F> bases_{};
    uint64_t count_ = 0;
    uint32_t counts_[msm_windows_max];
    chunk_stats_t stats_[chunks_max];
    uint32_t values_at_ = 2, next_values_at_ = 2;
};

} // namespace czk
