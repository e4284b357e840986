// Runtime calls for the Rust side (src/backend/cuda/sys/runtime.rs). Streams and events are cudaStream_t and cudaEvent_t;
// sizes are bytes. A device is current per host thread (czk_device_use).
#pragma once

#include <stddef.h>

#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// What of cudaDeviceProp decides layouts, window sizes and the choice of a device.
typedef struct {
    char name[256];
    uint8_t uuid[16];
    int32_t major, minor;
    int32_t multiprocessors;
    int32_t integrated;
    uint64_t memory_bytes, l2_bytes, shared_bytes_per_block;
} czk_device_t;

czk_status_t czk_driver_version(int32_t *driver, int32_t *runtime);
czk_status_t czk_device_count(int32_t *count);
czk_status_t czk_device_info(int32_t ordinal, czk_device_t *device);
czk_status_t czk_device_use(int32_t ordinal);
czk_status_t czk_device_memory(uint64_t *free_bytes, uint64_t *total_bytes);

czk_status_t czk_device_alloc(uint64_t bytes, void **d_pointer);
czk_status_t czk_device_free(void *d_pointer);
czk_status_t czk_pinned_alloc(uint64_t bytes, void **p_pointer);
czk_status_t czk_pinned_free(void *p_pointer);

// Kinds follow from the pointers (unified addressing). Asynchronous for pinned host memory.
czk_status_t czk_copy(void *to, const void *from, uint64_t bytes, void *stream);
czk_status_t czk_fill(void *d_pointer, int32_t byte, uint64_t bytes, void *stream);

czk_status_t czk_stream_create(void **stream);
czk_status_t czk_stream_destroy(void *stream);
czk_status_t czk_stream_wait(void *stream);
czk_status_t czk_stream_wait_event(void *stream, void *event);

// timing != 0: czk_event_ms works on it. A host that waits for an event sleeps (blocking sync).
czk_status_t czk_event_create(int32_t timing, void **event);
czk_status_t czk_event_destroy(void *event);
czk_status_t czk_event_record(void *event, void *stream);
czk_status_t czk_event_wait(void *event);
czk_status_t czk_event_done(void *event, int32_t *done);
czk_status_t czk_event_ms(void *start, void *stop, float *ms);

#ifdef __cplusplus
}
#endif
