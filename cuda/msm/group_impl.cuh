// The entries of msm_group_t for coordinates in F.
#pragma once

#include "msm/fixed_base.cuh"
#include "msm/group.cuh"
#include "msm/msm.cuh"
#include "msm/sum.cuh"

namespace czk {

template <class F>
czk_status_t group_add(const czk_msm_plan_t &plan, int32_t first, const czk_msm_term_t *terms, uint32_t term_count,
                       void *d_workspace, const czk_msm_streams_t &streams, const czk_poll_t *poll,
                       czk_msm_trace_t *trace, void *d_parts) {
    uint64_t scan_bytes = 0;
    CZK_TRY(scan_bytes_for(buckets_together(plan), scan_bytes));
    const workspace_t<F> space(plan, scan_bytes, d_workspace);
    CZK_REQUIRE(space.bytes <= plan.workspace_bytes, CZK_WORKSPACE);
    msm_call_t<F> call(plan, space, streams, poll, trace);
    CZK_TRY(call.prepare(terms, term_count));
    CZK_TRY(call.add(first != 0));
    return d_parts == nullptr ? ok() : call.finish(d_parts);
}

template <class F>
czk_status_t group_end(const czk_msm_plan_t &plan, void *d_workspace, const czk_msm_streams_t &streams,
                       const czk_poll_t *poll, czk_msm_trace_t *trace, void *d_parts) {
    uint64_t scan_bytes = 0;
    CZK_TRY(scan_bytes_for(buckets_together(plan), scan_bytes));
    const workspace_t<F> space(plan, scan_bytes, d_workspace);
    CZK_REQUIRE(space.bytes <= plan.workspace_bytes, CZK_WORKSPACE);
    msm_call_t<F> call(plan, space, streams, poll, trace);
    CZK_TRY(call.reduce_all());
    return call.finish(d_parts);
}

template <class F>
constexpr msm_group_t group_entries() {
    return {choose_plan<F>, group_add<F>,                group_end<F>,  sum_workspace_bytes<F>,
            sum<F>,         fixed_base_workspace_bytes<F>, fixed_base<F>};
}

} // namespace czk
