// What a proof needs between the large kernels. d_ pointers are to device memory, aligned to 16 bytes.
#pragma once

#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// out[i] = values[slots[i]] for i in [0, count), elements of 32 bytes: the scalars of the variables that a query has.
czk_status_t czk_gather(void *d_out, const void *d_values, const uint32_t *d_slots, uint64_t count, void *stream);

#ifdef __cplusplus
}
#endif
