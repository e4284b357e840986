// Test and bench kernels of the field and the curves, in builds for tests alone. Arrays are device memory; words as in
// cuda/testing/*_ops.cuh.
#pragma once

#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// r[i] = op(a[i], b[i], c[i]) for i < count, twelve words each.
czk_status_t czk_test_fp(int32_t op, uint32_t *d_r, const uint32_t *d_a, const uint32_t *d_b, const uint32_t *d_c,
                         uint64_t count, void *stream);
// The same for Fp2, 24 words each.
czk_status_t czk_test_fp2(int32_t op, uint32_t *d_r, const uint32_t *d_a, const uint32_t *d_b, uint64_t count,
                          void *stream);
// r[i] = op(p[i], q[i]), with z[i] to scale; group 1: 24 words a point and 12 for z, group 2: twice that.
czk_status_t czk_test_curve(int32_t group, int32_t op, uint32_t *d_r, const uint32_t *d_p, const uint32_t *d_q,
                            const uint32_t *d_z, uint64_t count, void *stream);
// r[i] = p[i] + q[i], every thread `per_thread` pairs with one inversion. scratch: one field element a pair.
czk_status_t czk_test_batch(int32_t group, uint32_t *d_r, const uint32_t *d_p, const uint32_t *d_q, uint64_t count,
                            uint64_t per_thread, void *d_scratch, void *stream);

// A kernel that ends with a trap, and one that runs until *p_stop (pinned) isn't zero.
czk_status_t czk_test_trap(void *stream);
czk_status_t czk_test_spin(const int32_t *p_stop, void *stream);

// xyzz[i] = p[i] in the device's XYZZ form, scaled by z[i].
czk_status_t czk_test_xyzz(int32_t group, void *d_xyzz, const uint32_t *d_p, const uint32_t *d_z, uint64_t count,
                           void *stream);

// Runs bench `which` with `iterations` dependent operations in every thread of as many blocks as fit the device at once,
// and returns how many threads that were. d_words: 48 words or more a thread, read at the start and written at the end.
// which: see bench_t in testing/fp_bench.cu. min_blocks: blocks of 128 threads that the registers must leave room for; 1,
// and for some benches others.
czk_status_t czk_bench_field(int32_t which, int32_t min_blocks, int32_t iterations, uint32_t *d_words, uint64_t words,
                             uint64_t *threads, int32_t *registers, void *stream);

#ifdef __cplusplus
}
#endif
