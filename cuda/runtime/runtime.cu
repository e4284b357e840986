// exports/runtime.h: one CUDA runtime call each.
#include "exports/runtime.h"

#include <cstring>

#include "runtime/check.cuh"

namespace {

cudaStream_t stream_of(void *stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(void *event) { return static_cast<cudaEvent_t>(event); }

} // namespace

extern "C" {

czk_status_t czk_driver_version(int32_t *driver, int32_t *runtime) {
    CZK_CUDA(cudaDriverGetVersion(driver));
    CZK_CUDA(cudaRuntimeGetVersion(runtime));
    return czk::ok();
}

czk_status_t czk_device_count(int32_t *count) {
    CZK_CUDA(cudaGetDeviceCount(count));
    return czk::ok();
}

czk_status_t czk_device_info(int32_t ordinal, czk_device_t *device) {
    cudaDeviceProp prop;
    CZK_CUDA(cudaGetDeviceProperties(&prop, ordinal));
    memset(device, 0, sizeof *device);
    static_assert(sizeof prop.name <= sizeof device->name && sizeof prop.uuid == sizeof device->uuid, "copied whole");
    memcpy(device->name, prop.name, sizeof prop.name);
    memcpy(device->uuid, &prop.uuid, sizeof device->uuid);
    device->major = prop.major;
    device->minor = prop.minor;
    device->multiprocessors = prop.multiProcessorCount;
    device->integrated = prop.integrated;
    device->memory_bytes = prop.totalGlobalMem;
    device->l2_bytes = prop.l2CacheSize;
    device->shared_bytes_per_block = prop.sharedMemPerBlockOptin;
    return czk::ok();
}

czk_status_t czk_device_use(int32_t ordinal) {
    CZK_CUDA(cudaSetDevice(ordinal));
    return czk::ok();
}

czk_status_t czk_device_memory(uint64_t *free_bytes, uint64_t *total_bytes) {
    size_t free = 0, total = 0;
    CZK_CUDA(cudaMemGetInfo(&free, &total));
    *free_bytes = free;
    *total_bytes = total;
    return czk::ok();
}

czk_status_t czk_device_alloc(uint64_t bytes, void **d_pointer) {
    CZK_CUDA(cudaMalloc(d_pointer, bytes));
    return czk::ok();
}

czk_status_t czk_device_free(void *d_pointer) {
    CZK_CUDA(cudaFree(d_pointer));
    return czk::ok();
}

czk_status_t czk_pinned_alloc(uint64_t bytes, void **p_pointer) {
    CZK_CUDA(cudaHostAlloc(p_pointer, bytes, cudaHostAllocPortable));
    return czk::ok();
}

czk_status_t czk_pinned_free(void *p_pointer) {
    CZK_CUDA(cudaFreeHost(p_pointer));
    return czk::ok();
}

czk_status_t czk_copy(void *to, const void *from, uint64_t bytes, void *stream) {
    CZK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(stream)));
    return czk::ok();
}

czk_status_t czk_fill(void *d_pointer, int32_t byte, uint64_t bytes, void *stream) {
    CZK_CUDA(cudaMemsetAsync(d_pointer, byte, bytes, stream_of(stream)));
    return czk::ok();
}

czk_status_t czk_stream_create(void **stream) {
    // Non-blocking: no implicit order with the default stream, which another library in the process may use.
    CZK_CUDA(cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t *>(stream), cudaStreamNonBlocking));
    return czk::ok();
}

czk_status_t czk_stream_destroy(void *stream) {
    CZK_CUDA(cudaStreamDestroy(stream_of(stream)));
    return czk::ok();
}

czk_status_t czk_stream_wait(void *stream) {
    CZK_CUDA(cudaStreamSynchronize(stream_of(stream)));
    return czk::ok();
}

czk_status_t czk_stream_wait_event(void *stream, void *event) {
    CZK_CUDA(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0));
    return czk::ok();
}

czk_status_t czk_event_create(int32_t timing, void **event) {
    unsigned flags = cudaEventBlockingSync | (timing ? 0u : unsigned(cudaEventDisableTiming));
    CZK_CUDA(cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t *>(event), flags));
    return czk::ok();
}

czk_status_t czk_event_destroy(void *event) {
    CZK_CUDA(cudaEventDestroy(event_of(event)));
    return czk::ok();
}

czk_status_t czk_event_record(void *event, void *stream) {
    CZK_CUDA(cudaEventRecord(event_of(event), stream_of(stream)));
    return czk::ok();
}

czk_status_t czk_event_wait(void *event) {
    CZK_CUDA(cudaEventSynchronize(event_of(event)));
    return czk::ok();
}

czk_status_t czk_event_done(void *event, int32_t *done) {
    cudaError_t state = cudaEventQuery(event_of(event));
    *done = state == cudaSuccess;
    if (state == cudaErrorNotReady) return czk::ok();
    CZK_CUDA(state);
    return czk::ok();
}

czk_status_t czk_event_ms(void *start, void *stop, float *ms) {
    CZK_CUDA(cudaEventElapsedTime(ms, event_of(start), event_of(stop)));
    return czk::ok();
}

} // extern "C"
