// exports/msm.h: argument checks, then the group's own code.
#include "msm/group.cuh"
#include "msm/windows.h"

using namespace czk;

namespace {

const msm_group_t &group_entries_of(int32_t group) { return group == 1 ? msm_g1 : msm_g2; }

bool is_group(int32_t group) { return group == 1 || group == 2; }

} // namespace

extern "C" {

czk_status_t czk_msm_plan(int32_t group, int32_t keep, uint64_t count_max, uint64_t budget_bytes, uint32_t windows,
                          uint32_t together, czk_msm_plan_t *plan) {
    CZK_REQUIRE(is_group(group), CZK_INVALID);
    CZK_REQUIRE(windows == 0 || (windows >= msm_windows_min && windows <= msm_windows_max), CZK_INVALID);
    *plan = czk_msm_plan_t{};
    plan->group = group;
    plan->keep = keep != 0;
    plan->count_max = count_max > 0 ? count_max : 1;
    return group_entries_of(group).plan(*plan, budget_bytes, windows, together);
}

czk_status_t czk_msm_run(const czk_msm_plan_t *plan, const czk_msm_term_t *terms, uint32_t term_count, void *d_workspace,
                         const czk_msm_streams_t *streams, const czk_poll_t *poll, czk_msm_trace_t *trace,
                         void *d_parts) {
    CZK_REQUIRE(is_group(plan->group) && !plan->keep && d_parts != nullptr, CZK_INVALID);
    return group_entries_of(plan->group).add(*plan, 1, terms, term_count, d_workspace, *streams, poll, trace, d_parts);
}

czk_status_t czk_msm_add(const czk_msm_plan_t *plan, int32_t first, const czk_msm_term_t *terms, uint32_t term_count,
                         void *d_workspace, const czk_msm_streams_t *streams, const czk_poll_t *poll,
                         czk_msm_trace_t *trace) {
    CZK_REQUIRE(is_group(plan->group) && plan->keep, CZK_INVALID);
    return group_entries_of(plan->group).add(*plan, first, terms, term_count, d_workspace, *streams, poll, trace, nullptr);
}

czk_status_t czk_msm_end(const czk_msm_plan_t *plan, void *d_workspace, const czk_msm_streams_t *streams,
                         const czk_poll_t *poll, czk_msm_trace_t *trace, void *d_parts) {
    CZK_REQUIRE(is_group(plan->group) && plan->keep && d_parts != nullptr, CZK_INVALID);
    return group_entries_of(plan->group).end(*plan, d_workspace, *streams, poll, trace, d_parts);
}

czk_status_t czk_msm_exponents(const czk_msm_plan_t *plan, uint32_t *exponents, uint32_t *part_count) {
    const windows_t windows{plan->windows};
    CZK_REQUIRE(windows.count >= msm_windows_min && windows.count <= msm_windows_max, CZK_INVALID);
    static_assert(msm_bits <= CZK_MSM_PARTS, "a window of n bits has n parts");
    uint32_t count = 0;
    for (uint32_t w = 0; w < windows.count; w++) {
        exponents[count++] = windows.low(w);
        for (uint32_t bit = 0; bit + 1 < windows.width(w); bit++) exponents[count++] = windows.low(w) + bit;
    }
    *part_count = count;
    return ok();
}

uint64_t czk_sum_workspace_bytes(int32_t group, uint64_t count) {
    return is_group(group) ? group_entries_of(group).sum_bytes(count) : 0;
}

czk_status_t czk_sum(int32_t group, const void *d_bases, const uint32_t *d_indices, uint64_t count, void *d_workspace,
                     uint64_t workspace_bytes, void *stream, const czk_poll_t *poll, void *d_sum) {
    CZK_REQUIRE(is_group(group), CZK_INVALID);
    return group_entries_of(group).sum(d_bases, d_indices, count, d_workspace, workspace_bytes,
                                       static_cast<cudaStream_t>(stream), poll, d_sum);
}

uint64_t czk_fixed_base_workspace_bytes(int32_t group) {
    return is_group(group) ? group_entries_of(group).fixed_base_bytes() : 0;
}

czk_status_t czk_fixed_base(int32_t group, const void *d_powers, const void *d_scalars, int32_t canonical, uint64_t count,
                            void *d_points, void *d_workspace, uint64_t workspace_bytes, void *stream,
                            const czk_poll_t *poll) {
    CZK_REQUIRE(is_group(group), CZK_INVALID);
    return group_entries_of(group).fixed_base(d_powers, d_scalars, canonical, count, d_points, d_workspace,
                                              workspace_bytes, static_cast<cudaStream_t>(stream), poll);
}

} // extern "C"
