// For benches alone: `rounds` operations by each of 256 `blocks` threads, a chain per thread. d_data: 256 blocks elements
// of 32 bytes, overwritten.
#pragma once

#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CZK_FR_BENCH_MONTGOMERY = 0,
    CZK_FR_BENCH_TWIDDLE = 1,
    CZK_FR_BENCH_ROWS = 2,
    CZK_FR_BENCH_GENERAL = 3,
    CZK_FR_BENCH_ADD = 4,
    CZK_FR_BENCH_BUTTERFLY_8 = 5 // 12 butterflies, 2 products
};

czk_status_t czk_fr_bench(int32_t kind, void *d_data, uint32_t blocks, uint32_t rounds, void *stream);

#ifdef __cplusplus
}
#endif
