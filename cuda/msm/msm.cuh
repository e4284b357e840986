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
        return ok();
    }

    // Adds all terms to the buckets, group by group. Without plan.keep the buckets of a group are reduced before the next
    // one uses them; with it, `first` says that they hold nothing yet.
    czk_status_t add(bool first) {
        for (uint32_t g = 0; g < group_count(plan_); g++) {
            const window_group_t group = group_of(plan_, g);
            uint32_t items = 0;
            if (count_ > 0) CZK_TRY(cut(group, items));
            const chunking_t chunking = chunking_of(items, first);
            CZK_REQUIRE(chunking.count() <= chunks_max, CZK_INVALID);
            if (items > 0) CZK_TRY(sort(group, chunking));
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
    chunking_t chunking_of(uint32_t items, bool first) const {
        if (items == 0) return {0, 1, false};
        const uint32_t chunks = uint32_t((items + plan_.chunk_items - 1) / plan_.chunk_items);
        return {items, (items + chunks - 1) / chunks, plan_.keep != 0 && !first};
    }

    // Values are to end up in values[0]: after an even number of passes of 8 bits they do if they start there.
    uint32_t start_buffer(const window_group_t &group) const { return (bits_for(group.bucket_count()) + 7) / 8 % 2; }

    // Writes the group's items, and waits to know how many there are.
    czk_status_t cut(const window_group_t &group, uint32_t &items) {
        phase_t phase(trace_, CZK_MSM_DIGITS, stream_);
        CZK_CUDA(cudaMemsetAsync(space_.cursor, 0, sizeof *space_.cursor, stream_));
        const uint32_t blocks = blocks_for(count_, digit_threads * scalars_a_thread);
        CZK_LAUNCH(cut_digits<digit_threads><<<blocks, digit_threads, 0, stream_>>>(
            terms_, count_, group, space_.keys[0], space_.values[start_buffer(group)], space_.cursor));
        CZK_TRY(phase.end());
        CZK_CUDA(cudaMemcpyAsync(&items, space_.cursor, sizeof items, cudaMemcpyDeviceToHost, stream_));
        CZK_CUDA(cudaStreamSynchronize(stream_));
        return ok();
    }

    // Sorts them, finds where buckets begin, and waits for what the host must know before it launches the tree.
    czk_status_t sort(const window_group_t &group, const chunking_t &chunking) {
        phase_t phase(trace_, CZK_MSM_SORT, stream_);
        const uint32_t start = start_buffer(group), items = chunking.items, buckets = group.bucket_count();
        cub::DoubleBuffer<uint32_t> keys(space_.keys[0], space_.keys[1]);
        cub::DoubleBuffer<uint32_t> values(space_.values[start], space_.values[1 - start]);
        uint64_t sort_bytes = plan_.sort_bytes;
        CZK_TRY(sort_items(keys, values, items, bits_for(buckets), space_.sort, sort_bytes, stream_));
        if (values.Current() != space_.values[0]) {
            CZK_CUDA(cudaMemcpyAsync(space_.values[0], values.Current(), items * sizeof(uint32_t), cudaMemcpyDeviceToDevice,
                                     stream_));
        }
        const size_t stats_bytes = chunking.count() * sizeof(chunk_stats_t);
        CZK_CUDA(cudaMemsetAsync(space_.stats, 0, stats_bytes, stream_));
        CZK_LAUNCH(find_starts<<<blocks_for(uint64_t(items) + 1, 256 * keys_a_thread), 256, 0, stream_>>>(
            keys.Current(), items, buckets, space_.starts));
        CZK_LAUNCH(find_chunk_buckets<<<1, chunks_max, 0, stream_>>>(keys.Current(), chunking, space_.stats));
        CZK_LAUNCH(count_pairs<<<blocks_for(buckets, 256), 256, 0, stream_>>>(space_.starts, buckets, chunking, space_.stats));
        CZK_TRY(phase.end());
        CZK_CUDA(cudaMemcpyAsync(stats_, space_.stats, stats_bytes, cudaMemcpyDeviceToHost, stream_));
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
        CZK_TRY(reduce_windows<F>(group.windows, group.first, group.last, buckets_of(group), space_.tree[0].slots,
                                  space_.tree[0].before, space_.kept, device_, stream_, pacer_));
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
