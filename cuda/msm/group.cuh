// What exports.cu calls for one group: compiled once for G1 and once for G2, since the kernels take long to compile.
#pragma once

#include "exports/msm.h"
#include "runtime/check.cuh"

namespace czk {

struct msm_group_t {
    czk_status_t (*plan)(czk_msm_plan_t &plan, uint64_t budget_bytes, uint32_t windows, uint32_t together);
    // first < 0: run. Otherwise add.
    czk_status_t (*add)(const czk_msm_plan_t &plan, int32_t first, const czk_msm_term_t *terms, uint32_t term_count,
                        void *d_workspace, const czk_msm_streams_t &streams, const czk_poll_t *poll,
                        czk_msm_trace_t *trace, void *d_parts);
    czk_status_t (*end)(const czk_msm_plan_t &plan, void *d_workspace, const czk_msm_streams_t &streams,
                        const czk_poll_t *poll, czk_msm_trace_t *trace, void *d_parts);
    uint64_t (*sum_bytes)(uint64_t count);
    czk_status_t (*sum)(const void *d_bases, const uint32_t *d_indices, uint64_t count, void *d_workspace,
                        uint64_t workspace_bytes, cudaStream_t stream, const czk_poll_t *poll, void *d_sum);
    uint64_t (*fixed_base_bytes)();
    czk_status_t (*fixed_base)(const void *d_powers, const void *d_scalars, int32_t canonical, uint64_t count,
                               void *d_points, void *d_workspace, uint64_t workspace_bytes, cudaStream_t stream,
                               const czk_poll_t *poll);
};

extern const msm_group_t msm_g1, msm_g2;

} // namespace czk
