// Multi-scalar multiplication, sums of selected points, and fixed-base multiplication (src/backend/cuda/sys/msm.rs).
//
// Points are affine in device form (96 bytes in G1, 192 in G2; infinity is all zero bytes) and scalars are fr_t in device
// form, or 32 little-endian canonical bytes where a flag says so. All pointers named d_ are to device memory, aligned to
// 16 bytes. No function allocates, creates streams or events, or waits for more than the given streams.
// group is 1 for G1 and 2 for G2.
#pragma once

#include <stddef.h>

#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CZK_MSM_TERMS = 4, CZK_MSM_PARTS = 256, CZK_MSM_TIMES = 1024 };

// scalars[i] belongs to bases[d_indices == NULL ? i : d_indices[i]], i in [0, count). base_count bounds the indices; the
// terms of one call have at most 2^31 bases together.
typedef struct {
    const void *d_bases;
    uint64_t base_count;
    const uint32_t *d_indices;
    void *d_scalars;
    uint64_t count;
    int32_t canonical; // scalars are canonical bytes
    int32_t consumed;  // scalars may be overwritten, which is faster: each window then reads 4 or 8 bytes of a scalar, not 32
} czk_msm_term_t;

// How an MSM is worked off: from czk_msm_plan, read-only to the caller.
typedef struct {
    int32_t group;
    int32_t keep;               // buckets of all windows are kept between calls of czk_msm_add
    uint32_t windows;           // the first 255 mod windows have one bit more than the rest
    uint32_t windows_together;  // windows that are sorted and summed as one
    uint64_t count_max;         // scalars in one call, all terms together
    uint64_t chunk_items;       // digits that one pass of the tree takes
    uint64_t slots;             // points of intermediate sums
    uint64_t sort_bytes;        // CUB's temporary memory
    uint64_t workspace_bytes;
} czk_msm_plan_t;

// A second stream lets the small kernels of one chunk run beside the additions of another; NULL: all on `stream`.
// events: two of the caller's that may be recorded, without times.
typedef struct {
    void *stream;
    void *side_stream;
    void *events[2];
} czk_msm_streams_t;

enum { CZK_MSM_DIGITS = 0, CZK_MSM_SORT = 1, CZK_MSM_ACCUMULATE = 2, CZK_MSM_REDUCE = 3, CZK_MSM_PHASES = 4 };

// Where the time went, for benches: events with times, recorded on the stream of the phase at its begin and end. With a
// side stream phases overlap.
typedef struct {
    void **events;       // 2 per entry
    uint8_t *phases;     // CZK_MSM_DIGITS …, one per entry
    uint32_t capacity;   // entries
    uint32_t used;       // entries written
} czk_msm_trace_t;

// Chooses windows, chunks and the workspace's size for up to count_max scalars a call within budget_bytes of working
// memory (CZK_INVALID if it can't be done). windows == 0 chooses the number of windows too, together == 0 the most that are
// sorted and summed as one.
czk_status_t czk_msm_plan(int32_t group, int32_t keep, uint64_t count_max, uint64_t budget_bytes, uint32_t windows,
                          uint32_t together, czk_msm_plan_t *plan);

// Σ over all terms of scalar · base as parts: Σ 2^exponents[i] · parts[i], i in [0, *part_count), in uncompressed
// big-endian bytes at d_parts (room for CZK_MSM_PARTS points), complete when the stream gets there. The caller sums them
// on the host: about 255 doublings and additions. The plan must not be a keeping one.
czk_status_t czk_msm_run(const czk_msm_plan_t *plan, const czk_msm_term_t *terms, uint32_t term_count, void *d_workspace,
                         const czk_msm_streams_t *streams, const czk_poll_t *poll, czk_msm_trace_t *trace,
                         void *d_parts);

// The same in calls of at most count_max scalars each, for bases that come in pieces: add (first != 0 for the first one)
// as often as wanted, then end. The workspace must be left alone in between.
czk_status_t czk_msm_add(const czk_msm_plan_t *plan, int32_t first, const czk_msm_term_t *terms, uint32_t term_count,
                         void *d_workspace, const czk_msm_streams_t *streams, const czk_poll_t *poll,
                         czk_msm_trace_t *trace);
czk_status_t czk_msm_end(const czk_msm_plan_t *plan, void *d_workspace, const czk_msm_streams_t *streams,
                         const czk_poll_t *poll, czk_msm_trace_t *trace, void *d_parts);

// The exponents of the parts that run and end write, which depend on the plan alone. part_count <= CZK_MSM_PARTS.
czk_status_t czk_msm_exponents(const czk_msm_plan_t *plan, uint32_t *exponents, uint32_t *part_count);

// Indices into a query of the variables whose bit is set: variable j (bit j mod 64 of word j / 64) has the query's point
// number rank(j) = number of density bits before it (d_density NULL: j itself), and is taken if bits & density & ~without
// holds its bit (d_without NULL: nothing is left out). Ascending. d_indices has room for index_max entries; *d_count
// (device) receives how many there are, which may be more than were written.
uint64_t czk_ones_workspace_bytes(uint64_t word_count);
czk_status_t czk_ones_indices(const uint64_t *d_bits, const uint64_t *d_density, const uint64_t *d_without,
                              uint64_t word_count, uint32_t *d_indices, uint64_t index_max, uint32_t *d_count,
                              void *d_workspace, uint64_t workspace_bytes, void *stream);

// Σ bases[d_indices[i]], i in [0, count), (d_indices NULL: bases[i]) as one point in big-endian bytes at d_sum. The
// workspace may be of any size from czk_sum_workspace_bytes(group, 2^16) on; more than _bytes(group, count) is not used.
uint64_t czk_sum_workspace_bytes(int32_t group, uint64_t count);
czk_status_t czk_sum(int32_t group, const void *d_bases, const uint32_t *d_indices, uint64_t count, void *d_workspace,
                     uint64_t workspace_bytes, void *stream, const czk_poll_t *poll, void *d_sum);

// scalar_i · B for i in [0, count) into d_points (affine, device form). d_powers: the 16 points 2^(16 w) · B, w in [0, 16).
uint64_t czk_fixed_base_workspace_bytes(int32_t group);
czk_status_t czk_fixed_base(int32_t group, const void *d_powers, const void *d_scalars, int32_t canonical, uint64_t count,
                            void *d_points, void *d_workspace, uint64_t workspace_bytes, void *stream,
                            const czk_poll_t *poll);

#ifdef __cplusplus
}
#endif
